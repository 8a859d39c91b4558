"""``evalkit set import`` and ``readers``: cases of other shapes become the draft of a set."""

import json

import click

from evalkit.cli.output import emit


@click.command(name="import")
@click.argument("source", metavar="SOURCE")
@click.option(
    "--reader", required=True, metavar="NAME", help="How to read it: evalkit set readers."
)
@click.option("--out", required=True, metavar="FILE", help="The draft; it must not exist yet.")
@click.option("--name", required=True, metavar="TEXT", help="What the set is called.")
@click.option("--author", required=True, metavar="TEXT", help="Who makes it, and what they saw.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def import_set(source: str, reader: str, out: str, name: str, author: str, as_json: bool) -> None:
    """Read cases of another shape into the draft of a set.

    A case whose label the source does not have gets `"expected": null`, and a
    set with one cannot be frozen: a person labels every case, reads the policy
    and the assumptions, then `evalkit set lint` and `freeze`. A row that cannot
    be read is an error that names row and field, and nothing is written (exit 2).
    """
    import os

    from evalkit.readers.assemble import assemble, unlabeled
    from evalkit.readers.draft import Draft
    from evalkit.readers.origin import digest_of_source, today, write_draft
    from evalkit.readers.registry import read_draft

    draft: Draft = read_draft(reader, source)
    imported = {
        "source": os.path.basename(source.rstrip("/")),
        "digest": digest_of_source(source),
        "reader": reader,
        "name": draft.name,
        "rows": draft.rows,
        "left_out": draft.left_out,
    }
    data = assemble(draft, name=name, author=author, today=today(), imported=imported)
    write_draft(out, data)
    cases, missing = len(draft.cases), unlabeled(draft)
    if as_json:
        emit(json.dumps({"set": out, "cases": cases, "unlabeled": missing, **imported}))
        return
    left = "".join(f", {number} {what} left out" for what, number in draft.left_out.items())
    emit(f"{out}: {cases} cases from {draft.rows} rows{left}; {missing} without a label")
    emit(f"  label them, read policy and assumptions, then: evalkit set lint {out}")


@click.command(name="readers")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a reader.")
def list_readers(as_json: bool) -> None:
    """List the shapes that `evalkit set import` can read, and whose readers they are."""
    from evalkit.readers.registry import readers

    for one in readers():
        if as_json:
            emit(json.dumps(one._asdict()))
        else:
            emit(f"{one.name:<12}{one.about} ({one.origin})")
