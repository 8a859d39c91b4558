"""``toolgate ledger verify``: the verdict on a ledger, for people and programs."""

import json
import sys
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.verify import Report
    from toolgate.verify.anchors import Anchors
    from toolgate.verify.system import SystemReport

_BAD, _INCOMPLETE = 1, 4


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@click.option(
    "--spans",
    "traces",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="A trace of the same sessions: OTLP/JSON, a Claude Code transcript or a Codex rollout. "
    "Repeatable.",
)
@click.option(
    "--expect-head",
    metavar="SEQ:DIGEST",
    help="A ledger head kept elsewhere; the ledger must still hold it.",
)
@click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="A checkpoint kept elsewhere; the ledger must still hold it. Repeatable.",
)
@click.option(
    "--checkpoint-key",
    metavar="KEY",
    help="The key of the ledger's log, known from elsewhere.",
)
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    metavar="KEY",
    help="A witness whose signature each --checkpoint must carry. Repeatable.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="DIGEST_OR_KEY",
    help="A policy digest or public key trusted to say who writes policies. Repeatable.",
)
@click.option(
    "--system", is_flag=True, help="Verify several ledgers as one: agents that start agents."
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="How many processes read the sessions; as many as there are processors for a ledger "
    "of 16 MiB and more, else 1.",
)
@click.option("--require-pin", is_flag=True, help="Exit 1 unless the verdict is PASS.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(
    paths: tuple[str, ...],
    traces: tuple[str, ...],
    expect_head: str | None,
    checkpoints: tuple[str, ...],
    checkpoint_key: str | None,
    witnesses: tuple[str, ...],
    roots: tuple[str, ...],
    system: bool,
    processes: int | None,
    require_pin: bool,
    as_json: bool,
) -> None:
    """Verify a ledger in three layers: entries, log, execution.

    Exit codes: 0 PASS or CONDITIONAL (with --require-pin only PASS, CONDITIONAL is 1),
    1 FAIL, 2 wrong usage, 3 could not check, 4 INCOMPLETE, 130 interrupted.
    """
    from toolgate.errors import CheckError

    pin, trusted = _pin(expect_head), _roots(roots)
    if system and (traces or pin or not paths):
        raise click.UsageError("--system takes ledgers, and neither --spans nor --expect-head")
    if len(paths) > 1 and not system:
        raise click.UsageError("several ledgers are verified with --system")
    root = root_of(paths[0] if paths else None)
    try:
        anchors = _anchors(checkpoints, checkpoint_key, witnesses)
        report = (
            _verify_system(paths, anchors, trusted)
            if system
            else _verify(root, traces, pin, anchors, trusted, processes)
        )
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; nothing was changed", INTERRUPTED)
    if as_json:
        click.echo(json.dumps(report.as_json(), ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(_lines(report, root)))
    sys.exit(_exit_code(report.verdict, require_pin))


def _pin(text: str | None) -> tuple[int, str] | None:
    """Read SEQ:DIGEST; the digest may come with or without its prefix."""
    from toolgate.records import is_digest

    if text is None:
        return None
    seq, _, digest = text.partition(":")
    digest = digest if digest.startswith("sha256:") else "sha256:" + digest
    number = int(seq) if seq.isascii() and seq.isdecimal() and len(seq) < 17 else 0
    if number < 1 or not is_digest(digest):
        raise click.BadParameter(
            f"expected SEQ:sha256:<64 hex digits> with SEQ from 1, got {text!r}",
            param_hint="--expect-head",
        )
    return number, digest


def _anchors(
    checkpoints: tuple[str, ...], key: str | None, witnesses: tuple[str, ...]
) -> "Anchors":
    """Read what was kept outside.

    Raises:
        LedgerError: a checkpoint cannot be read, or is none.
    """
    from toolgate.cli.ledger.keys import verifier_key
    from toolgate.ledger.notes import COSIGNATURE, ED25519
    from toolgate.verify.anchors import Anchors, read_held

    if witnesses and not checkpoints:
        raise click.UsageError("--witness says who signed a --checkpoint; none is given")
    return Anchors(
        key=None if key is None else verifier_key(key, "--checkpoint-key", ED25519),
        witnesses=tuple(verifier_key(one, "--witness", COSIGNATURE) for one in witnesses),
        held=tuple(read_held(path) for path in checkpoints),
    )


def _roots(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Read what is trusted: policy digests, with or without prefix, and public keys."""
    from toolgate.records import is_digest
    from toolgate.signing import is_key

    roots = [text if ":" in text else "sha256:" + text for text in texts]
    for text, root in zip(texts, roots, strict=True):
        if not is_digest(root) and not is_key(root):
            raise click.BadParameter(
                "expected sha256: or ed25519: and 64 lower-case hex digits, "
                f"got {plain(text)[:80]!r}",
                param_hint="--root",
            )
    return tuple(roots)


def _verify(
    root: str,
    traces: tuple[str, ...],
    pin: tuple[int, str] | None,
    anchors: "Anchors",
    roots: tuple[str, ...],
    processes: int | None,
) -> "Report":
    from toolgate.verify import verify as run
    from toolgate.verify.traces.load import load_trace

    trace = load_trace(traces) if traces else None
    with Progress("verifying: {:,} entries read") as progress:
        return run(
            root,
            spans=trace,
            expect_head=pin,
            anchors=anchors,
            roots=roots,
            progress=progress,
            processes=processes,
        )


def _verify_system(
    paths: tuple[str, ...], anchors: "Anchors", roots: tuple[str, ...]
) -> "SystemReport":
    from toolgate.verify.system import verify_system

    with Progress("verifying: {:,} entries read") as progress:
        return verify_system(paths, anchors=anchors, trusted=roots, progress=progress)


def _lines(report: "Report | SystemReport", root: str) -> list[str]:
    from toolgate.cli.ledger import sheet, system
    from toolgate.verify.system import SystemReport

    if isinstance(report, SystemReport):
        return system.sheet(report)
    return sheet.sheet(report, root)


def _exit_code(verdict: str, require_pin: bool) -> int:
    if verdict == "FAIL":
        return _BAD
    if verdict == "INCOMPLETE":
        return _INCOMPLETE
    return _BAD if require_pin and verdict != "PASS" else 0
