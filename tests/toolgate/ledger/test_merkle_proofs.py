"""Inclusion and consistency proofs: public vectors, and the recursive definitions as an oracle."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.ledger.merkle import (
    EMPTY_ROOT,
    Tree,
    consistency_path,
    inclusion_path,
    is_consistent,
    leaf_hash,
    node_hash,
    root_of_inclusion,
    tree_root,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "merkle" / "ct.json").read_text())
INPUTS = [bytes.fromhex(text) for text in VECTORS["inputs"]]
ROOTS = [bytes.fromhex(text) for text in [VECTORS["empty_root"], *VECTORS["roots"]]]

LEAVES = st.lists(st.binary(max_size=4), max_size=40)


def split(size: int) -> int:
    at = 1
    while at * 2 < size:
        at *= 2
    return at


def root_by_definition(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaf_hash(leaves[0])
    at = split(len(leaves))
    return node_hash(root_by_definition(leaves[:at]), root_by_definition(leaves[at:]))


def path_by_definition(leaves: list[bytes], index: int) -> list[bytes]:
    """RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    at = split(len(leaves))
    if index < at:
        return [*path_by_definition(leaves[:at], index), root_by_definition(leaves[at:])]
    return [*path_by_definition(leaves[at:], index - at), root_by_definition(leaves[:at])]


def proof_by_definition(leaves: list[bytes], first: int, whole: bool = True) -> list[bytes]:
    """RFC 6962, section 2.1.2."""
    if first == len(leaves):
        return [] if whole else [root_by_definition(leaves)]
    at = split(len(leaves))
    if first <= at:
        return [*proof_by_definition(leaves[:at], first, whole), root_by_definition(leaves[at:])]
    return [
        *proof_by_definition(leaves[at:], first - at, False),
        root_by_definition(leaves[:at]),
    ]


@pytest.mark.parametrize("case", VECTORS["inclusion"], ids=lambda c: f"{c['index']}-{c['size']}")
def test_public_inclusion_paths(case):
    leaves, path = INPUTS[: case["size"]], [bytes.fromhex(one) for one in case["path"]]
    assert inclusion_path(leaves, case["index"]) == path
    leaf = leaf_hash(leaves[case["index"]])
    assert root_of_inclusion(leaf, case["index"], case["size"], path) == ROOTS[case["size"]]


@pytest.mark.parametrize(
    "case", VECTORS["consistency"], ids=lambda c: f"{c['first']}-{c['second']}"
)
def test_public_consistency_proofs(case):
    first, second = case["first"], case["second"]
    path = [bytes.fromhex(one) for one in case["path"]]
    assert consistency_path(INPUTS[:second], first) == path
    assert is_consistent(first, ROOTS[first], second, ROOTS[second], path)


def test_growing_tree_has_every_public_root():
    tree = Tree()
    for size, root in enumerate(ROOTS):
        assert (tree.size, tree.root()) == (size, root)
        if size < len(INPUTS):
            tree.append(INPUTS[size])


@settings(max_examples=60, deadline=None)
@given(LEAVES.filter(bool), st.data())
def test_inclusion_equals_the_definition_and_verifies(leaves, data):
    index = data.draw(st.integers(0, len(leaves) - 1))
    path = inclusion_path(leaves, index)
    assert path == path_by_definition(leaves, index)
    leaf = leaf_hash(leaves[index])
    assert root_of_inclusion(leaf, index, len(leaves), path) == tree_root(leaves)


@settings(max_examples=60, deadline=None)
@given(LEAVES.filter(bool), st.data())
def test_consistency_equals_the_definition_and_verifies(leaves, data):
    first = data.draw(st.integers(1, len(leaves)))
    path = consistency_path(leaves, first)
    assert path == proof_by_definition(leaves, first)
    old, new = tree_root(leaves[:first]), tree_root(leaves)
    assert is_consistent(first, old, len(leaves), new, path)


def changed(data, path: list[bytes]) -> list[bytes]:
    """Return a path with one hash more, one fewer, one altered, or two swapped."""
    how = data.draw(st.sampled_from(["more", "fewer", "altered", "swapped"]))
    path = list(path)
    at = data.draw(st.integers(0, max(0, len(path) - 1)))
    if how == "more" or not path:
        path.insert(at, data.draw(st.binary(min_size=32, max_size=32)))
    elif how == "fewer":
        del path[at]
    elif how == "altered":
        path[at] = bytes([path[at][0] ^ 1]) + path[at][1:]
    else:
        path = path[::-1] if path != path[::-1] else [*path, path[0]]
    return path


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.data())
def test_changed_inclusion_proof_does_not_lead_to_the_root(size, data):
    leaves = [bytes([number]) for number in range(size)]
    index = data.draw(st.integers(0, size - 1))
    root, leaf = tree_root(leaves), leaf_hash(leaves[index])
    path = inclusion_path(leaves, index)
    assert root_of_inclusion(leaf, index, size, changed(data, path)) != root
    assert root_of_inclusion(leaf_hash(b"other"), index, size, path) != root
    other = data.draw(st.integers(-2, size + 2).filter(lambda at: at != index))
    assert root_of_inclusion(leaf, other, size, path) != root


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.data())
def test_changed_consistency_proof_is_none(size, data):
    leaves = [bytes([number]) for number in range(size)]
    first = data.draw(st.integers(1, size))
    old, new = tree_root(leaves[:first]), tree_root(leaves)
    path = consistency_path(leaves, first)
    assert not is_consistent(first, old, size, new, changed(data, path))
    assert not is_consistent(first, tree_root(leaves[: first - 1]), size, new, path)
    assert not is_consistent(first, old, size, tree_root([*leaves, b""]), path)
    assert not is_consistent(size + 1, old, size, new, path)
    assert not is_consistent(-1, old, size, new, path)


def test_a_tree_without_leaves_begins_every_tree():
    root = tree_root([b"a"])
    assert is_consistent(0, EMPTY_ROOT, 1, root, [])
    assert is_consistent(0, EMPTY_ROOT, 0, EMPTY_ROOT, [])
    assert not is_consistent(0, root, 1, root, [])
    assert not is_consistent(0, EMPTY_ROOT, 0, root, [])
    assert not is_consistent(0, EMPTY_ROOT, 1, root, [root])
    assert not is_consistent(1, root, 2, tree_root([b"a", b"b"]), [])
