"""RFC 8785: the reference implementation's documents, and the RFC's own examples."""

import json
import struct
from pathlib import Path

import pytest

from toolgate.canonical import canonical_bytes, digest, digest_of, parse

VECTORS = Path(__file__).parent.parent / "vectors" / "jcs"
NAMES = sorted(path.stem for path in (VECTORS / "input").glob("*.json"))


def test_the_six_documents_are_there() -> None:
    assert NAMES == ["arrays", "french", "structures", "unicode", "values", "weird"]


@pytest.mark.parametrize("name", NAMES)
def test_document(name: str) -> None:
    value = json.loads((VECTORS / "input" / f"{name}.json").read_bytes())
    expected = (VECTORS / "output" / f"{name}.json").read_bytes()
    assert expected == bytes.fromhex((VECTORS / "outhex" / f"{name}.txt").read_text())
    assert canonical_bytes(value) == expected


@pytest.mark.parametrize("name", NAMES)
def test_canonical_output_is_its_own_canonical_form(name: str) -> None:
    expected = (VECTORS / "output" / f"{name}.json").read_bytes()
    assert canonical_bytes(parse(expected)) == expected
    assert digest_of(parse(expected)) == digest(expected)


def test_sorting_example_of_section_3_2_3() -> None:
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    order = [json.loads(b'"' + part + b'"') for part in _values(canonical_bytes(value))]
    assert order == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


def _values(text: bytes) -> list[bytes]:
    return [member.split(b'":"')[1].rstrip(b'"}') for member in text.split(b'","')]


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ("0000000000000000", b"0"),
        ("8000000000000000", b"0"),
        ("0000000000000001", b"5e-324"),
        ("8000000000000001", b"-5e-324"),
        ("7fefffffffffffff", b"1.7976931348623157e+308"),
        ("ffefffffffffffff", b"-1.7976931348623157e+308"),
        ("4340000000000000", b"9007199254740992"),
        ("c340000000000000", b"-9007199254740992"),
        ("4430000000000000", b"295147905179352830000"),
        ("44b52d02c7e14af5", b"9.999999999999997e+22"),
        ("44b52d02c7e14af6", b"1e+23"),
        ("44b52d02c7e14af7", b"1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", b"999999999999999700000"),
        ("444b1ae4d6e2ef4f", b"999999999999999900000"),
        ("444b1ae4d6e2ef50", b"1e+21"),
        ("3eb0c6f7a0b5ed8c", b"9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", b"0.000001"),
        ("41b3de4355555553", b"333333333.3333332"),
        ("41b3de4355555554", b"333333333.33333325"),
        ("41b3de4355555555", b"333333333.3333333"),
        ("41b3de4355555556", b"333333333.3333334"),
        ("41b3de4355555557", b"333333333.33333343"),
        ("becbf647612f3696", b"-0.0000033333333333333333"),
        ("43143ff3c1cb0959", b"1424953923781206.2"),
    ],
)
def test_number_samples_of_appendix_b(bits: str, expected: bytes) -> None:
    assert canonical_bytes(struct.unpack(">d", bytes.fromhex(bits))[0]) == expected
