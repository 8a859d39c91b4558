"""A turn's entries as a graph: which of them nobody names, and the root over those.

Entries of a turn name only causes their writer knows (turn_open -> decision ->
outcome), so parallel calls never wait for each other. Closing the turn commits
to the entries no other entry of the turn names; through their parents that
commits to all of them.
"""

from collections.abc import Iterable

MAX_TURN_ENTRIES = 512


def frontier(entries: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Return the digests of the entries that no entry of the same turn names, sorted.

    Args:
        entries: entry digest and parents of each entry of one turn.
    """
    own: set[str] = set()
    named: set[str] = set()
    for entry, parents in entries:
        own.add(entry)
        named.update(parents)
    return sorted(own - named)


def frontier_root(digests: Iterable[str]) -> str:
    """Return the root a turn_close carries, as ``sha256:<hex>``.

    Args:
        digests: the frontier, as ``sha256:<hex>``; order and duplicates do not matter.
    """
    from toolgate.ledger.merkle import tree_root  # only the close of a turn needs it

    leaves = sorted({bytes.fromhex(digest[7:]) for digest in digests})
    return "sha256:" + tree_root(leaves).hex()


def decision_parents(turn_open: str, earlier: str | None, same_turn: bool) -> list[str]:
    """Return the parents of a decision.

    Args:
        turn_open: digest of the turn's opening entry.
        earlier: the decision it supersedes or answers, if any.
        same_turn: whether that decision stands in the same turn.
    """
    if earlier is None:
        return [turn_open]
    return [earlier] if same_turn else [turn_open, earlier]
