"""A declaration: strict keys, every fault at once, frozen to canonical bytes."""

from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import UsageError
from evalkit.windows.declare import MAX_FILE_BYTES, declaration, read_yaml
from toolgate.canonical import digest, parse

GOOD: dict[str, Any] = {
    "version": 1,
    "id": "w1",
    "question": "How often?",
    "population": {"sql": "tool = 'Bash'"},
    "start": "2026-11-01T00:00:00Z",
    "end": "2026-11-08T00:00:00Z",
    "metrics": [{"name": "ask_rate", "version": 1}],
}
EXAMPLE = Path(__file__).parents[3] / "windows" / "example.yaml"


def test_what_is_left_out_is_filled_in_before_freezing() -> None:
    made = declaration(GOOD, "g")
    assert made.body == {
        **GOOD,
        "population": {"sql": "tool = 'Bash'", "unit": "decision"},
        "interval": "clopper-pearson",
        "level": 0.95,
        "strata": [],
        "sample": {"n": None, "seed_commitment": None},
        "expected": {"build": None, "policy": None},
        "volume": {"min": None, "max": None},
        "exclusions": [],
        "excluded_hosts": ["evalkit"],
        "grace_hours": 0,
        "retrospective": False,
    }
    assert made.end - made.start == 7 * 24 * 3_600_000_000


def test_the_digest_is_of_canonical_bytes_and_reads_back() -> None:
    made = declaration(GOOD, "g")
    assert made.digest() == digest(made.frozen())
    again = declaration(parse(made.frozen()), "copy")
    assert again == made


def test_key_order_and_comments_do_not_matter() -> None:
    text = "\n".join(
        [
            "# a comment",
            "end: 2026-11-08T00:00:00Z",
            "metrics: [{version: 1, name: ask_rate}]",
            "id: w1",
            "population: {sql: \"tool = 'Bash'\"}",
            "start: 2026-11-01T00:00:00Z",
            "question: How often?",
            "version: 1",
        ]
    )
    assert read_yaml(text.encode(), "y").digest() == declaration(GOOD, "g").digest()


def test_the_shipped_example_is_good() -> None:
    made = read_yaml(EXAMPLE.read_bytes(), "example.yaml")
    assert made.body["sample"]["n"] == {
        "state=allowed": 150,
        "state=asked": 50,
        "state=denied": 50,
    }


def test_every_fault_is_named_at_once() -> None:
    bad = {
        "version": 2,
        "id": "A b",
        "surprise": 1,
        "population": {"sql": "random() < 1", "where": 1},
        "start": "2026-11-01",
        "end": "2026-11-01T00:00:00+02:00",
        "metrics": [{"name": "ask_rate", "version": 9}, {"name": "ask_rate"}],
        "strata": ["nope"],
        "sample": {"n": -1, "seed_commitment": "x"},
        "level": 95,
        "volume": {"min": 5, "max": 1},
        "exclusions": [{"sql": 1}],
        "grace_hours": -1,
        "retrospective": "yes",
        "interval": "wald",
    }
    with pytest.raises(UsageError) as caught:
        declaration(bad, "bad.yaml")
    said = str(caught.value)
    for part in (
        *("version: 2", "id: 'A b'", "surprise: unknown key", "question: missing"),
        *("population.where: unknown key", "population.sql: function random"),
        *("start: ", "end: ", "metrics[0]: 'ask_rate' v9", "metrics[1].version: missing"),
        *("strata: 'nope'", "sample.n: ", "sample.seed_commitment: ", "level: 95"),
        *("volume: min is above max", "exclusions[0].reason: missing", "exclusions[0].sql: "),
        *("grace_hours: -1", "retrospective: ", "interval: 'wald'"),
    ):
        assert part in said
    assert said.startswith("bad.yaml: ")


