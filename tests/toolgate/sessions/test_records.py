"""The record, its grammar, its merging and its redaction, row by row of the acceptance list."""

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from toolgate.errors import InputError, RefusedError
from toolgate.sessions.merge import Evidence, evidence, merge, resolve
from toolgate.sessions.record import Record, decode, is_identifier, record_id, text_of
from toolgate.sessions.redact import Paths, paths_of, repository
from toolgate.sessions.store import MAX_RECORD_BYTES, fitted
from toolgate.sessions.trust import CONFIDENCE

SALT = b"0123456789abcdef"
WHOLE = {"sessionId": "s-1", "harness": "codex", "sources": ["jsonl"], "confidence": "low"}


def test_row_1_the_id_is_a_golden_value() -> None:
    name = record_id("claude-code", "3f2b8c1e-0000-4000-8000-000000000001")
    assert name == "fcbedbc2fcc3db3aaf88f69d"


def test_row_2_an_unknown_field_is_refused_without_its_name_or_value() -> None:
    with pytest.raises(RefusedError) as raised:
        decode({**WHOLE, "CANARYKEY": "CANARYVALUE"}, "line 1")
    assert "field 5" in str(raised.value)
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sessionId", "s 1"),
        ("sessionId", "s-1\n"),
        ("harness", "a" * 257),
        ("models", ["has space"]),
        ("repos", ["github.com/acme/app"]),
        ("inputTokens", -1),
        ("inputTokens", True),
        ("costUsd", "0.1"),
        ("start", "2026-11-29T10:00:00+02:00"),
        ("outcome", "fine"),
        ("id", "0" * 24),
        ("sources", ["rumour"]),
        ("confidence", "high"),
        ("who", {"name": "alice"}),
    ],
)
def test_rows_6_7_16_20_what_breaks_the_form_is_refused(field: str, value: object) -> None:
    with pytest.raises(RefusedError):
        decode({**WHOLE, field: value}, "line 1")


def test_row_7_lists_are_sorted_and_a_start_lies_before_its_end() -> None:
    record = decode({**WHOLE, "tools": ["b", "a", "b"], "who": {"agents": ["z", "a"]}}, "x")
    assert (record.tools, record.agents) == (("a", "b"), ("z", "a"))
    with pytest.raises(RefusedError, match="start lies after end"):
        span = {"start": "2026-01-02T00:00:00Z", "end": "2026-01-01T00:00:00Z"}
        decode({**WHOLE, **span}, "x")


def test_row_16_the_grammar_is_of_whole_values() -> None:
    assert is_identifier("a" * 256)
    assert not any(is_identifier(bad) for bad in ("", "a\n", "a b", "é", '"', "@x", "a" * 257))


@given(st.integers(0, 10**15))
def test_row_7_a_cost_comes_back_and_has_one_text(micros: int) -> None:
    record = decode(WHOLE, "x")._replace(cost_micros=micros)
    text = text_of(record)
    assert decode(json.loads(text), "x") == record
    assert rfc8785.dumps(json.loads(text)).decode() == text


words = st.sampled_from(["", "a", "b", "c"])
lists = st.sets(st.sampled_from(["a", "b", "c"])).map(lambda found: tuple(sorted(found)))


@st.composite
def pieces(draw: st.DrawFn) -> Evidence:
    source = draw(st.sampled_from(list(CONFIDENCE)))
    record = Record(
        id=record_id("h", "s"),
        session_id="s",
        harness="h",
        harness_version=draw(words),
        agents=draw(lists),
        tools=draw(lists),
        redacted=draw(st.integers(0, 3)),
        input_tokens=draw(st.integers(0, 3)),
        start=draw(st.none() | st.integers(0, 3)),
        end=draw(st.none() | st.integers(4, 6)),
        outcome=draw(st.sampled_from(["unknown", "error", "completed"])),
    )
    return evidence(record, source)


@given(pieces(), pieces(), pieces())
def test_row_14_merging_is_commutative_associative_and_idempotent(
    a: Evidence, b: Evidence, c: Evidence
) -> None:
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(a, a) == a
    assert merge(merge(a, b), b) == merge(a, b)


def test_row_14_the_most_trusted_source_is_believed_and_counts_are_not_added() -> None:
    base = Record(record_id("h", "s"), "s", "h")
    low = evidence(base._replace(harness_version="9", tools=("a",), input_tokens=7), "jsonl")
    high = evidence(base._replace(unit="u", tools=("b",), input_tokens=5), "gateway")
    mid = evidence(base._replace(harness_version="1"), "otel")
    made = resolve(merge(merge(low, high), mid))
    assert (made.record.harness_version, made.record.tools) == ("1", ("a", "b"))
    assert (made.record.input_tokens, made.record.confidence) == (7, "high")
    assert made.rests["harness_version"] == ["otel"]
    assert made.record.outcome == "unknown"


def test_row_18_paths_are_hashed_to_the_golden_value_or_dropped() -> None:
    assert Paths(SALT).hashed("github.com/acme/app") == "h:e952f650fc0cbe7ea62b974c1234b954"
    assert Paths(None).hashed("github.com/acme/app") is None


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secret@GitHub.com/acme/app.git",
        "git@github.com:acme/app.git",
        "ssh://git@github.com/acme/app",
        "github.com/acme/app/",
    ],
)
def test_row_18_a_repository_has_one_name(url: str) -> None:
    assert repository(url) == "github.com/acme/app"


def test_row_18_a_wrong_mode_or_salt_fails_before_a_source_is_opened(tmp_path) -> None:
    short, shared = tmp_path / "short", tmp_path / "shared"
    short.write_bytes(b"1")
    short.chmod(0o600)
    shared.write_bytes(SALT)
    shared.chmod(0o644)
    for mode, salt in (("hash", None), ("keep", None), ("hash", str(short)), ("hash", str(shared))):
        with pytest.raises(InputError):
            paths_of(mode, salt)


def test_a_record_over_48_kib_keeps_the_first_500_values_and_counts_the_rest() -> None:
    tools = tuple(sorted(f"tool-{number:05}-{'x' * 80}" for number in range(800)))
    record = decode(WHOLE, "x")._replace(tools=tools, files_touched=9)
    assert len(text_of(record)) > MAX_RECORD_BYTES
    short = fitted(record)
    assert (short.tools, short.redacted, short.files_touched) == (tools[:500], 300, 9)
    assert fitted(short) == short
