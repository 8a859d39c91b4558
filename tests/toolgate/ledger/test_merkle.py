"""The Merkle tree of RFC 6962, by the vectors Certificate Transparency implementations share."""

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.canonical import raw_digest
from toolgate.ledger.merkle import EMPTY_ROOT, leaf_hash, node_hash, tree_root

# Inputs and roots of the reference test in certificate-transparency
# (cpp/merkletree/merkle_tree_test.cc, "kInputs" and "kSHA256Roots").
INPUTS = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def naive(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if not leaves:
        return raw_digest(b"")
    if len(leaves) == 1:
        return raw_digest(b"\x00" + leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return raw_digest(b"\x01" + naive(leaves[:split]) + naive(leaves[split:]))


def test_empty_root_is_sha256_of_nothing():
    assert tree_root([]) == EMPTY_ROOT
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_public_vectors():
    for count, root in enumerate(ROOTS, 1):
        assert tree_root(INPUTS[:count]).hex() == root


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=70))
def test_equals_the_recursive_definition(leaves):
    assert tree_root(leaves) == naive(leaves)


def test_odd_leaf_is_promoted_not_doubled():
    a, b, c = b"A", b"B", b"C"
    assert tree_root([a, b, c]) != tree_root([a, b, c, c])


def test_node_cannot_pose_as_leaf():
    inner = leaf_hash(b"A") + leaf_hash(b"B")
    assert tree_root([inner]) != tree_root([b"A", b"B"])
    assert node_hash(leaf_hash(b"A"), leaf_hash(b"B")) == tree_root([b"A", b"B"])
