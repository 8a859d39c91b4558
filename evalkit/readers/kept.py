"""What a vault keeps of a recorded call: the one place in evalkit that reads a vault.

A person asks for it by name (``evalkit set from-ledger``), and nothing of it leaves unredacted.
"""

import os
from typing import Any, NamedTuple

from toolgate.canonical import digest_of
from toolgate.ledger.vault.find import input_for
from toolgate.ledger.vault.keep import vault_of
from toolgate.ledger.vault.prompts import digest_of_prompts, prompts_of
from toolgate.verify.shapes import Decision

NOT_KEPT, INEXACT, OTHER = (
    "the vault has no input for it",
    "the vault keeps it without its content",
    "the vault's input has other arguments",
)


class Kept(NamedTuple):
    """A call as the gate was given it.

    Args:
        tool: the tool's name.
        input: the tool's input, not redacted.
        cwd: the working directory.
        home: the home directory.
        roots: the workspace's roots, as named and as they really are.
        prompts: what the user had written, oldest first, not redacted.
        whole: whether the prompts are those the decision was made with.
    """

    tool: str
    input: dict[str, Any]
    cwd: str
    home: str
    roots: tuple[str, ...]
    prompts: tuple[str, ...]
    whole: bool


def vault_beside(ledger: str) -> str | None:
    """Return the vault of a ledger; None where there is none."""
    found = vault_of(ledger)
    return found if os.path.isdir(found) else None


def kept_of(vault: str, entry: Decision) -> Kept | str:
    """Return what a vault keeps of a decided call, or why it cannot be shown.

    Raises:
        LedgerError: the vault cannot be read.
    """
    held = input_for(
        vault,
        entry.ev.args_digest,
        session=entry.session,
        call=entry.intent.call,
        tool=entry.intent.action_type,
        ts=entry.ev.ts,
    )
    if held is None:
        return NOT_KEPT
    if not held.exact:
        return INEXACT
    call = held.call
    if digest_of(call["input"]) != entry.ev.args_digest:
        return OTHER
    prompts, whole = _prompts(vault, entry.session, call["task"])
    place = call["place"]
    return Kept(
        tool=call["tool"],
        input=call["input"],
        cwd=place["cwd"],
        home=place["home"],
        roots=tuple(place["roots"]),
        prompts=prompts,
        whole=whole,
    )


def _prompts(vault: str, session: str, task: dict[str, Any] | None) -> tuple[tuple[str, ...], bool]:
    """Return the prompts a decision was made with, and whether those are all."""
    if task is None:
        return (), True
    prompts = prompts_of(vault, session)[0][: task["count"]]
    if digest_of_prompts(prompts) != task["digest"]:
        return (), False
    return tuple(one.text for one in prompts), bool(task["whole"])
