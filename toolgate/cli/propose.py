"""``toolgate propose``: rules that would cover what people keep approving."""

import json
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import existing_ledger
from toolgate.cli.signed import say
from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.learning.answers import HeldBack
    from toolgate.verify.reader import Reader


@click.command()
@click.argument("path", required=False)
@click.option(
    "--least", type=click.IntRange(1), default=5, show_default=True,
    help="How many approvals a proposal rests on at least.",
)  # fmt: skip
@click.option("--owner", metavar="NAME", help="Who answers for the overrides it proposes.")
@click.option("--until", metavar="DAY", default="", help="Their last day, such as 2027-01-31.")
@click.option("--vault", metavar="DIR", help="The vault; <ledger>.vault else, if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def propose(
    path: str | None, least: int, owner: str | None, until: str, vault: str | None, as_json: bool
) -> None:
    """Print rules that would cover asks which people always approved.

    Each says how many approvals it rests on and how they are known, and what else it would
    have allowed. You put into your policy what you want of it; nothing is learned by itself.
    Never proposed: what anybody refused, what changes this gate, what may send a secret. With
    the vault rules name programs; without it they cannot.

    Exit codes: 0 done (no proposals included), 2 wrong usage, 3 the ledger cannot be read.
    """
    from toolgate.canonical import warm
    from toolgate.cli.ledger.progress import Progress
    from toolgate.learning.answers import answers_of
    from toolgate.learning.page import page
    from toolgate.learning.proposals import propose as proposals_of
    from toolgate.ledger.append import open_store
    from toolgate.ledger.policies import read_policy
    from toolgate.verify.place import open_ledger
    from toolgate.views.gather import all_lines

    _check_day(until)
    warm()
    root = existing_ledger(path)
    directory = open_ledger(root)
    with Progress("reading: {:,} entries read") as progress:
        answers = answers_of(all_lines(directory, progress))
    if answers.policy is None:
        raise InputError("the ledger has seen no policy yet, so nobody was asked anything")
    policy = read_policy(open_store(root, durable=True), answers.policy)
    held_back = _with_programs(answers.held_back, directory, vault)
    made, left = proposals_of(held_back, policy, least)
    if as_json:
        found = {
            "policy": answers.policy,
            "proposals": [one._asdict() for one in made],
            "left": [one._asdict() for one in left],
        }
        click.echo(json.dumps(found, ensure_ascii=True, indent=1))
    else:
        say(page(made, left, least, owner, until))


def _with_programs(
    held_back: "list[HeldBack]", directory: "Reader", vault: str | None
) -> "list[HeldBack]":
    """Return the calls with what the vault knows of them, if there is one."""
    import os

    from toolgate.learning.programs import with_programs
    from toolgate.ledger.vault.keep import vault_of
    from toolgate.replay import Replay

    if not os.path.isdir(vault or vault_of(directory.root)):
        return held_back
    replay = Replay(directory, vault)
    return [with_programs(one, replay) for one in held_back]


def _check_day(until: str) -> None:
    from datetime import date

    try:
        if until:
            date.fromisoformat(until)
    except ValueError:
        raise click.BadParameter(
            f"{until!r} is no day; expected one such as 2027-01-31", param_hint="--until"
        ) from None
