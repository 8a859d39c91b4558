"""What has no canonical form is refused with one error, and what is read is read strictly."""

import json
from typing import Any

import pytest

from toolgate import canonical
from toolgate.canonical import MAX_DEPTH, canonical_bytes, parse, parse_line, profile_bytes
from toolgate.errors import CanonicalizationError


def nested(depth: int, leaf: Any = 1) -> Any:
    """Return a value inside ``depth`` arrays."""
    for _ in range(depth):
        leaf = [leaf]
    return leaf


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        float("-inf"),
        2**53,
        -(2**53),
        10**400,
        "\ud800",
        "a\udfff",
        {"\ud800": 1},
        {"k": ["\udc00"]},
        {1: "key is not text"},
        {None: 1},
        {1.5: 1},
        b"bytes",
        {1, 2},
        object(),
        nested(MAX_DEPTH + 1),
        nested(100_000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_without_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(CanonicalizationError):
        canonical_bytes(value)
    with pytest.raises(CanonicalizationError):
        profile_bytes(value)


@pytest.mark.parametrize(
    "value", [1.5, 1.0, -0.0, {"é": 1}, {"\U0001f600": 1}, {"a": [0.5]}], ids=repr
)
def test_the_profile_refuses_floats_and_keys_beyond_ascii(value: Any) -> None:
    assert canonical_bytes(value)
    with pytest.raises(CanonicalizationError):
        profile_bytes(value)


def test_the_edges_of_the_domain_are_inside_it() -> None:
    assert profile_bytes([2**53 - 1, -(2**53) + 1]) == b"[9007199254740991,-9007199254740991]"
    assert profile_bytes(nested(MAX_DEPTH)) == b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH
    assert profile_bytes({"k": "\U0001f600"}) == '{"k":"\U0001f600"}'.encode()


LINES_REFUSED = {
    "leading space": b' {"a":1}',
    "space after colon": b'{"a": 1}',
    "trailing newline": b'{"a":1}\n',
    "key order": b'{"b":1,"a":2}',
    "nested key order": b'{"a":{"z":1,"b":2}}',
    "duplicate key": b'{"a":1,"a":1}',
    "duplicate key, escaped": b'{"a":1,"\\u0061":1}',
    "escape not needed": b'{"a":"\\u0041"}',
    "escaped slash": b'{"a":"\\/"}',
    "upper-case escape": b'{"a":"\\u001F"}',
    "long escape of a newline": b'{"a":"\\u000a"}',
    "escaped letter beyond ASCII": b'{"a":"\\u00e9"}',
    "minus zero": b'{"a":-0}',
    "minus zero, float": b'{"a":-0.0}',
    "integral float": b'{"a":1.0}',
    "exponent": b'{"a":1e2}',
    "fraction": b'{"a":1.5}',
    "leading zero": b'{"a":01}',
    "leading plus": b'{"a":+1}',
    "byte order mark": b'\xef\xbb\xbf{"a":1}',
    "trailing data": b'{"a":1}{}',
    "trailing comma": b'{"a":1,}',
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":Infinity}',
    "minus Infinity": b'{"a":-Infinity}',
    "overflow": b'{"a":1e400}',
    "lone surrogate": b'{"a":"\\ud800"}',
    "lone surrogate in a key": b'{"\\ud800":1}',
    "2^53": b'{"a":9007199254740992}',
    "2^53+1": b'{"a":9007199254740993}',
    "a thousand digits": b'{"a":' + b"9" * 5000 + b"}",
    "invalid UTF-8": b'{"a":"\xff"}',
    "overlong UTF-8": b'{"a":"\xc0\xaf"}',
    "surrogate in UTF-8": b'{"a":"\xed\xa0\x80"}',
    "raw control character": b'{"a":"\x01"}',
    "raw newline": b'{"a":"\n"}',
    "single quotes": b"{'a':1}",
    "comment": b'{"a":1/**/}',
    "empty": b"",
    "cut off": b'{"a":',
    "too deep": b"[" * 201 + b"]" * 201,
    "far too deep": b"[" * 200_000,
    "key beyond ASCII": '{"é":1}'.encode(),
}


@pytest.mark.parametrize("line", LINES_REFUSED.values(), ids=LINES_REFUSED.keys())
def test_a_line_that_is_not_the_canonical_form_is_refused(line: bytes) -> None:
    with pytest.raises(CanonicalizationError):
        parse_line(line)


@pytest.mark.parametrize("line", LINES_REFUSED.values(), ids=LINES_REFUSED.keys())
def test_the_warm_encoder_refuses_the_same_lines(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical, "_orjson", pytest.importorskip("orjson"))
    with pytest.raises(CanonicalizationError):
        parse_line(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1}',
        b'{"a":-1,"b":[],"c":{}}',
        b'{"a":"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f"}',
        '{"a":"é\u2028\U0001f600</script>"}'.encode(),
        b'{"A":1,"a":2,"aa":3}',
        b"null",
    ],
)
def test_a_canonical_line_is_read_and_written_back(line: bytes) -> None:
    assert profile_bytes(parse_line(line)) == line


PARSE_REFUSED = [
    name
    for name in LINES_REFUSED
    if name.startswith(("dup", "byte", "trailing d", "NaN", "over", "lone", "2^53", "too", "far"))
]


@pytest.mark.parametrize("name", PARSE_REFUSED)
def test_reading_is_strict_even_where_bytes_need_not_be_canonical(name: str) -> None:
    with pytest.raises(CanonicalizationError):
        parse(LINES_REFUSED[name])


def test_reading_accepts_json_that_is_not_canonical() -> None:
    assert parse(b' { "b" : 1.5 , "a" : "\\u0041" } ') == {"b": 1.5, "a": "A"}
    assert parse(json.dumps({"\U0001f600": 1}).encode()) == {"\U0001f600": 1}


def test_a_message_never_carries_a_long_value() -> None:
    secret = "s" * 10_000
    with pytest.raises(CanonicalizationError) as caught:
        parse(f'{{"{secret}":1,"{secret}":2}}'.encode())
    assert len(str(caught.value)) < 200
