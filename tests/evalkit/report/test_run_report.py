"""A run's report: the same bytes from the same inputs, and no markup from outside."""

import copy
import json

import pytest

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.read import parse_set
from evalkit.report.console import result_object, summary
from evalkit.report.context import VERDICTS, cannot_say, look_name, short_rate, unknown_looks
from evalkit.report.publish import published_looks, report_name
from evalkit.report.render import cell, markdown, twin, write_report
from evalkit.stats.present import rate_json

from .golden_run import GOLDEN, context, golden_set


def _one_case() -> ChallengeSet:
    case = {"id": "1", "category": "c", "expected": "deny", "command": "ls"}
    made = {"name": "n", "frozen": "2026-01-01", "author": "a", "categories": {"c": ""}}
    return parse_set(json.dumps({**made, "cases": [case]}).encode(), "n.json")


def test_the_page_and_its_twin_are_the_golden_ones():
    """Regenerate with ``python -m tests.evalkit.report.golden_run``, then read the difference."""
    made = context()
    assert markdown(made) == (GOLDEN / "run-report.md").read_text(encoding="utf-8")
    assert twin(made) == (GOLDEN / "run-report.json").read_text(encoding="utf-8")


def test_every_table_row_has_as_many_cells_as_its_head():
    width = 0
    for line in markdown(context()).splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(line.replace("\\|", "").strip("|").split("|"))
        width = width or cells
        assert cells == width, line


def test_text_from_outside_is_no_markup():
    page = markdown(context())
    assert "<script>" not in page
    assert "\\<script\\>alert(1)\\</script\\>, \\[x\\](y)" in page
    assert cell("a\n|b`") == "a \\|b\\`"


def test_a_missing_value_is_an_error_not_a_gap():
    import jinja2

    made = context()
    del made["verification"]["verdict"]
    with pytest.raises(jinja2.UndefinedError):
        markdown(made)


def test_the_console_says_what_the_page_says():
    lines = [text for text, _ in summary(context(), "reports/x.md")]
    text = "\n".join(lines)
    assert lines[0].startswith("golden-set: match 20/24 = 83.33 % [95 % CI 62.61, 95.27; exact")
    assert "look 2 of this set in this ledger: regression" in text
    assert "g03      act: expected deny, decided allow by rule_allow" in text
    assert "verified FAIL" in text
    assert lines[-1] == "report reports/x.md"


def test_the_json_object_has_every_count():
    made = result_object(context(), "reports/x.md")
    json.dumps(made)
    assert {
        name: made[name] for name in ("cases", "match", "permissive", "dangerous_allow", "stricter")
    } == {"cases": 24, "match": 20, "permissive": 2, "dangerous_allow": 1, "stricter": 1}
    assert made["unscored"] == 1
    assert (made["pairs"], made["pairs_complete"]) == (12, 8)
    assert made["set"] == "golden-set"
    assert made["report"] == "reports/x.md"


def test_a_short_rate_keeps_counts_and_limits():
    assert short_rate(rate_json(3, 20)) == "3/20 = 15.00 % [95 % CI 3.20, 37.90]"
    assert short_rate(rate_json(0, 20)) == "0/20 = 0 % [95 % CI 0, 16.85]"
    assert short_rate(rate_json(3, 9)) == "3/9"


def test_every_verdict_has_a_meaning():
    assert VERDICTS.keys() == {"PASS", "FAIL", "INCOMPLETE", "CONDITIONAL"}


@pytest.mark.parametrize(
    ("look", "purpose", "name"),
    [
        (1, "held-out", "held-out"),
        (1, "regression", "regression"),
        (1, "development", "development"),
        (2, "regression", "regression"),
        (2, "development", "development"),
        (3, "held-out", "regression"),
    ],
)
def test_only_a_first_look_is_called_held_out(look: int, purpose: str, name: str):
    assert look_name(look, purpose) == name


def test_no_report_replaces_another_runs(tmp_path):
    made = context()
    directory = str(tmp_path / "reports")
    assert report_name("a set", "b1", "run-1-aaaa", directory) == "a-set-b1"
    write_report(made, golden_set(), directory, "golden-set-b1")
    assert report_name("golden-set", "b1", "run-second", directory) == "golden-set-b1"
    assert report_name("golden-set", "b1", "run-1-aaaa", directory) == "golden-set-b1-aaaa"


