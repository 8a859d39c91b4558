"""``evalkit set reveal``, ``check-reveal`` and ``quarantine``: one case of a frozen set."""

import json

import click

from evalkit.cli.options import LEDGER
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root


@click.command()
@click.argument("file", metavar="FILE")
@click.argument("case", metavar="CASE")
def reveal(file: str, case: str) -> None:
    """Print one case of a frozen set with the proof that it belongs to it.

    Whoever has the set's manifest, or only its root, checks it with
    `evalkit set check-reveal`; the other cases stay closed.
    """
    from evalkit.challenge.find import find_set
    from evalkit.challenge.freeze import load_frozen
    from evalkit.challenge.reveal import reveal as revealed

    frozen = load_frozen(find_set(file))
    emit(json.dumps(revealed(frozen.set, frozen.manifest, case), ensure_ascii=False))


@click.command(name="check-reveal")
@click.argument("file", metavar="FILE")
@click.option("--root", required=True, metavar="DIGEST", help="merkle_root of the set's manifest.")
def check_reveal(file: str, root: str) -> None:
    """Check that a revealed case is in the set with this root (exit 1 when it is not)."""
    from evalkit.challenge.read import read_bytes
    from evalkit.challenge.reveal import check_reveal as check
    from evalkit.errors import UsageError
    from toolgate.canonical import parse
    from toolgate.errors import CanonicalizationError

    try:
        body = parse(read_bytes(file, "revealed case"))
    except CanonicalizationError as error:
        raise UsageError(f"{file}: expected a revealed case, got {error}") from None
    case = check(body, root)
    emit(f"case {case.get('id')} is in the set with root {root}")


@click.command()
@click.argument("file", metavar="FILE")
@click.argument("case", metavar="CASE")
@click.option("--by", required=True, metavar="NAME", help="Who holds the label wrong.")
@click.option("--second", required=True, metavar="NAME", help="Who agrees; another person.")
@click.option("--seen", required=True, metavar="LEVEL", help="What they had seen of any answers.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; printed in every report.")
@LEDGER
def quarantine(
    file: str, case: str, by: str, second: str, seen: str, reason: str, ledger: str | None
) -> None:
    """Record that a case of a frozen set is held to be labeled wrong.

    The set does not change. Reports print every figure as frozen first, then
    the match without the quarantined cases, and name the misses that leaving
    them out removes. LEVEL is "nothing run", "no results seen", "results not
    opened" or "results seen".
    """
    from evalkit.challenge.find import find_set
    from evalkit.challenge.freeze import load_frozen
    from evalkit.challenge.quarantine import ACTION, Quarantine, checked, read_quarantines
    from evalkit.challenge.sealing import now
    from evalkit.gates.inprocess import HOST
    from toolgate.ledger.append import Ledger

    root = ledger_root(ledger)
    frozen = load_frozen(find_set(file))
    asked = Quarantine(case, frozen.digest, by, second, seen, reason)
    made = checked(asked, frozen.set, read_quarantines(root, frozen.digest))
    details = {name: value for name, value in made._asdict().items() if name != "ts"}
    Ledger(root, durability="fsync", host=HOST).audit(
        action=ACTION, actor=HOST, target=f"{frozen.label}/{case}", details=details, ts=now()
    )
    emit(f"{frozen.path}: case {case} quarantined; later reports say so")
