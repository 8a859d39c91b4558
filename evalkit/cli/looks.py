"""``evalkit list`` and ``evalkit status``: which runs a ledger knows, and how far one is."""

import json
import sys
from typing import Any

import click

from evalkit.cli.options import HEADS, LEDGER
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root, ledger_that_is_there


@click.command(name="list")
@click.option("--set", "of_set", metavar="SET", help="Only runs of this set: its label or digest.")
@HEADS
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a run.")
def list_runs(of_set: str | None, reports: str, ledger: str | None, as_json: bool) -> None:
    """List the runs this ledger knows, oldest first; every one was a look.

    A ledger that contradicts a head of it kept beside the reports ends the command with
    exit code 1, after the list: looks are missing from it.
    """
    from evalkit.challenge.anchor import faults_of, read_anchors
    from evalkit.challenge.status import runs_of

    root = ledger_root(ledger)
    faults = faults_of(root, read_anchors(reports))
    if not faults:  # what says more than that it is not there
        root = ledger_that_is_there(ledger)
    _print_runs(runs_of(root, of_set), of_set, as_json)
    for fault in faults:
        print(f"evalkit: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


def _print_runs(rows: list[dict[str, Any]], of_set: str | None, as_json: bool) -> None:
    if as_json:
        for row in rows:
            emit(json.dumps(row, ensure_ascii=False))
        return
    if not rows:
        emit("no runs" if of_set is None else f"no runs of {of_set}")
        return
    emit("\n".join(map(_line, rows)))


@click.command()
@click.argument("run", metavar="RUN")
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(run: str, ledger: str | None, as_json: bool) -> None:
    """Say how far a run is; before it is sealed, nothing of how it does."""
    from evalkit.challenge.status import status_of

    row = status_of(ledger_that_is_there(ledger), run)
    if as_json:
        emit(json.dumps(row, ensure_ascii=False))
        return
    emit(_line(row))
    emit(f"  {row['finished']} of {row['cases']} cases finished")
    doubt = row["in_doubt"]
    if doubt:
        shown = ", ".join(doubt[:5]) + (f" and {len(doubt) - 5} more" if len(doubt) > 5 else "")
        emit(f"  in doubt, will be shown again: {shown}")
    if row["report"]:
        emit(f"  report {row['report']}")
    if row["next"]:
        emit(f"  continue it: {row['next']}")


def _line(row: dict[str, Any]) -> str:
    did = row["state"] if row["match"] is None else f"{row['match']}/{row['cases']} match"
    pinned = "" if row["pinned"] else ", not pinned"
    return (
        f"{row['run']}  {row['claimed']}  {row['set']}  build {row['build'][7:19]}  "
        f"policy {row['policy'][7:19]}  look {row['look']}, {row['look_name']}{pinned}  {did}"
    )
