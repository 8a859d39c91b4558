"""Numbers are written as ECMAScript writes them: the published checksums of the ES6 number file.

The file is generated here by its published algorithm, so the checksum covers
both the generation and every number's text.
"""

import json
import struct
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from math import isfinite
from pathlib import Path

import pytest

from toolgate.canonical import canonical_bytes

PUBLISHED = json.loads(
    (Path(__file__).parent.parent / "vectors" / "jcs" / "es6-numbers.json").read_text()
)


def doubles() -> Iterator[float]:
    """Yield the file's values in order."""
    for text in PUBLISHED["static"]:
        yield struct.unpack(">d", bytes.fromhex(text))[0]
    for step in range(2000):
        yield struct.unpack("<d", struct.pack("<Q", 0x0010000000000000 + step))[0]
    block = bytes(32)
    while True:
        block = sha256(block).digest()
        for value in struct.unpack("<4d", block):
            if value != 0.0 and isfinite(value):
                yield value


def line(value: float) -> bytes:
    """Return one line of the file for a value, by the code under test."""
    bits = struct.unpack(">Q", struct.pack(">d", value))[0]
    return b"%x,%s\n" % (bits, canonical_bytes(value))


@pytest.mark.parametrize(
    "count",
    [
        1_000,
        10_000,
        pytest.param(100_000, marks=pytest.mark.slow),
        pytest.param(1_000_000, marks=pytest.mark.slow),
    ],
)
def test_the_first_lines_have_the_published_checksum(count: int) -> None:
    found = sha256()
    for value in islice(doubles(), count):
        found.update(line(value))
    assert found.hexdigest() == PUBLISHED["sha256_of_first_lines"][str(count)]
