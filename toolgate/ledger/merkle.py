"""Merkle tree hashes and proofs (RFC 6962): how a turn commits to its entries, a log to its heads.

A leaf is prefixed with 0x00 and an inner node with 0x01, so no node can pose
as a leaf; an odd node is promoted, never doubled, so no two leaf lists share a
root.
"""

from collections.abc import Iterable, Sequence

from toolgate.canonical import raw_digest

EMPTY_ROOT = raw_digest(b"")
"""The root over no leaves: SHA-256 of nothing."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of one leaf. Source: RFC 6962, section 2.1."""
    return raw_digest(b"\x00" + data)


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node. Source: RFC 6962, section 2.1."""
    return raw_digest(b"\x01" + left + right)


class Tree:
    """A tree that only grows: what is needed of it to go on, which is one hash a power of two.

    Complete subtrees are joined as soon as two of one size stand side by side;
    what remains is joined from the right. That is the split at the largest
    power of two below n, without recursion and without the leaves.

    Source: RFC 6962, section 2.1.
    """

    __slots__ = ("_complete", "size")

    def __init__(self) -> None:
        self.size = 0
        self._complete: list[tuple[int, bytes]] = []

    def append(self, data: bytes) -> None:
        """Add a leaf, given as its data, not yet hashed."""
        size, top = 1, leaf_hash(data)
        complete = self._complete
        while complete and complete[-1][0] == size:
            top = node_hash(complete.pop()[1], top)
            size *= 2
        complete.append((size, top))
        self.size += 1

    def root(self) -> bytes:
        """Return the tree hash over the leaves so far; ``EMPTY_ROOT`` for none."""
        if not self._complete:
            return EMPTY_ROOT
        root = self._complete[-1][1]
        for _, top in reversed(self._complete[:-1]):
            root = node_hash(top, root)
        return root


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Return the Merkle tree hash over leaf data, in the order given.

    Args:
        leaves: the data of each leaf, not yet hashed.

    Returns:
        32 bytes; ``EMPTY_ROOT`` for no leaves.

    Source: RFC 6962, section 2.1.
    """
    tree = Tree()
    for data in leaves:
        tree.append(data)
    return tree.root()


def _split(size: int) -> int:
    """Return the largest power of two below a size of at least two."""
    return 1 << (size - 1).bit_length() - 1


def inclusion_path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the hashes that lead from one leaf to the root, the lowest first.

    Args:
        leaves: the data of each leaf, not yet hashed.
        index: which leaf, from 0; it must be one of them.

    Source: RFC 6962, section 2.1.1.
    """
    path: list[bytes] = []
    start, stop = 0, len(leaves)
    while stop - start > 1:
        middle = start + _split(stop - start)
        if index < middle:
            path.append(tree_root(leaves[middle:stop]))
            stop = middle
        else:
            path.append(tree_root(leaves[start:middle]))
            start = middle
    return path[::-1]


def consistency_path(leaves: Sequence[bytes], first: int) -> list[bytes]:
    """Return the hashes that show a tree to begin with a smaller one.

    Args:
        leaves: the data of each leaf of the larger tree, not yet hashed.
        first: the size of the smaller tree, at least 1 and at most theirs.

    Source: RFC 6962, section 2.1.2.
    """
    path: list[bytes] = []
    start, stop = 0, len(leaves)
    while first != stop:
        middle = start + _split(stop - start)
        if first <= middle:
            path.append(tree_root(leaves[middle:stop]))
            stop = middle
        else:
            path.append(tree_root(leaves[start:middle]))
            start = middle
    if start:
        path.append(tree_root(leaves[start:stop]))
    return path[::-1]


def root_of_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root an inclusion path leads to; None if the path has not the right length.

    Args:
        leaf: hash of the leaf.
        index: its place, from 0.
        size: how many leaves the tree has.
        path: the hashes from the leaf upwards.

    Source: RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < size:
        return None
    node, last, root = index, size - 1, leaf
    for sibling in path:
        if not last:
            return None
        if node & 1 or node == last:
            root = node_hash(sibling, root)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            root = node_hash(root, sibling)
        node >>= 1
        last >>= 1
    return None if last else root


def is_consistent(
    first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]
) -> bool:
    """Say whether a path shows that one tree begins with another.

    A tree without leaves is the beginning of every tree, and needs no path.

    Args:
        first: size of the smaller tree.
        first_root: its root.
        second: size of the larger tree.
        second_root: its root.
        path: the hashes of a consistency proof.

    Source: RFC 9162, section 2.1.4.2.
    """
    if not 0 <= first <= second:
        return False
    if first in (0, second):
        same = EMPTY_ROOT if not first else second_root
        return not path and first_root == same and (first != second or first_root == second_root)
    hashes = list(path)
    if not first & (first - 1):  # a complete tree is its own first node
        hashes.insert(0, first_root)
    if not hashes:
        return False
    node, last = first - 1, second - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if not last:
            return False
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        node >>= 1
        last >>= 1
    return not last and old == first_root and new == second_root
