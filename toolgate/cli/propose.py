"""``toolgate propose``: rules that would cover what people keep approving."""

import json
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import existing_ledger
from toolgate.cli.signed import say
from toolgate.errors import InputError

if TYPE_CHECKING:
    from toolgate.learning.answers import HeldBack
    from toolgate.learning.proposals import Left, Proposal
    from toolgate.replay import Replay
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
    from toolgate.learning.programs import with_programs
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
    replay = _replay(directory, vault)
    held_back = answers.held_back
    if replay is not None:
        held_back = [with_programs(one, replay) for one in held_back]
    made, left = proposals_of(held_back, policy, least)
    if replay is not None:
        made, wrong = _tried(made, held_back, directory, replay, answers.policy)
        left += wrong
    if as_json:
        found = {
            "policy": answers.policy,
            "proposals": [one._asdict() for one in made],
            "left": [one._asdict() for one in left],
        }
        click.echo(json.dumps(found, ensure_ascii=True, indent=1))
    else:
        say(page(made, left, least, owner, until))


def _replay(directory: "Reader", vault: str | None) -> "Replay | None":
    """Return what reads the vault, if there is one."""
    import os

    from toolgate.ledger.vault.keep import vault_of
    from toolgate.replay import Replay

    there = os.path.isdir(vault or vault_of(directory.root))
    return Replay(directory, vault) if there else None


def _tried(
    made: "list[Proposal]",
    held_back: "list[HeldBack]",
    directory: "Reader",
    replay: "Replay",
    version: str,
) -> "tuple[list[Proposal], list[Left]]":
    """Return the proposals as they do on the vault's inputs, where those can be decided on."""
    from toolgate.learning.trial import try_out
    from toolgate.ledger.salt import known_salt
    from toolgate.replay import decisions

    salt, base = known_salt(directory.root), replay.gate_under(version)
    if salt is None or isinstance(base, str):
        return made, []
    by_entry = {one.entry: one for one in held_back}
    return try_out(made, by_entry, decisions(directory), replay, base, salt)


def _check_day(until: str) -> None:
    from datetime import date

    try:
        if until:
            date.fromisoformat(until)
    except ValueError:
        raise click.BadParameter(
            f"{until!r} is no day; expected one such as 2027-01-31", param_hint="--until"
        ) from None
