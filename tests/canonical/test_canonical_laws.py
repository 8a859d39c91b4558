"""Laws over random JSON.

- ``canonical_bytes`` equals the ``rfc8785`` package on every value it accepts;
- inside the profile the standard library, orjson and rfc8785 write the same bytes;
- what is written is read back equal, but for floats of 2^53 and beyond.
"""

import json
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from toolgate import canonical
from toolgate.canonical import MAX_INTEGER, canonical_bytes, parse, parse_line, profile_bytes
from toolgate.errors import CanonicalizationError

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
astral = st.text(st.characters(min_codepoint=0xD7F0, exclude_categories=["Cs"]), max_size=4)
integers = st.integers(-MAX_INTEGER, MAX_INTEGER)
floats = st.floats(allow_nan=False, allow_infinity=False)


def documents(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy:
    """Return nested arrays and objects over leaves and keys."""
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=6),
        max_leaves=20,
    )


general = documents(st.none() | st.booleans() | integers | floats | text, text | astral)
in_profile = documents(
    st.none() | st.booleans() | integers | text,
    st.text(st.characters(max_codepoint=127), max_size=8),
)


@given(general)
def test_any_value_has_the_bytes_of_the_reference_package(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


readable = documents(
    st.none() | st.booleans() | integers | floats.filter(lambda x: abs(x) < 2**53) | text, text
)


@given(readable)
def test_what_is_written_is_read_back(value: Any) -> None:
    written = canonical_bytes(value)
    assert canonical_bytes(parse(written)) == written


def test_a_large_float_is_written_as_the_integer_the_reader_refuses() -> None:
    """RFC 8785 has one form for both; reading keeps to I-JSON integers."""
    assert canonical_bytes(1e17) == b"100000000000000000"
    with pytest.raises(CanonicalizationError):
        parse(b"100000000000000000")


@given(in_profile)
def test_three_encoders_agree_inside_the_profile(value: Any) -> None:
    expected = rfc8785.dumps(value)
    standard = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert standard.encode() == expected
    assert orjson.dumps(value, option=orjson.OPT_SORT_KEYS) == expected
    assert profile_bytes(value) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_orjson", orjson)
        assert profile_bytes(value) == expected


@given(in_profile)
def test_a_line_reads_back_to_its_value(value: Any) -> None:
    assert parse_line(profile_bytes(value)) == value


@given(st.dictionaries(text | astral, integers, min_size=2, max_size=8))
def test_keys_sort_by_utf16_code_units(value: dict[str, int]) -> None:
    order = list(json.loads(canonical_bytes(value)))
    assert order == sorted(order, key=lambda key: key.encode("utf-16-be"))
