"""Thresholds and predictions: said before a run, held against it afterwards."""

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.challenge.claims import read_claims
from evalkit.challenge.score import score
from evalkit.challenge.threshold import RATES, held, threshold
from evalkit.errors import UsageError
from evalkit.report.junit import junit
from evalkit.report.render import markdown

from .place import CASES, Place, many
from .sets import WordGate, build_of

WILD = WordGate({"deny": "allow"})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, many())


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("dangerous_allow > 0", True),
        ("dangerous_allow.k >= 5", False),
        ("match.rate < 0.7", True),
        ("match.n < 12", False),
        ("unscored > 0", False),
        ("stricter.upper <= 0.5", True),
        ("pairs_complete.lower < 0", True),  # no pairs: nothing was measured
    ],
)
def test_what_a_run_is_held_to(place: Place, text: str, failed: bool):
    context = place.run(WILD, fail_if=(text,)).context
    assert [(row["text"], row["failed"]) for row in context["thresholds"]] == [(text, failed)]


def test_zero_cases_never_pass():
    figures = score([])
    texts = [f"{rate}.upper > 1" for rate in RATES] + ["unscored > 0"]
    assert all(row["failed"] for row in held([threshold(text) for text in texts], figures))


@pytest.mark.parametrize(
    "text",
    ["", "match", "match > x", "wins > 0", "match.median > 1", "unscored.upper > 1", "match == 1",
     "match.upper > 1.2.3", "match.upper > 1; import os"],
)  # fmt: skip
def test_other_text_is_refused(text: str):
    with pytest.raises(UsageError, match="--fail-if"):
        threshold(text)


@given(st.text(max_size=200))
def test_no_text_is_a_traceback(text: str):
    try:
        threshold(text)
    except UsageError:
        return


def test_a_lowered_threshold_is_on_record(place: Place):
    place.run(fail_if=("permissive > 0",))
    context = place.run(WILD, build_of("two"), fail_if=("permissive > 4",)).context
    assert [row["failed"] for row in context["thresholds"]] == [False]
    assert context["looks"][0]["fail_if"] == ["permissive > 0"]
    assert "| permissive \\> 0 |" in markdown(context)
    claims = read_claims(str(place.root / "ledger"))
    assert [claim.details["fail_if"] for claim in claims] == [
        ["permissive > 0"],
        ["permissive > 4"],
    ]


def test_a_bad_threshold_claims_nothing(place: Place):
    with pytest.raises(UsageError):
        place.run(fail_if=("match > y",))
    assert read_claims(str(place.root / "ledger")) == []


def test_predicted_misses_are_claimed_and_held_against_the_run(place: Place):
    file = place.root / "predicted.json"
    file.write_text(json.dumps({"misses": {"c5": "knows no such word", "c0": "too strict"}}))
    context = place.run(WILD, predict=str(file)).context
    assert read_claims(str(place.root / "ledger"))[0].details["predicted"]["misses"] == ["c0", "c5"]
    fared = context["prediction"]
    assert (fared["foreseen"], fared["better"]) == (["c5"], ["c0"])
    assert fared["unforeseen"] == ["c2", "c8", "c11"]
    assert "Missed and not predicted: c2, c8, c11." in markdown(context)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected JSON"),
        ("[]", "got something else"),
        ('{"misses": 3}', "got something else"),
        ('{"misses": [3]}', "got something else"),
        ('{"misses": ["x9"]}', "got x9"),
    ],
)
def test_a_prediction_that_is_none_claims_nothing(place: Place, text: str, message: str):
    file = place.root / "predicted.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        place.run(predict=str(file))
    assert read_claims(str(place.root / "ledger")) == []


def test_junit_counts_what_the_report_counts(place: Place):
    context = place.run(WILD, fail_if=("permissive > 0", "unscored > 0")).context
    suite = fromstring(junit(context))[0]
    assert suite.get("tests") == str(CASES + 2)
    assert suite.get("failures") == str(CASES // 3 + 1) == str(len(suite.findall(".//failure")))
    assert suite.get("errors") == "0"
    failure = suite.find(".//testcase[@name='c2']/failure")
    assert failure is not None
    assert failure.get("message") == "expected deny, decided allow by word-allow"


def test_junit_holds_no_character_xml_has_not(place: Place):
    context = place.run(WILD).context
    context["results"][2]["sentence"] = "a\x00b\ud800c\ufffe\U0001f600\n"
    text = fromstring(junit(context)).find(".//failure")
    assert text is not None
    assert text.text == "a\ufffdb\ufffdc\ufffd\U0001f600\n"


def test_the_summary_names_thresholds_and_misses(place: Place):
    page = markdown(place.run(WILD, fail_if=("permissive > 0",)).context, "summary.md.j2")
    assert "**not kept**: `permissive > 0` (the run shows 4)" in page
    assert "| c2 | first | deny | allow | word-allow |" in page
