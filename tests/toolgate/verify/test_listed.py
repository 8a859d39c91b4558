"""Asks, ends, answers and calls nobody decided: the first are listed, the others counted."""

import json

import ledgers
import pytest
import vendors

from toolgate.cli.ledger.sheet import sheet
from toolgate.verify import verify
from toolgate.verify.traces.load import load_trace


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Seven asks that nothing followed, in three sessions."""
    root = tmp_path_factory.mktemp("asked") / "ledger"
    for session, count in (("a", 1), ("b", 2), ("c", 4)):
        writer = ledgers.Writer(root, session)
        for number in range(count):
            writer.decide(f"{session}{number}", "asked")
        writer.close()
    return root


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize(("most", "beyond"), [(0, 7), (2, 5), (4, 3), (7, 0), (8, 0)])
def test_asks(asked, most, beyond, processes):
    report = verify(str(asked), most=most, processes=processes)
    calls = ["a0", "b0", "b1", "c0", "c1", "c2", "c3"]
    assert [ask.call for ask in report.asks] == calls[:most]
    assert report.unlisted == ({"asks": beyond} if beyond else {})
    assert report.as_json()["unlisted"] == report.unlisted


def test_people_are_told_of_all_asks(asked):
    said = "\n".join(sheet(verify(str(asked), most=2), str(asked)))
    assert "Asked and not executed: 7 (for information)" in said
    assert "  and 5 more (--json has the first 2)" in said
    assert "more (--json" not in "\n".join(sheet(verify(str(asked)), str(asked)))


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """Four calls whose end only a transcript shows, two whose answer, three nobody decided."""
    folder = tmp_path_factory.mktemp("traced")
    writer = ledgers.Writer(folder / "ledger", "alpha")
    rows = []
    for number in range(4):
        writer.decide(f"e{number}")
        rows += [vendors.use(f"e{number}", "alpha"), vendors.end(f"e{number}", "alpha", "ok")]
    writer.decide("q0", "asked")
    writer.decide("q1", "asked")
    for number in range(3):
        rows += [vendors.use(f"n{number}", "alpha"), vendors.end(f"n{number}", "alpha", "ok")]
    transcript = folder / "t.jsonl"
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [
        vendors.event("tool_decision", call, "alpha", at, decision="accept", source="user")
        for at, call in enumerate(("q0", "q1"), 1)
    ]
    logs = folder / "logs.json"
    logs.write_text(json.dumps(vendors.logs(*answers)))
    return str(folder / "ledger"), [str(transcript), str(logs)]


def test_what_only_a_trace_knows(traced):
    root, files = traced
    report = verify(root, spans=load_trace(files))
    assert [one.call for one in report.endings] == ["e0", "e1", "e2", "e3", "q0", "q1"]
    assert [one.call for one in report.unmatched] == ["n0", "n1", "n2"]
    assert report.unlisted == {}
    some = verify(root, spans=load_trace(files), most=1)
    assert [one.call for one in some.endings] == ["e0"]
    assert [one.call for one in some.unmatched] == ["n0"]
    assert some.unlisted == {"asks": 1, "ends": 3, "answers": 2, "unmatched": 2}
    assert (some.ends, some.answers) == (report.ends, report.answers) == (4, 2)
    assert [one.call for one in some.asks] == ["q0"]


def test_people_are_told_of_all_that_only_a_trace_knows(traced):
    root, files = traced
    said = "\n".join(sheet(verify(root, spans=load_trace(files), most=1), root))
    assert "4 calls without an end in the ledger, which the trace shows" in said
    assert "2 asks without an answer in the ledger, which telemetry reports" in said


def test_who_writes_them_gets_them_all(traced):
    root, files = traced
    report = verify(root, spans=load_trace(files), most=1, all_endings=True)
    assert len(report.endings) == 6
    assert len(report.unmatched) == 3
    assert report.unlisted == {"asks": 1}
    assert report.more == {"execution.no_decision": 2}
