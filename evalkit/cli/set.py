"""``evalkit set``: freeze, verify and lint challenge sets."""

import sys
from typing import TYPE_CHECKING

import click

from evalkit.cli.output import emit

if TYPE_CHECKING:
    from evalkit.challenge.freeze import Frozen


@click.group(name="set")
def group() -> None:
    """Freeze, verify and lint challenge sets."""


@group.command()
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

    for name in files:
        path = find_set(name, packaged=False)
        frozen, new = freeze_set(path)
        for sentence in lint(frozen.set):
            print(f"evalkit: {path}: warning: {sentence}", file=sys.stderr)
        word = "frozen" if new else "unchanged since it was frozen"
        _print(word, frozen, as_json)
        if new and not as_json:
            emit(f"  manifest {manifest_path(path)}; commit it with the set")


@group.command()
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


@group.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def lint(files: tuple[str, ...]) -> None:
    """Read sets and name what they should not have (exit 1 when there is something).

    A bare name is also sought in ./challenge_sets and among the sets that come
    with the package.
    """
    from evalkit.challenge.find import find_set
    from evalkit.challenge.lint import lint as lint_set
    from evalkit.challenge.read import load_set

    found = 0
    for name in files:
        path = find_set(name)
        _, made = load_set(path)
        for sentence in lint_set(made):
            found += 1
            emit(f"{path}: {sentence}")
        count = len(made.cases)
        emit(f"{path}: {count} {'case' if count == 1 else 'cases'} read")
    if found:
        sys.exit(1)


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
