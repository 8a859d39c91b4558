"""``evalkit compare``: what changed between runs of one set."""

import click

from evalkit.cli.options import LEDGER
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root, ledger_that_is_there


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(runs: tuple[str, ...], ledger: str | None, as_json: bool) -> None:
    """Compare sealed runs of one set with the first of them, or gates on several sets.

    RUN is a run's id in the ledger, or the JSON file of a report. Gained and
    lost cases are listed; the exact McNemar test says whether the change can be
    told from chance. Runs of several sets, at least two of each, are compared
    set by set, with a table of the gates side by side; the first run of a set is
    what its others are compared with.
    """
    import json

    from evalkit.challenge.compare import comparison
    from evalkit.challenge.past import load_run
    from evalkit.challenge.rundir import is_run
    from evalkit.challenge.side_by_side import side_by_side
    from evalkit.report.render import markdown

    root = (ledger_that_is_there if any(map(is_run, runs)) else ledger_root)(ledger)
    past = [load_run(name, root) for name in runs]
    several = len({run.set_digest for run in past}) > 1
    made = side_by_side(past) if several else comparison(past)
    if as_json:
        emit(json.dumps(made, ensure_ascii=False))
        return
    parts = [markdown(made, "side_by_side.md.j2")] if several else []
    parts += [markdown(one, "compare.md.j2") for one in (made["sets"] if several else [made])]
    emit("\n".join(part.rstrip("\n") + "\n" for part in parts).rstrip("\n"))
