"""``evalkit verify``: hold a ledger and its runs to all that binds them."""

import json
import sys
from typing import NoReturn

import click

from evalkit.cli.options import HEADS, LEDGER
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root

_EXIT = {"FAIL": 1, "INCOMPLETE": 4}


@click.command()
@LEDGER
@HEADS
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(ledger: str | None, reports: str, as_json: bool) -> NoReturn:
    """Verify a ledger, each of its runs, and the heads kept beside the reports.

    Exit codes: 0 PASS or CONDITIONAL; 1 FAIL: something was changed, cut off, replaced or
    deleted; 4 INCOMPLETE: a run is not sealed, or a turn is open.
    """
    from evalkit.challenge.check import check

    found = check(ledger_root(ledger), reports)
    if as_json:
        emit(json.dumps(found, ensure_ascii=False))
    else:
        whole = found["ledger"]
        lines = [f"ledger  {whole['verdict']}", *_indented(whole["faults"])]
        lines += [f"  it holds the head that {name} names" for name in found["anchors"]]
        if not found["anchors"] and whole["verdict"] != "FAIL":
            lines.append("  no head of it is kept beside the reports: nothing shows a cut end")
        for row in found["runs"]:
            lines += [f"{row['run']}  {row['verdict']}", *_indented(row["faults"])]
        lines += [f"{name} is about another ledger" for name in found["elsewhere"]]
        emit("\n".join([*lines, found["verdict"]]))
    sys.exit(_EXIT.get(found["verdict"], 0))


def _indented(texts: list[str]) -> list[str]:
    return [f"  {text}" for text in texts]
