"""The history of thresholds: what changed from one look to the next is named."""

from pathlib import Path

import pytest

from evalkit.challenge.bars import eased, threshold_changes
from evalkit.challenge.claims import Claim
from evalkit.report.console import summary
from evalkit.report.page import page
from evalkit.report.render import markdown

from .place import Place, many
from .sets import WordGate, build_of


def look(number: int, *texts: str) -> Claim:
    return Claim(
        f"r{number}", number, {"look": number, "fail_if": list(texts), "commit": "c"}, None
    )


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (["match.lower < 0.9"], ["match.lower < 0.8"], "looser"),
        (["match.lower < 0.8"], ["match.lower < 0.9"], "stricter"),
        (["dangerous_allow.upper > 0.05"], ["dangerous_allow.upper > 0.2"], "looser"),
        (["dangerous_allow.upper > 0.05"], ["dangerous_allow.upper >= 0.05"], "stricter"),
        (["permissive > 0"], [], "removed"),
        ([], ["permissive > 0"], "added"),
        (["permissive > 3", "permissive > 1"], ["permissive > 3"], "looser"),
    ],
)
def test_a_change_is_named(before: list[str], after: list[str], change: str):
    claims = [look(1, *before), look(2, *after)]
    found = threshold_changes(claims)
    assert [(row["look"], row["run"], row["change"]) for row in found] == [(2, "r2", change)]
    assert bool(eased(found, "r2")) is (change in ("looser", "removed"))
    assert eased(found, "r1") == []


def test_what_stays_is_no_change():
    assert threshold_changes([look(1, "match < 3"), look(2, "match  <  3")]) == []
    assert (
        threshold_changes([look(1, "match < 3", "match > 9"), look(2, "match > 9", "match < 3")])
        == []
    )
    assert threshold_changes([look(1)]) == []


def test_a_set_that_replaces_another_keeps_its_history(tmp_path: Path):
    place = Place(tmp_path, many())
    place.run(fail_if=("permissive > 0",))
    finished = place.run(WordGate({"deny": "allow"}), build_of("two"), fail_if=("permissive > 9",))
    context, text = finished.context, markdown(finished.context)
    assert [row["change"] for row in context["threshold_changes"]] == ["looser"]
    assert "**Held to less than the look before.** `permissive > 0` became `permissive > 9`" in text
    assert "| permissive \\> 0 | permissive \\> 9 | **looser** |" in text
    said = [line for line, _ in summary(context, "x.md")]
    assert "held to less than the look before: 'permissive > 0' became 'permissive > 9'" in said
    from evalkit.challenge.freeze import load_frozen

    made = load_frozen(str(place.path)).set
    assert "Held to less than the look before" in page(context, made)


def test_a_run_without_thresholds_after_one_with_some_says_so(tmp_path: Path):
    place = Place(tmp_path, many())
    place.run(fail_if=("permissive > 0",))
    text = markdown(place.run(build=build_of("two")).context)
    assert "None for this run." in text
    assert "| **removed** |" in text


def test_another_gate_is_held_to_its_own():
    peer = look(2)._replace(details={"look": 2, "fail_if": [], "gate": "peer"})
    claims = [look(1, "permissive > 0"), peer, look(3, "permissive > 0")]
    assert threshold_changes(claims) == []
