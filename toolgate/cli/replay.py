"""``toolgate replay``: decide recorded decisions again and compare the bytes."""

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, shown, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.replay import Replayed

_DIFFERS, _INCOMPLETE = 1, 4
_MOST_SHOWN = 200
_STEP = 64
_COUNTS = (
    ("same", "SAME"),
    ("same_except_build", "SAME EXCEPT BUILD"),
    ("different", "DIFFERENT"),
    ("not_replayable", "NOT REPLAYABLE"),
)


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--decision", metavar="DIGEST", help="Only this decision (8 hex digits or more).")
@click.option("--vault", type=click.Path(), metavar="DIR", help="The vault; <ledger>.vault else.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def replay(path: str | None, decision: str | None, vault: str | None, as_json: bool) -> None:
    """Decide recorded decisions again, from ledger, vault and policy.

    A decision is SAME if this build's gate makes the same bytes of it, SAME EXCEPT BUILD if
    another build recorded it and all else is the same. One that cannot be replayed counts as
    nothing else.

    Exit codes: 0 every decision is the same, 1 one differs, 2 wrong usage, 3 could not check,
    4 some could not be replayed, 130 interrupted.
    """
    from toolgate.errors import CheckError

    root = root_of(path)
    try:
        done = _replayed(root, decision, vault)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; nothing was changed", INTERRUPTED)
    if decision is not None and not done:
        stop(f"the ledger at {shown(root)} holds no decision {decision!r}", UNCHECKED)
    counts = Counter(item.result for item in done)
    if as_json:
        report = {
            "counts": {name: counts[name] for name, _ in _COUNTS},
            "decisions": [item._asdict() for item in done if item.result != "same"],
        }
        click.echo(json.dumps(report, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(_sheet(done, counts)))
    if counts["different"]:
        sys.exit(_DIFFERS)
    sys.exit(_INCOMPLETE if counts["not_replayable"] else 0)


def _replayed(root: str, wanted: str | None, vault: str | None) -> "list[Replayed]":
    from toolgate.canonical import warm
    from toolgate.replay import Replay, decisions, is_named
    from toolgate.verify.place import open_ledger

    warm()
    directory = open_ledger(root)
    again = Replay(directory, vault)
    done: list[Replayed] = []
    with Progress("deciding again: {:,} decisions") as progress:
        for made in decisions(directory):
            if wanted is None or is_named(made, wanted):
                done.append(again.decide(made))
                if not len(done) % _STEP:
                    progress(len(done))
    return done


def _sheet(done: "list[Replayed]", counts: Counter[str]) -> list[str]:
    different = [item for item in done if item.result == "different"]
    lines = [_difference(item) for item in different[:_MOST_SHOWN]]
    if counts["different"] > _MOST_SHOWN:
        lines.append(f"and {counts['different'] - _MOST_SHOWN} more (--json has all)")
    lines += [f"{words:<18}{counts[name]:>8}" for name, words in _COUNTS]
    reasons = Counter(item.reason for item in done if item.reason)
    lines += [f"  {count:>6}  {reason}" for reason, count in sorted(reasons.items())]
    return lines


def _difference(item: "Replayed") -> str:
    which = f"{item.entry[:19]} {item.tool} call {item.call}, session {item.session}"
    return plain(f"DIFFERENT {which}: {item.field} was {item.recorded}, is now {item.now}")
