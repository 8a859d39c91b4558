"""``evalkit set``: freeze, verify and lint challenge sets."""

import sys

import click

from evalkit.cli.output import emit


@click.group(name="set")
def group() -> None:
    """Freeze, verify and lint challenge sets."""


@group.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def freeze(files: tuple[str, ...], as_json: bool) -> None:
    """Write a set's manifest beside it; from then on the set never changes.

    Freezing an unchanged set again changes nothing. A set that differs from
    its manifest is refused (exit 3).
    """
    from evalkit.challenge.freeze import freeze as freeze_set
    from evalkit.challenge.freeze import manifest_path
    from evalkit.challenge.lint import lint

    for path in files:
        frozen, new = freeze_set(path)
        for sentence in lint(frozen.set):
            print(f"evalkit: {path}: warning: {sentence}", file=sys.stderr)
        word = "frozen" if new else "unchanged since it was frozen"
        _print(word, frozen.path, frozen.digest, len(frozen.set.cases), as_json)
        if new and not as_json:
            emit(f"  manifest {manifest_path(path)}; commit it with the set")


@group.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def verify(files: tuple[str, ...], as_json: bool) -> None:
    """Recompute everything a set's manifest says (exit 3 when it differs)."""
    from evalkit.challenge.freeze import load_frozen

    for path in files:
        frozen = load_frozen(path)
        _print("verified", frozen.path, frozen.digest, len(frozen.set.cases), as_json)


@group.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def lint(files: tuple[str, ...]) -> None:
    """Read sets and name what they should not have (exit 1 when there is something)."""
    from evalkit.challenge.lint import lint as lint_set
    from evalkit.challenge.read import load_set

    found = 0
    for path in files:
        _, made = load_set(path)
        for sentence in lint_set(made):
            found += 1
            emit(f"{path}: {sentence}")
        emit(f"{path}: {len(made.cases)} cases read")
    if found:
        sys.exit(1)


def _print(word: str, path: str, digest: str, cases: int, as_json: bool) -> None:
    if as_json:
        import json

        emit(json.dumps({"set": path, "state": word, "digest": digest, "cases": cases}))
    else:
        emit(f"{path}: {word}, {cases} cases, {digest}")
