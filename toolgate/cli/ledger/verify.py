"""``toolgate ledger verify``: the verdict on a ledger, for people and programs."""

import json
import sys
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.verify import Finding, Report
    from toolgate.verify.anchors import Anchors
    from toolgate.verify.system import SystemReport

_BAD, _INCOMPLETE = 1, 4
_STATES = ("allowed", "asked", "denied")
_ENDS = ("ok", "error", "timeout", "cancelled", "refused", "unresolved", "none")
_MOST_SHOWN = 200


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@click.option(
    "--spans",
    "traces",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="A trace of the same sessions: OTLP/JSON or a Claude Code transcript. Repeatable.",
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

    pin = _pin(expect_head)
    if system and (traces or pin or not paths):
        raise click.UsageError("--system takes ledgers, and neither --spans nor --expect-head")
    if len(paths) > 1 and not system:
        raise click.UsageError("several ledgers are verified with --system")
    root = root_of(paths[0] if paths else None)
    try:
        anchors = _anchors(checkpoints, checkpoint_key, witnesses)
        if system:
            report: Report | SystemReport = _verify_system(paths, anchors)
        else:
            report = _verify(root, traces, pin, anchors, processes)
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


def _verify(
    root: str,
    traces: tuple[str, ...],
    pin: tuple[int, str] | None,
    anchors: "Anchors",
    processes: int | None,
) -> "Report":
    from toolgate.verify import verify as run
    from toolgate.verify.traces.load import load_spans

    spans = load_spans(traces) if traces else None
    with Progress("verifying") as progress:
        return run(
            root,
            spans=spans,
            expect_head=pin,
            anchors=anchors,
            progress=progress,
            processes=processes,
        )


def _verify_system(paths: tuple[str, ...], anchors: "Anchors") -> "SystemReport":
    from toolgate.verify.system import verify_system

    with Progress("verifying") as progress:
        return verify_system(paths, anchors=anchors, progress=progress)


def _lines(report: "Report | SystemReport", root: str) -> list[str]:
    from toolgate.cli.ledger.system import sheet
    from toolgate.verify.system import SystemReport

    return sheet(report) if isinstance(report, SystemReport) else _sheet(report, root)


def _sheet(report: "Report", root: str) -> list[str]:
    """Return the report on the ledger at ``root`` for people."""
    from toolgate.views.phrases import LAYERS

    lines = ["Layers"]
    lines += [f"  {layer:<10} {said}" for layer, said in LAYERS.items()]
    lines.append("Checked")
    lines += [f"  {item}" for item in report.checked]
    if report.unchecked:
        lines.append("Not checked")
        lines += [f"  {item}" for item in report.unchecked]
        lines += _of_runs(report.runs, root)
    lines += ["", *_table(report), *_remarks(report)]
    if report.asks:
        lines += ["", f"Asked and not executed: {len(report.asks)} (for information)"]
        lines += [
            plain(f"  {ask.entry[:19]}  {ask.tool} call {ask.call}, session {ask.session}")
            for ask in report.asks[:_MOST_SHOWN]
        ]
        lines += _more(len(report.asks))
    lines += ["", *_findings(report.findings)]
    seq, digest = report.head
    lines += ["", f"Head     {seq}:{digest}", f"Verdict  {report.verdict}", *_meaning(report)]
    return lines


def _of_runs(runs: list[str], root: str) -> list[str]:
    """Return the commands that verify the ledgers of runs."""
    from os.path import join
    from shlex import quote

    paths = [quote(join(root, "runs", run)) for run in runs[:_MOST_SHOWN]]
    return [plain(f"    toolgate ledger verify {path}") for path in paths] + _more(len(runs))


def _findings(findings: "list[Finding]") -> list[str]:
    from toolgate.cli.ledger.next import next_step
    from toolgate.verify.findings import BY_CODE

    primary = sum(item.cause is None for item in findings)
    if not findings:
        return ["Findings: none"]
    following = len(findings) - primary
    follow = "follows" if following == 1 else "follow"
    lines = [f"Findings: {primary}" + (f", and {following} that {follow}" if following else "")]
    for item in findings[:_MOST_SHOWN]:
        indent = "  " if item.cause is None else "      follows: "
        lines.append(f"{indent}{item.code}  {item.entry[:71]}")
        lines.append(f"{' ' * len(indent)}  {item.message}")
        if item.cause is None:
            lines.append(f"    means: {BY_CODE[item.code].meaning}")
            lines.append(f"    next:  {next_step(item.code)}.")
    return lines + _more(len(findings))


def _more(count: int) -> list[str]:
    return [f"  and {count - _MOST_SHOWN} more (--json has all)"] if count > _MOST_SHOWN else []


def _table(report: "Report") -> list[str]:
    """Return decisions by how their calls ended."""
    ends = [end for end in _ENDS if any(report.calls.get((state, end)) for state in _STATES)]
    heads = ["no outcome" if end == "none" else end for end in ends]
    lines = [f"{'decided':<10}" + "".join(f"{head:>12}" for head in [*heads, "calls"])]
    for state in _STATES:
        counts = [report.calls.get((state, end), 0) for end in ends]
        lines.append(f"{state:<10}" + "".join(f"{n:>12}" for n in counts) + f"{sum(counts):>12}")
    if "none" in ends:
        lines.append(
            "no outcome: nothing was reported on the call. So it is for a denied call, an ask "
            "nobody\napproved and a run that executes nothing; for an allowed call it is open or "
            "a finding."
        )
    return lines


def _remarks(report: "Report") -> list[str]:
    """Return what the table does not show, one sentence each."""
    from toolgate.verify.words import counted

    lines: list[str] = []
    if report.replaced:
        were = "was" if report.replaced == 1 else "were"
        replaced = counted(report.replaced, "decision")
        lines.append(f"{replaced} {were} replaced by a later one on the same call.")
    if report.args_differ:
        ran = counted(report.args_differ, "call")
        lines.append(f"{ran} ran with other arguments than were decided.")
    if report.recovered:
        were = "was" if report.recovered == 1 else "were"
        lines.append(f"{counted(report.recovered, 'torn end')} {were} sealed by a recovery entry.")
    return lines


def _meaning(report: "Report") -> list[str]:
    from textwrap import wrap

    from toolgate.cli.ledger.next import WORTH
    from toolgate.verify.findings import CONDITIONAL, MEANING

    lines = [f"  {MEANING[report.verdict]}"]
    if report.verdict == CONDITIONAL:
        lines += [f"    {item}" for item in report.conditions]
    return lines + wrap(WORTH[report.verdict], 88, initial_indent="  ", subsequent_indent="  ")


def _exit_code(verdict: str, require_pin: bool) -> int:
    if verdict == "FAIL":
        return _BAD
    if verdict == "INCOMPLETE":
        return _INCOMPLETE
    return _BAD if require_pin and verdict != "PASS" else 0
