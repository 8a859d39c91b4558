"""``evalkit set from-ledger``: real calls of a ledger become a draft that a person labels."""

import json

import click

from evalkit.cli.options import LEDGER
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root


@click.command(name="from-ledger")
@click.argument("out", metavar="FILE")
@click.option("--n", type=click.IntRange(1, 10_000), required=True, help="How many calls to draw.")
@click.option("--name", required=True, metavar="TEXT", help="What the set is called.")
@click.option("--author", required=True, metavar="TEXT", help="Who labels, and what they saw.")
@click.option("--seed-file", metavar="FILE", help="64 hex digits; a new seed else.")
@click.option("--vault", metavar="DIR", help="The vault; <ledger>.vault else.")
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def from_ledger(
    *,
    out: str,
    n: int,
    name: str,
    author: str,
    seed_file: str | None,
    vault: str | None,
    ledger: str | None,
    as_json: bool,
) -> None:
    """Draw real calls of a ledger into a draft, blind: without what the gate answered.

    The ledger keeps digests; the calls themselves come from its vault (the hook
    keeps one with TOOLGATE_VAULT=on). Without it nothing is drawn (exit 3).
    Secrets are taken out, and the machine's working and home directories become
    those of the set. Each different call is drawn once, by its rank under the
    seed, which goes into the ledger (set.drawn) before FILE is written. Every
    case has `"expected": null`, to be filled in by a person; then
    `evalkit set lint FILE` and `freeze`.
    """
    from evalkit.challenge.sealing import now
    from evalkit.readers.drawing import Request, draw_into

    done = draw_into(
        Request(
            out=out, n=n, name=name, author=author, seed_file=seed_file, vault=vault,
            root=ledger_root(ledger),
        ),
        now(),
    )  # fmt: skip
    if as_json:
        emit(json.dumps({"set": out, **done}))
        return
    emit(f"{out}: {done['cases']} of {done['different']} different calls drawn, none labeled")
    for reason, number in done["passed_over"].items():
        emit(f"  {number} passed over: {reason}")
    emit(f"  ledger entry {done['entry']}")
    emit("  earlier calls of a session are not in it; redaction knows only known shapes: read it")
    emit(f"  label it, write its policy, then: evalkit set lint {out}")
