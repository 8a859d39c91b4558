"""``evalkit set lint``: what a set should not have, and what a person should look into."""

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from evalkit.cli.output import emit

if TYPE_CHECKING:
    from evalkit.challenge.case import ChallengeSet


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--against", multiple=True, metavar="SET", help="Another set to compare with; repeatable."
)
@click.option("--policy", metavar="FILE", help="A policy instead of the shipped one.")
@click.option("--before", metavar="FILE", help="The policy as it was when the sets were frozen.")
@click.option(
    "--before-catalogue", metavar="DIR", help="The catalogue's families as they were then."
)
@click.option("--strict", is_flag=True, help="Exit 1 for a note too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file.")
def lint(
    files: tuple[str, ...],
    against: tuple[str, ...],
    policy: str | None,
    before: str | None,
    before_catalogue: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Read sets and name what they should not have (exit 1 when there is something).

    Notes are signs for a person: near duplicates inside a set and across sets,
    literals of the policy that occur in one set alone, and examples of the
    catalogue that are nearly a case. Nothing is decided, so this is no look.
    With --before and --before-catalogue, literals of the policy and words of the
    catalogue that are newer than the freeze are named as such.

    A set is compared with the other FILEs, with --against, with the frozen sets
    beside it and in ./challenge_sets, and with those that come with the package.
    A bare name is sought there too.
    """
    from evalkit.challenge.find import find_set
    from evalkit.challenge.lint import lint as lint_set
    from evalkit.challenge.literals import catalogue_examples, newer_words, read_policy
    from evalkit.challenge.notes import Beside, notes
    from evalkit.challenge.read import load_set

    found = 0
    paths = [find_set(name) for name in files]
    sets = {path: load_set(path)[1] for path in paths}
    others = {**_others(paths, against), **sets}
    literals = read_policy(policy)
    earlier = None if before is None else read_policy(before)
    examples = catalogue_examples()
    words = () if before_catalogue is None else tuple(newer_words(before_catalogue))
    for path, made in sets.items():
        rest = {name: other for name, other in others.items() if name != path}
        faults = lint_set(made, machine_places())
        signs = notes(made, Beside(rest, literals, earlier, examples, words))
        found += len(faults) + (len(signs) if strict else 0)
        if as_json:
            body = {"set": path, "cases": len(made.cases), "compared": len(rest)}
            emit(json.dumps({**body, "faults": faults, "notes": signs}, ensure_ascii=False))
            continue
        for sentence in faults:
            emit(f"{path}: {sentence}")
        for sentence in signs:
            emit(f"{path}: note: {sentence}")
        count = len(made.cases)
        emit(
            f"{path}: {count} {'case' if count == 1 else 'cases'} read, compared with "
            f"{len(rest)} {'set' if len(rest) == 1 else 'sets'}"
        )
    if found:
        sys.exit(1)


def machine_places() -> tuple[str, ...]:
    """Return directories of this machine that no case should name: the user's home, and here."""
    home = os.path.expanduser("~")
    named = home if home.startswith(("/home/", "/Users/")) else ""
    here = os.getcwd()
    return tuple(place for place in dict.fromkeys((here, named)) if place.count("/") > 1)


def _others(paths: list[str], against: tuple[str, ...]) -> "dict[str, ChallengeSet]":
    """Return the sets named by --against, and the frozen ones in the places of sets."""
    from evalkit.challenge.find import find_set, set_folders
    from evalkit.challenge.freeze import manifest_path
    from evalkit.challenge.read import load_set
    from evalkit.errors import SetError

    found = {path: load_set(path)[1] for path in (find_set(name) for name in against)}
    beside = [os.path.dirname(path) or "." for path in paths]
    for folder in dict.fromkeys(map(os.path.realpath, (*beside, *set_folders()))):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            frozen = name.endswith(".json") and os.path.exists(manifest_path(path))
            if frozen and not any(os.path.samefile(path, known) for known in (*found, *paths)):
                try:
                    found[path] = load_set(path)[1]
                except SetError:
                    print(f"evalkit: {path}: not compared, it is no set", file=sys.stderr)
    return found
