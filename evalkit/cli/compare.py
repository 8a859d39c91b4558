"""``evalkit compare``: what changed between runs of one set."""

import click

from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--ledger", metavar="DIR", help="The decision ledger (default: TOOLGATE_LEDGER, else yours)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(runs: tuple[str, ...], ledger: str | None, as_json: bool) -> None:
    """Compare sealed runs of one set with the first of them.

    RUN is a run's id in the ledger, or the JSON file of a report. Gained and
    lost cases are listed; the exact McNemar test says whether the change can be
    told from chance.
    """
    import json

    from evalkit.challenge.compare import comparison
    from evalkit.challenge.past import load_run
    from evalkit.report.render import markdown

    root = ledger_root(ledger)
    made = comparison([load_run(name, root) for name in runs])
    if as_json:
        emit(json.dumps(made, ensure_ascii=False))
        return
    emit(markdown(made, "compare.md.j2").rstrip("\n"))
