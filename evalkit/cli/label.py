"""``evalkit label``: draw blind labeling forms from a closed window."""

import json
import os
import sys
import time

import click

from evalkit.cli.options import LEDGER
from evalkit.cli.place import ledger_root


@click.group(name="label")
def label() -> None:
    """Draw blind labeling forms from a closed window."""


@label.command()
@click.argument("window_id", metavar="ID")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv"]),
    default="csv",
    show_default=True,
    help="The form's format.",
)
@click.option(
    "--inputs", metavar="FILE", help="JSON Lines with tool_input: the ledger keeps no content."
)
@click.option("--n", type=click.IntRange(min=1), help="Calls a stratum, if not declared.")
@click.option("--seed-file", metavar="FILE", help="The seed the declaration committed to.")
@click.option("--out", metavar="FILE", help="The form (default: windows/ID.labels.csv).")
@click.option("--key", metavar="FILE", help="The key (default: windows/keys/ID.key.json).")
@LEDGER
@click.option(
    "--windows", default="windows", show_default=True, metavar="DIR", help="Where copies are kept."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def export(
    *,
    window_id: str,
    form: str,
    inputs: str | None,
    n: int | None,
    seed_file: str | None,
    out: str | None,
    key: str | None,
    ledger: str | None,
    windows: str,
    as_json: bool,
) -> None:
    """Draw a sample and write a form without decision, rule, order or real ids.

    The key (id to decision) is written apart, and its digest is chained
    before the form exists; both are readable by you only. A window is drawn
    from once, and a draw of nothing is refused (exit 3). Format: evalkit/spec/labels.md.
    """
    from evalkit.labels.export import Request
    from evalkit.labels.export import export as export_labels
    from evalkit.windows.folder import checked_id
    from evalkit.windows.waiting import waiting

    checked_id(window_id)
    request = Request(
        window=window_id,
        root=ledger_root(ledger),
        folder=windows,
        inputs=inputs,
        out=out or os.path.join(windows, f"{window_id}.labels.{form}"),
        key=key or os.path.join(windows, "keys", f"{window_id}.key.json"),
        n=n,
        seed_file=seed_file,
    )
    with waiting(f"drawing from window {window_id}"):
        done = export_labels(request, time.time_ns() // 1000)
    if done.grade == "VOID":
        print(
            f"evalkit: warning: window {done.window} was graded VOID: its ledger does not verify, "
            "so labels of its calls are no evidence either",
            file=sys.stderr,
        )
    if as_json:
        body = {**done._asdict(), "out": request.out, "key": request.key}
        print(json.dumps(body, ensure_ascii=False))
        return
    print(f"window {done.window}: {sum(done.drawn.values())} calls drawn")
    for stratum, available in done.available.items():
        print(f"  {stratum}: {done.drawn.get(stratum, 0)} of {available}")
    if done.unchecked:
        print(f"  {done.unchecked} with text that no digest in the ledger confirms")
    print(f"  form {request.out}")
    print(f"  key {request.key} ({done.key_digest}); keep it from the labeler")
    print(f"  ledger entry {done.entry}")
