"""Closing: once, as declared, over a verified ledger, with figures a second count agrees with."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import EvidenceError, RefusedError, UsageError
from evalkit.stats.binomial import clopper_pearson
from evalkit.windows.receipts import read_chain
from toolgate.canonical import digest


def fill(desk: Any, tools: Any, calls: int = 60) -> None:
    """Write a day's calls in four sessions, with outcomes and two approved asks."""
    for place in range(calls):
        state = ("allowed", "allowed", "asked", "allowed", "denied")[place % 5]
        call = desk.maker.decide(
            state,
            tools.start + place * 60_000_000,
            session=f"s{place % 4}",
            tool=("Bash", "Read", "Edit")[place % 3],
            rule=f"rule-{place % 7}",
            code=place % 3 == 0,
        )
        if state == "allowed" or place in (2, 7):
            desk.maker.outcome(call, call.fields.ts + 1_000_000)
    for number in range(4):
        desk.maker.close(f"s{number}", tools.end - 1)


def test_the_figures_are_those_of_an_independent_count(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    done = desk.close()
    counted = tools.second_count(desk.root)
    assert counted["calls"] == done.record["slice"]["rows"] == 60
    for metric, state in zip(done.record["metrics"], ("asked", "denied", "allowed"), strict=True):
        interval = clopper_pearson(counted[state], counted["calls"])
        assert (metric["k"], metric["n"]) == (counted[state], counted["calls"])
        assert metric["rate"] == counted[state] / counted["calls"]
        assert (metric["lower"], metric["upper"]) == (interval.lower, interval.upper)


def test_an_approved_ask_stays_an_ask(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    record = desk.close().record
    approved, executed = record["asks"]
    assert (executed["k"], executed["n"]) == (2, 12)
    assert (approved["k"], approved["n"]) == (0, 12)
    assert record["flow"]["decisions"] == 62
    assert record["flow"]["calls"] == record["flow"]["rows"] == 60


def test_the_tables_add_up(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    record = desk.close().record
    for table in ("by_tool", "by_rule", "by_host", "outcomes", "builds", "policies"):
        assert sum(row["calls"] for row in record["tables"][table]) == 60, table
    for row in record["tables"]["by_tool"]:
        assert row["allowed"] + row["asked"] + row["denied"] == row["calls"] == 20
    assert record["sessions"]["count"] == 4
    assert record["sessions"]["largest"] == 15
    outcomes = {
        (row["state"], row["outcome"]): row["calls"] for row in record["tables"]["outcomes"]
    }
    assert outcomes == {
        ("allowed", "ok"): 36,
        ("asked", "ok"): 2,
        ("asked", "none"): 10,
        ("denied", "none"): 12,
    }


def test_the_share_of_project_code_is_by_rule_and_every_code_that_ran_is_listed(
    desk: Any, tools: Any
) -> None:
    desk.declare()
    for place, rule in enumerate(["runs-project-code"] * 3 + ["read", "runs-in-container"]):
        call = desk.maker.decide(
            "allowed", tools.start + place, rule=rule, code=rule.startswith("runs")
        )
        desk.maker.outcome(call, call.fields.ts + 1)
    desk.maker.close("s1", tools.end - 1)
    record = desk.close().record
    assert (record["project_code"]["k"], record["project_code"]["n"]) == (3, 5)
    assert record["tables"]["allowed_code_by_rule"] == [
        {"rule": "runs-project-code", "calls": 3},
        {"rule": "runs-in-container", "calls": 1},
    ]


def test_the_report_lists_the_judges_and_models_that_are_not_pinned(desk: Any, tools: Any) -> None:
    desk.declare()
    asked = (
        ("typesafe", "jev-1.13.0", True, "jev-1.13.0"),
        ("typesafe", "jev-1.13.0", True, "jev-1.13.0"),
        ("chat", "big-latest", False, "big-2026-10"),
        ("chat", "big-latest", False, None),
    )
    for place, (backend, model, pinned, answered) in enumerate(asked):
        entry = desk.maker.ledger.audit(
            action="judge.asked",
            actor="claude-code",
            target="sha256:" + "a" * 64,
            details={
                "backend": backend,
                "model": model,
                "pinned": pinned,
                "answered_by": answered,
            },
            ts=tools.start + place,
            session="s1",
        )
        one = desk.maker.decide("allowed", tools.start + place, session="s0")
        facts = ({"code": "judge", "entry": entry},)
        intent = one.fields.intent._replace(call=f"judged-{place}")
        fields = one.fields._replace(intent=intent, facts=facts, ts=tools.start + 100 + place)
        call = desk.maker.write("s1", fields)
        desk.maker.outcome(call, call.fields.ts + 1)
        desk.maker.outcome(one, call.fields.ts + 1)
    for session in ("s0", "s1"):
        desk.maker.close(session, tools.end - 1)
    done = desk.close()
    assert done.record["tables"]["judges"] == [
        {
            "backend": "typesafe",
            "model": "jev-1.13.0",
            "pinned": True,
            "answered_by": "jev-1.13.0",
            "calls": 2,
        },
        {
            "backend": "chat",
            "model": "big-latest",
            "pinned": False,
            "answered_by": "big-2026-10",
            "calls": 1,
        },
        {
            "backend": "chat",
            "model": "big-latest",
            "pinned": False,
            "answered_by": "no answer",
            "calls": 1,
        },
    ]
    page = Path(done.files[1]).read_text()
    assert "| typesafe | jev-1.13.0 | pinned | jev-1.13.0 | 2 |" in page
    assert "| chat | big-latest | UNPINNED | big-2026-10 | 1 |" in page
    assert "**UNPINNED:**" in page


def test_a_window_without_a_judge_says_so(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    done = desk.close()
    assert done.record["tables"]["judges"] == []
    page = Path(done.files[1]).read_text()
    assert "No judge was asked about a call of this window." in page
    assert "UNPINNED" not in page


def test_a_good_window_is_valid_and_everything_is_chained(desk: Any, tools: Any) -> None:
    opened = desk.declare()
    fill(desk, tools)
    done = desk.close()
    assert done.record["ledger"]["verdict"] == "CONDITIONAL"
    assert (done.record["grade"], done.record["reasons"]) == ("VALID", [])
    first, last = read_chain(desk.root).receipts
    assert first.details == {"digest": opened.digest, "id": "w1", "head": None}
    assert last.details == {
        "close": done.digest,
        "slice": done.record["slice"]["digest"],
        "grade": "VALID",
    }
    copy = Path(done.files[0]).read_bytes()
    assert digest(copy.removesuffix(b"\n")) == done.digest
    assert json.loads(copy) == done.record


def test_the_report_and_its_twin_say_the_same(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    done = desk.close()
    page, twin = Path(done.files[1]).read_text(), json.loads(Path(done.files[2]).read_text())
    assert page.startswith("# Window w1: VALID\n")
    assert twin["record"] == done.record
    assert twin["close_digest"] == done.digest
    assert twin["markdown_digest"] == digest(page.encode())
    for metric in done.record["metrics"]:
        assert metric["text"] in page
    assert done.record["slice"]["digest"] in page
    assert desk.root not in page
    assert "| of excluded hosts | 0 |" in page
    assert "CONDITIONAL: every check holds, but nothing kept outside the ledger pins" in page
    assert "about the whole ledger" in page


def test_two_ledgers_of_the_same_calls_give_the_same_slice(desk: Any, tools: Any) -> None:
    """The digest follows from the entries alone: cutting again gives it again."""
    from evalkit.windows.close import load_declared
    from evalkit.windows.slice import cut

    desk.declare()
    fill(desk, tools)
    found = desk.close().record["slice"]["digest"]
    made, _ = load_declared(read_chain(desk.root), desk.folder, "w1")
    assert cut(desk.root, made).digest == found


def test_an_edited_declaration_is_refused(desk: Any, tools: Any) -> None:
    made = desk.declare()
    fill(desk, tools)
    copy = Path(made.copy)
    copy.write_bytes(copy.read_bytes().replace(b'"level":0.95', b'"level":0.5'))
    with pytest.raises(RefusedError, match="was edited"):
        desk.close()
    assert not os.path.exists(desk.reports)


def test_even_a_space_is_an_edit(desk: Any, tools: Any) -> None:
    made = desk.declare()
    fill(desk, tools)
    copy = Path(made.copy)
    copy.write_bytes(copy.read_bytes().replace(b'"level":0.95', b'"level": 0.95'))
    with pytest.raises(RefusedError, match="was edited"):
        desk.close()


def test_a_copy_that_is_not_json_or_is_gone_is_refused(desk: Any, tools: Any) -> None:
    made = desk.declare()
    fill(desk, tools)
    Path(made.copy).write_bytes(b"{not json")
    with pytest.raises(EvidenceError):
        desk.close()
    os.unlink(made.copy)
    with pytest.raises(RefusedError, match="is not there"):
        desk.close()


def test_a_window_nobody_declared_is_refused(desk: Any, tools: Any) -> None:
    fill(desk, tools)
    with pytest.raises(RefusedError, match="no declaration"):
        desk.close("other")
    with pytest.raises(UsageError, match="no window id"):
        desk.close("../w1")


def test_a_declaration_of_another_ledger_is_refused(desk: Any, tools: Any, tmp_path: Path) -> None:
    from evalkit.windows.opening import declare

    fill(desk, tools)
    declare(
        tools.declaration.encode(),
        "w",
        root=str(tmp_path / "elsewhere"),
        folder=desk.folder,
        now=tools.start - 1,
    )
    with pytest.raises(RefusedError, match="no declaration"):
        desk.close()
    with pytest.raises(RefusedError, match="has not declared it"):
        desk.declare()


def test_it_cannot_be_closed_before_the_grace_is_over(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    ready = tools.end + 2 * tools.hour
    with pytest.raises(RefusedError, match=r"can be closed from 2026-11-02T02:00:00Z"):
        desk.close(now=ready - 1)
    assert desk.close(now=ready).record["grade"] == "VALID"


def test_closing_twice_is_refused_with_the_first_receipt(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    done = desk.close()
    before = Path(done.files[0]).read_bytes()
    with pytest.raises(RefusedError) as caught:
        desk.close(now=tools.end + 99 * tools.hour)
    for part in (done.digest, done.entry, done.record["slice"]["digest"], "VALID"):
        assert part in str(caught.value)
    assert Path(done.files[0]).read_bytes() == before


def test_an_id_is_declared_once(desk: Any, tools: Any) -> None:
    first = desk.declare()
    for text in (tools.declaration, tools.declaration.replace("ask?", "ask now?")):
        with pytest.raises(RefusedError) as caught:
            desk.declare(text)
        assert first.entry in str(caught.value)
    assert len(read_chain(desk.root).receipts) == 1


def test_a_lost_copy_comes_back_from_the_same_file_only(desk: Any, tools: Any) -> None:
    first = desk.declare()
    os.unlink(first.copy)
    with pytest.raises(RefusedError, match="declared once"):
        desk.declare(tools.declaration.replace("ask?", "ask now?"))
    fill(desk, tools)
    again = desk.declare(now=tools.start + tools.hour)
    assert again.entry == first.entry
    assert (first.restored, again.restored) == (False, True)
    assert again.head == first.head  # as chained, not as the ledger is now
    assert len(read_chain(desk.root).receipts) == 1


def test_a_start_in_the_past_needs_retrospective_and_is_exploratory(desk: Any, tools: Any) -> None:
    fill(desk, tools)
    with pytest.raises(RefusedError, match="retrospective"):
        desk.declare(now=tools.start)
    made = desk.declare(tools.declaration + "retrospective: true\n", now=tools.end)
    assert made.head is not None
    done = desk.close()
    assert done.record["grade"] == "EXPLORATORY"
    assert done.record["declaration"]["head"] == str(made.head)
    assert "EXPLORATORY" in Path(done.files[1]).read_text()


def test_a_ledger_that_does_not_verify_makes_the_window_void(desk: Any, tools: Any) -> None:
    desk.declare()
    fill(desk, tools)
    for path in [*Path(desk.root).glob("spine-*.jsonl"), *Path(desk.root).glob("sessions/*.jsonl")]:
        path.write_bytes(path.read_bytes().replace(b'"rule":"rule-3"', b'"rule":"rule-X"'))
    done = desk.close()
    assert done.record["ledger"]["verdict"] == "FAIL"
    assert done.record["grade"] == "VOID"
    assert "not evidence" in Path(done.files[1]).read_text()


def test_an_empty_window_estimates_nothing(desk: Any, tools: Any) -> None:
    desk.declare()
    done = desk.close()
    assert done.record["slice"]["rows"] == 0
    assert done.record["metrics"][0]["rate"] is None
    page = Path(done.files[1]).read_text()
    assert "0/0 (not estimated)" in page
    assert "so no rate is estimated" in page
    for word in ("| -0 |", "every call was counted", "not estimated).\n", "largest holds"):
        assert word not in page
    assert page.count("\nNo calls.\n") == 4
    assert done.record["grade"] == "VALID WITH DEVIATIONS"


def test_what_a_rule_is_called_cannot_break_the_report(dag_desk: Any, tools: Any) -> None:
    dag_desk.declare()
    call = dag_desk.maker.decide(
        "denied", tools.start, rule="a|b`c\n# <script>[x](y)", tool="*tool*"
    )
    dag_desk.maker.close(call.session, tools.end - 1)
    page = Path(dag_desk.close().files[1]).read_text()
    assert "| a\\|b\\`c # \\<script\\>\\[x\\](y) | 1 | 0 | 0 | 1 |" in page
    assert "\\*tool\\*" in page


def test_two_processes_cannot_hold_the_folder_at_once(desk: Any, tools: Any) -> None:
    from evalkit.windows.folder import held

    desk.declare()
    fill(desk, tools)
    with held(desk.folder), pytest.raises(RefusedError, match="in use"):
        desk.close()


def test_nothing_is_left_when_the_ledger_cannot_be_written(
    desk: Any, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolgate.errors import LedgerError
    from toolgate.ledger.append import Ledger

    def broken(*_args: Any, **_fields: Any) -> str:
        raise LedgerError("cannot append: no space left on device")

    monkeypatch.setattr(Ledger, "audit", broken)
    with pytest.raises(LedgerError):
        desk.declare()
    assert os.listdir(desk.folder) == []
