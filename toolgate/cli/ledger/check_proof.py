"""``toolgate ledger check-proof``: what a proof shows, without any ledger."""

import json
import sys

import click

from toolgate.cli.ledger.keys import verifier_key
from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, stop

_NOT_PROVED = 1


@click.command(name="check-proof")
@click.argument("proof", type=click.Path())
@click.option(
    "--key",
    "keys",
    required=True,
    multiple=True,
    metavar="KEY",
    help="The log's key, as `checkpoint --out` printed it. Repeatable: one of them has signed.",
)
@click.option(
    "--checkpoint",
    type=click.Path(),
    metavar="FILE",
    help="A checkpoint that was kept: an entry's proof must lead to it, a log's begin with it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check_proof(proof: str, keys: tuple[str, ...], checkpoint: str | None, as_json: bool) -> None:
    """Check a proof that `toolgate ledger prove` made. No ledger is needed.

    Exit codes: 0 proved, 1 not proved, 2 wrong usage, 3 could not check, 130 interrupted.
    """
    from toolgate.errors import CheckError, EvidenceError
    from toolgate.ledger.notes import ED25519
    from toolgate.verify.anchors import read_held, read_small
    from toolgate.verify.proof import MAX_PROOF_BYTES, NOT_PROVED, check

    trusted = [verifier_key(key, "--key", ED25519) for key in keys]
    why: str | None = None
    try:
        held = None if checkpoint is None else read_held(checkpoint)
        shown = check(read_small(proof, MAX_PROOF_BYTES), trusted, held)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except EvidenceError as error:
        why = str(error)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    if why is not None:
        body: dict[str, object] = {"verdict": "NOT PROVED", "why": why}
        lines = ["Verdict  NOT PROVED", f"  {why}"]
    else:
        body = {"verdict": "PROVED", **shown._asdict(), "not_proved": list(NOT_PROVED)}
        lines = ["Proved", *[f"  {item}" for item in shown.proved]]
        lines += ["Not proved", *[f"  {item}" for item in NOT_PROVED], "Verdict  PROVED"]
    if as_json:
        click.echo(json.dumps(body, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(plain(line) for line in lines))
    sys.exit(0 if why is None else _NOT_PROVED)
