"""``evalkit set``: freeze, verify, lint and show challenge sets."""

import sys
from typing import TYPE_CHECKING

import click

from evalkit.cli.output import emit
from toolgate.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from evalkit.challenge.freeze import Frozen


_COMMANDS = {
    "check-reveal": (
        "evalkit.cli.set_case:check_reveal",
        "Check that a revealed case is in a set.",
    ),
    "diff": ("evalkit.cli.set_lineage:diff", "Name what differs between two sets, case by case."),
    "freeze": ("evalkit.cli.set:freeze", "Write a set's manifest beside it."),
    "from-ledger": ("evalkit.cli.set_ledger:from_ledger", "Draw real calls into a draft, blind."),
    "import": ("evalkit.cli.set_import:import_set", "Read cases of another shape into a draft."),
    "lint": ("evalkit.cli.set_lint:lint", "Name what a set should not have."),
    "new": ("evalkit.cli.set_lineage:new", "Write the beginning of a set."),
    "quarantine": ("evalkit.cli.set_case:quarantine", "Record that a case's label is held wrong."),
    "readers": ("evalkit.cli.set_import:list_readers", "List the shapes that can be imported."),
    "reveal": ("evalkit.cli.set_case:reveal", "Show one case, provably, without the others."),
    "show": ("evalkit.cli.set:show", "Say what a set holds."),
    "supersede": ("evalkit.cli.set_lineage:supersede", "Freeze a set that replaces another."),
    "verify": ("evalkit.cli.set:verify", "Hold sets to their manifests."),
}


@click.group(name="set", cls=LazyGroup, commands_at=_COMMANDS)
def group() -> None:
    """Write, freeze, verify and show challenge sets."""


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def freeze(files: tuple[str, ...], as_json: bool) -> None:
    """Write a set's manifest beside it; from then on the set never changes.

    FILE may be a bare name, which is also sought in ./challenge_sets. Freezing
    an unchanged set again changes nothing. A set that differs from its manifest
    is refused (exit 3).
    """
    from evalkit.challenge.find import find_set
    from evalkit.challenge.freeze import freeze as freeze_set
    from evalkit.challenge.freeze import manifest_path
    from evalkit.challenge.lint import lint
    from evalkit.cli.set_lint import machine_places

    for name in files:
        path = find_set(name, packaged=False)
        frozen, new = freeze_set(path)
        for sentence in lint(frozen.set, machine_places()):
            print(f"evalkit: {path}: warning: {sentence}", file=sys.stderr)
        word = "frozen" if new else "unchanged since it was frozen"
        _print(word, frozen, as_json)
        if new and not as_json:
            emit(f"  manifest {manifest_path(path)}; commit it with the set")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def verify(files: tuple[str, ...], as_json: bool) -> None:
    """Recompute what a set's manifest says and can be recomputed (exit 3 when it differs).

    A bare name is also sought in ./challenge_sets and among the sets that come
    with the package. Recomputed from the file and the salt: name, form, author,
    frozen date, lineage, counts, both digests, every case's leaf, the root.
    frozen_at and canary follow from nothing: only their form is checked, and
    the manifest's digest, which is printed and in every run's claim, binds them.
    """
    from evalkit.challenge.find import find_set
    from evalkit.challenge.freeze import load_frozen

    for name in files:
        _print("verified", load_frozen(find_set(name)), as_json)


def _print(word: str, frozen: "Frozen", as_json: bool) -> None:
    cases = len(frozen.set.cases)
    if as_json:
        import json

        body = {"set": frozen.path, "state": word, "digest": frozen.digest, "cases": cases}
        emit(json.dumps({**body, "manifest_digest": frozen.manifest_digest}))
    else:
        count = "1 case" if cases == 1 else f"{cases} cases"
        emit(f"{frozen.path}: {word}, {count}, {frozen.digest}")
        emit(f"  manifest digest {frozen.manifest_digest}")


@click.command()
@click.argument("file", metavar="FILE")
@click.argument("case", required=False, metavar="[CASE]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(file: str, case: str | None, as_json: bool) -> None:
    """Say what a set holds; with CASE, print that case as the gate is shown it, and its label."""
    import json

    from evalkit.challenge.find import find_set
    from evalkit.challenge.lint import shown_to_gate
    from evalkit.challenge.manifest import counts
    from evalkit.challenge.read import load_set
    from evalkit.errors import UsageError

    _, made = load_set(find_set(file))
    if case is not None:
        found = next((one for one in made.cases if one.id == case), None)
        if found is None:
            raise UsageError(f"case {case}: expected one of {made.name}, got no such case")
        body = {"shown": shown_to_gate(made, found), "case": found.source}
        emit(json.dumps(body, ensure_ascii=False, indent=None if as_json else 1))
        return
    held = counts(made.cases)
    if as_json:
        body = {"name": made.name, "form": made.form, "author": made.author, **held}
        body |= {"provenance": made.provenance.as_json(), "loss": made.loss}
        emit(json.dumps({**body, "frozen": made.frozen, "supersedes": made.supersedes}))
        return
    labels = ", ".join(f"{name} {number}" for name, number in held["expected"].items())
    rows = {
        "set": f"{made.name} ({made.form})",
        "author": made.author,
        "frozen": made.frozen,
        "seen": made.provenance.seen or "not said",
        "supersedes": made.supersedes or "nothing",
        "cases": f"{held['cases']} ({labels}), {held['pairs']} pairs",
    }
    emit("\n".join(f"{name:<12}{value}" for name, value in rows.items()))
    for name, number in held["category"].items():
        emit(f"  {number:>5}  {name}: {made.categories[name]}")
