"""Merkle tree hashes (RFC 6962): how a closed turn commits to its entries.

A leaf is prefixed with 0x00 and an inner node with 0x01, so no node can pose
as a leaf; an odd node is promoted, never doubled, so no two leaf lists share a
root.
"""

from collections.abc import Iterable

from toolgate.canonical import raw_digest

EMPTY_ROOT = raw_digest(b"")
"""The root over no leaves: SHA-256 of nothing."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf. Source: RFC 6962, section 2.1."""
    return raw_digest(b"\x00" + data)


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node. Source: RFC 6962, section 2.1."""
    return raw_digest(b"\x01" + left + right)


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Return the Merkle tree hash over leaf data, in the order given.

    Complete subtrees are joined as soon as two of one size stand side by side;
    what remains is joined from the right. That is the split at the largest
    power of two below n, without recursion.

    Args:
        leaves: the data of each leaf, not yet hashed.

    Returns:
        32 bytes; ``EMPTY_ROOT`` for no leaves.

    Source: RFC 6962, section 2.1.
    """
    complete: list[tuple[int, bytes]] = []
    for data in leaves:
        size, top = 1, leaf_hash(data)
        while complete and complete[-1][0] == size:
            top = node_hash(complete.pop()[1], top)
            size *= 2
        complete.append((size, top))
    if not complete:
        return EMPTY_ROOT
    root = complete.pop()[1]
    while complete:
        root = node_hash(complete.pop()[1], root)
    return root
