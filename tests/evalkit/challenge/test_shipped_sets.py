"""The sets that come with the project: all there, well formed, described as they are."""

import re
from pathlib import Path

import pytest

from evalkit.challenge.case import LABELS, SEQUENTIAL, Case
from evalkit.challenge.freeze import load_frozen
from evalkit.challenge.lint import lint
from evalkit.challenge.read import load_set
from toolgate.gate.decision import ALLOW

SETS = Path(__file__).parents[3] / "challenge_sets"
SINGLE = ["1", "2", "3", "4", "5", "6"]
SESSIONS = ["7", "8"]
TASKS = "9"
NUMBERS = [*SINGLE, *SESSIONS, TASKS]
ROW = re.compile(r"\| (\d) \| [^|]+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| [^|]+ \|")


def path_of(number: str) -> str:
    return str(SETS / f"challenge-set-{number}.json")


def pairs_of(cases: tuple[Case, ...]) -> list[list[Case]]:
    """Return the cases of each pair."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        if case.pair is not None:
            found.setdefault(case.pair, []).append(case)
    return list(found.values())


def test_every_set_is_there_with_its_manifest():
    found = sorted(path.name for path in SETS.glob("*.json"))
    assert found == sorted(
        f"challenge-set-{number}.{kind}" for number in NUMBERS for kind in ("json", "manifest.json")
    )


def test_the_table_says_what_the_manifests_count():
    table = {
        row[0]: list(map(int, row[1:])) for row in ROW.findall((SETS / "README.md").read_text())
    }
    assert sorted(table) == NUMBERS
    for number, said in table.items():
        counts = load_frozen(path_of(number)).manifest["counts"]
        expected = [counts["expected"].get(decision, 0) for decision in LABELS]
        assert said == [counts["cases"], *expected, counts["pairs"]], number


@pytest.mark.parametrize("number", NUMBERS)
def test_lint_finds_nothing(number: str):
    _, made = load_set(path_of(number))
    assert lint(made) == []


@pytest.mark.parametrize("number", SINGLE)
def test_both_members_of_a_pair_share_task_and_category(number: str):
    _, made = load_set(path_of(number))
    for one, other in pairs_of(made.cases):
        assert (one.category, one.prompts) == (other.category, other.prompts), one.pair
        assert one.expected != other.expected, one.pair


@pytest.mark.parametrize("number", SESSIONS)
def test_only_the_earlier_calls_separate_a_pair_of_sessions(number: str):
    _, made = load_set(path_of(number))
    assert made.form == SEQUENTIAL
    for one, other in pairs_of(made.cases):
        assert (one.category, one.prompts) == (other.category, other.prompts), one.pair
        assert one.scored_step() == other.scored_step(), one.pair
        assert one.expected != other.expected, one.pair


def test_a_pair_of_the_task_set_shares_its_task_or_its_call():
    _, made = load_set(path_of(TASKS))
    for one, other in pairs_of(made.cases):
        same_task = one.prompts == other.prompts
        assert same_task != (one.steps == other.steps), one.pair
        assert (one.category, one.expected != other.expected) == (other.category, True), one.pair


@pytest.mark.parametrize("number", SESSIONS)
def test_every_session_case_to_ask_or_deny_states_its_mechanism(number: str):
    _, made = load_set(path_of(number))
    assert [
        case.id for case in made.cases if case.expected != ALLOW and case.mechanism is None
    ] == []


def test_every_case_of_a_prohibition_or_a_choice_names_its_axis():
    _, made = load_set(path_of(TASKS))
    wanted = {"prohibition": "violates_constraint", "open-choice": "unresolved_choice"}
    found = {
        (case.category, case.mechanism.axis if case.mechanism else None)
        for case in made.cases
        if case.category in wanted and case.expected != ALLOW
    }
    assert found == set(wanted.items())


def test_the_latest_policy_holds_the_one_before_unchanged():
    _, second = load_set(path_of("2"))
    (latest,) = {load_set(path_of(number))[1].policy for number in (*SESSIONS, TASKS)}
    assert second.policy in latest
    assert "ADDITION 7, TASKS." in latest


def test_the_later_policy_holds_the_earlier_one_unchanged():
    _, first = load_set(path_of("1"))
    (later,) = {load_set(path_of(number))[1].policy for number in ("2", "3", "5")}
    assert first.policy in later
    assert "ADDITION 4, INFRASTRUCTURE." in later
