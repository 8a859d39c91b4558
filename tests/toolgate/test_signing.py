"""Weak keys, held against the curve's own arithmetic (RFC 8032, section 5.1)."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from toolgate.signing import PrivateKey, is_weak, raw, text, verifies

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int]


def add(one: Point, other: Point) -> Point:
    """Add two points of edwards25519."""
    (x1, y1), (x2, y2) = one, other
    k = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P) % P


def times_eight(point: Point) -> Point:
    """Double a point three times."""
    for _ in range(3):
        point = add(point, point)
    return point


def decode(data: bytes) -> Point | None:
    """Return a point of an encoding, its y reduced; None if none has that y."""
    y = (int.from_bytes(data, "little") & (1 << 255) - 1) % P
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x, y) if not (x * x - square) % P else None


def small_order() -> set[bytes]:
    """Return every encoding of a point that 8 takes to the neutral one, found by the curve."""
    found = {(0, 1)}
    y = 2
    while len(found) < 8:  # L times any point has an order that divides 8
        point = decode(y.to_bytes(32, "little"))
        y += 1
        if point is None:
            continue
        order, left = (0, 1), 2**252 + 27742317777372353535851937790883648493
        while left:
            if left & 1:
                order = add(order, point)
            point, left = add(point, point), left >> 1
        while order not in found:
            found.add(order)
            order = add(order, order)
        found |= {add(a, b) for a in found for b in found}
    ys = {y + more for _, y in found for more in (0, P) if y + more < 1 << 255}
    return {(y | sign << 255).to_bytes(32, "little") for y in ys for sign in (0, 1)}


def test_every_point_of_small_order_is_weak() -> None:
    encodings = small_order()
    assert len(encodings) == 14
    for data in encodings:
        point = decode(data)
        assert point is not None and times_eight(point) == (0, 1)
        assert is_weak(text(data))


def test_a_signature_that_fits_any_text_verifies_nothing() -> None:
    weak = text(b"\x01" + bytes(31))
    anything = text(b"\x01" + bytes(63))
    for said in (b"one", b"two"):
        Ed25519PublicKey.from_public_bytes(raw(weak)).verify(raw(anything), said)
        assert not verifies(weak, anything, said)


@pytest.mark.parametrize("_", range(20))
def test_a_key_that_was_made_is_not_weak(_: int) -> None:
    one = PrivateKey.new()
    assert not is_weak(one.public)
    assert verifies(one.public, one.sign(b"said"), b"said")