FAULTS: dict[str, dict[str, Any]] = {
    "a moment without zone": {"start": "2026-11-01T00:00:00"},
    "a moment with an offset": {"start": "2026-11-01T00:00:00+00:00"},
    "a day that does not exist": {"start": "2026-02-30T00:00:00Z"},
    "seven digits of a second": {"start": "2026-11-01T00:00:00.1234567Z"},
    "a moment that is a number": {"start": 20261101},
    "an empty span": {"end": "2026-11-01T00:00:00Z"},
    "a span that runs backwards": {"end": "2026-10-01T00:00:00Z"},
    "no metrics": {"metrics": []},
    "a metric twice": {"metrics": [{"name": "ask_rate", "version": 1}] * 2},
    "a metric's version that is true": {"metrics": [{"name": "ask_rate", "version": True}]},
    "an id that is a path": {"id": "../w"},
    "an id that is too long": {"id": "a" * 65},
    "a question of two lines": {"question": "How\noften?"},
    "an empty question": {"question": ""},
    "a level of one": {"level": 1.0},
    "a level that is text": {"level": "0.95"},
    "a population that is text": {"population": "true"},
    "a unit nobody knows": {"population": {"sql": "true", "unit": "session"}},
    "a stratum twice": {"strata": ["state", "state"]},
    "a plan for no stratum": {"sample": {"n": {}}},
    "a plan of true": {"sample": {"n": True}},
    "a short build": {"expected": {"build": "sha256:12"}},
    "a negative volume": {"volume": {"min": -1}},
    "hosts that are text": {"excluded_hosts": "evalkit"},
    "a grace of a thousand years": {"grace_hours": 10**7},
    "a grace that is a fraction": {"grace_hours": 1.5},
    "version that is text": {"version": "1"},
}


@pytest.mark.parametrize("change", FAULTS.values(), ids=FAULTS.keys())
def test_fault(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"g: 1 fault: "):
        declaration(GOOD | change, "g")


@pytest.mark.parametrize(
    ("strata", "stratum", "good"),
    [
        (["state"], "state=asked", True),
        (["state"], "asked", False),
        (["state"], "state=ask", False),
        (["state"], "tool=Bash", False),
        (["state"], "state=asked,tool=Bash", False),
        (["state", "tool"], "state=asked,tool=a,b=c", True),
        (["state", "tool"], "tool=Bash,state=asked", False),
        (["tool"], "tool=anything", True),
        ([], "all", True),
        ([], "state=asked", False),
    ],
)
def test_a_plan_names_the_declared_strata(strata: list[str], stratum: str, good: bool) -> None:
    raw = GOOD | {"strata": strata, "sample": {"n": {stratum: 1}}}
    if good:
        declaration(raw, "g")
        return
    with pytest.raises(UsageError, match=r"g: 1 fault: sample.n: "):
        declaration(raw, "g")
    assert declaration(raw, "g", chained=True).body["sample"]["n"] == {stratum: 1}


@pytest.mark.parametrize("raw", [None, [], "text", 1])
def test_a_declaration_is_a_mapping(raw: Any) -> None:
    with pytest.raises(UsageError, match="expected a mapping"):
        declaration(raw, "g")


@pytest.mark.parametrize(
    "text",
    [
        b"id: w1\nid: w2\n",
        b"a: &x [1]\nb: *x\n",
        b"1: one\n",
        b"{unclosed",
        b"a: b\n---\nc: d\n",
        b"\xff\xfe",
        b"!!python/object/apply:os.system ['true']",
        b"[" * 5000,
        b"a: " + b"x" * MAX_FILE_BYTES,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_yaml_with_surprises_is_refused(text: bytes) -> None:
    with pytest.raises(UsageError, match=r"y\.yaml: "):
        read_yaml(text, "y.yaml")


def test_microseconds_are_kept() -> None:
    made = declaration(GOOD | {"start": "2026-11-01T00:00:00.000001Z"}, "g")
    assert made.start % 1_000_000 == 1