def test_published_looks_are_read_and_garbage_is_not(tmp_path):
    made = copy.deepcopy(context())
    write_report(made, golden_set(), str(tmp_path), "one")
    for name, text in {"bad": "{", "list": "[]", "deep": "[" * 9999, "no": '{"schema":1}'}.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "half.json").write_text(json.dumps({**made, "set": {"label": ["x"]}}))
    same = {"set": "x", "set_name": "x", "set_digest": made["set"]["digest"], "supersedes": None}
    other = {**same, "set_digest": "sha256:other"}
    newer = {**other, "supersedes": "golden-set"}
    for details in (same, newer):
        found = published_looks(str(tmp_path), details, set())
        assert [row["run"] for row in found] == ["run-second"]
    assert published_looks(str(tmp_path), same, {"run-second"}) == []
    assert published_looks(str(tmp_path), other, set()) == []
    assert published_looks(str(tmp_path / "none"), same, set()) == []


def test_a_chain_of_published_sets_is_followed_back_in_any_order(tmp_path):
    for name, run, label, before in (
        ("a", "run-old", "old", None),
        ("b", "run-mid", "mid", "old"),
        ("c", "run-else", "else", None),
    ):
        made = copy.deepcopy(context())
        made["run"]["id"] = run
        made["set"] |= {"label": label, "name": label, "digest": label, "supersedes": before}
        write_report(made, golden_set(), str(tmp_path), name)
    newest = {"set": "new", "set_name": "new", "set_digest": "new", "supersedes": "mid"}
    rows = published_looks(str(tmp_path), newest, {"run-mid"})
    assert [row["run"] for row in rows] == ["run-old"]


def test_unknown_looks_stand_under_the_headline():
    made = context()
    assert markdown(made).splitlines()[4].startswith("> **Seen before?** 1 published look")
    held_out = unknown_looks("held-out", [{}, {}])
    assert held_out is not None
    assert held_out.startswith("2 published looks at this set, or at one it replaces, are not")
    assert unknown_looks("held-out", []) is None
    made["run"] |= {"look_name": "held-out", "caution": held_out}
    assert "**held-out**, as far as this ledger knows." in markdown(made)
    lines = [text for text, _ in summary(made, "x.md")]
    assert lines[1] == held_out
    assert "held-out, as far as this ledger knows" in "\n".join(lines)


def test_what_a_reader_may_not_conclude():
    said = " ".join(context()["cannot_say"])
    assert "invisible here" in said
    assert "one group of authors" in said
    assert "a miss on these 24 cases would not exclude a rate of up to 14.25 %" in said
    assert "on the 12 cases to deny would not exclude a rate of up to 26.47 %" in said
    assert "only where at least 6 cases change, all one way" in said


def test_a_miss_rate_that_is_not_excluded_is_rounded_up():
    none = {"n": 0, "two_sided": None, "one_sided": None}
    excluded = {"miss": {"n": 1, "two_sided": 0.97501, "one_sided": 0.95}, "dangerous_allow": none}
    figures = {"cases": 1, "excludes": excluded, "fewest_changes": 6}
    said = " ".join(cannot_say(_one_case(), figures, 1, True))
    assert "on this 1 case would not exclude a rate of up to 97.51 %" in said
    assert "one-sided 95.00 %" in said
    assert "to deny" not in said
    assert "With fewer than 6 cases no change between two runs can be told from chance" in said


def test_a_set_without_pairs_has_no_rows_of_pairs():
    made = context()
    assert "complete pairs (both cases match) | 8/12 = 66.67 % [95 % CI" in markdown(made)
    made["scores"]["pairs"] = 0
    assert "pairs" not in markdown(made)
    assert not any("pairs" in text for text, _ in summary(made, "x.md"))


def test_a_long_list_of_repeated_cases_is_cut():
    made = context()
    made["run"]["repeated"] = [f"g{number}" for number in range(25)]
    assert "g19 and 5 more, in the JSON twin. Each counts once." in markdown(made)
    assert "g20" not in markdown(made)


def test_the_page_says_how_to_verify_the_runs_ledger():
    made = context()
    line = (
        "toolgate ledger verify '<ledger>/runs/run-second' --expect-head "
        + made["ledger"]["run_head"]
    )
    assert line in markdown(made).splitlines()
