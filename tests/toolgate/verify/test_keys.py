"""Whose key is whose: the verifier's reading and the writer's agree."""

from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from toolgate import approval
from toolgate.ledger.rotation import rotation
from toolgate.signing import PrivateKey
from toolgate.verify.keys import Keys, rotation_of


def key(name: str) -> PrivateKey:
    return PrivateKey(Ed25519PrivateKey.from_private_bytes(sha256(name.encode()).digest()))


ONE, TWO, THREE, FOUR = (key(name) for name in ("one", "two", "three", "four"))
GIVEN = [ONE.public, TWO.public]
OWNERS = {ONE.public: {"alice"}, TWO.public: {"alice"}}


def taken(*steps: tuple[PrivateKey, PrivateKey]) -> tuple[Keys, approval.Keys, list[bool]]:
    """Give both readings the same rotations, the first at entry 10, then every 10th."""
    verifier, writer, counted = Keys(), approval.Keys(), []
    for number, (old, new) in enumerate(steps, 1):
        ev = rotation("approver", "alice", old, new, number)
        why = verifier.take(rotation_of("", number * 10, ev), OWNERS)
        assert writer.rotate(number * 10, ev) is (why is None)
        counted.append(why is None)
    return verifier, writer, counted


def test_a_key_that_replaced_one_key_does_not_replace_another() -> None:
    """Else what it signed between the two would lose its owner."""
    verifier, writer, counted = taken((ONE, THREE), (TWO, THREE))
    assert counted == [True, False]
    assert verifier.speaks("alice", THREE.public, GIVEN, 15)
    assert writer.speaks("alice", THREE.public, GIVEN, 15)


@pytest.mark.parametrize("seq", [5, 10, 11, 20, 21, 30, 31])
def test_terms_say_what_following_a_key_back_says(seq: int) -> None:
    verifier, writer, counted = taken((ONE, THREE), (THREE, FOUR), (TWO, key("five")))
    assert all(counted)
    terms = verifier.terms("alice", GIVEN)
    for one in (ONE, TWO, THREE, FOUR, key("five"), key("six")):
        term = terms.get(one.public)
        held = term is not None and term.after < seq <= term.until
        assert held is verifier.speaks("alice", one.public, GIVEN, seq)
        assert held is writer.speaks("alice", one.public, GIVEN, seq)


def test_a_long_row_of_rotations_is_read_in_linear_time() -> None:
    verifier, names = Keys(), [f"key {number}" for number in range(20_000)]
    for number in range(len(names) - 1):
        old, new = names[number : number + 2]
        one = rotation_of("", number + 1, rotation("approver", "alice", ONE, TWO, 1))
        assert verifier.take(one._replace(old=old, new=new), {names[0]: {"alice"}}) is None
    terms = verifier.terms("alice", [names[0]])
    assert len(terms) == len(names)
    assert terms[names[-1]].after == len(names) - 1
