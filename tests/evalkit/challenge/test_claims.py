"""Claims: what is spent, and which earlier looks count."""

from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.claims import (
    CLAIMED,
    SEALED,
    Claim,
    lineage,
    read_claims,
    receipt,
    spent,
)
from toolgate.ledger.append import Ledger


def details(**more: Any) -> dict[str, Any]:
    return {
        "set": "set-1",
        "set_name": "one",
        "set_digest": "sha256:1",
        "supersedes": None,
        "build": "sha256:b",
        "policy": "sha256:p",
        "cases": 2,
        **more,
    }


def claim(run: str, **more: Any) -> Claim:
    return Claim(run, 1, details(**more), None)


@pytest.mark.parametrize(
    ("more", "is_spent"),
    [
        ({}, True),
        ({"build": "sha256:c"}, False),
        ({"policy": "sha256:q"}, False),
        ({"set_digest": "sha256:2"}, False),
        ({"set": "renamed", "set_name": "renamed"}, True),
    ],
)
def test_set_build_and_policy_are_claimed_together(more: dict[str, str], is_spent: bool):
    assert bool(spent([claim("r")], details(**more))) is is_spent


@pytest.mark.parametrize(
    ("more", "looks"),
    [
        ({"build": "sha256:c"}, 1),
        ({"policy": "sha256:q"}, 1),
        ({"set": "renamed", "set_name": "renamed"}, 1),
        ({"set_digest": "sha256:2"}, 1),
        ({"set": "b", "set_name": "two", "set_digest": "sha256:2"}, 0),
        ({"set": "b", "set_name": "two", "set_digest": "sha256:2", "supersedes": "set-1"}, 1),
        ({"set": "b", "set_name": "two", "set_digest": "sha256:2", "supersedes": "sha256:1"}, 1),
    ],
)
def test_a_look_belongs_to_a_lineage(more: dict[str, str], looks: int):
    assert len(lineage([claim("r")], details(**more))) == looks


def test_a_chain_of_superseded_sets_is_followed_back():
    first = claim("r1")
    second = claim("r2", set="b", set_name="b", set_digest="sha256:2", supersedes="set-1")
    third = details(set="c", set_name="c", set_digest="sha256:3", supersedes="sha256:2")
    assert lineage([first, second], third) == [first, second]


def test_claims_are_read_from_the_spine(tmp_path: Path):
    ledger = Ledger(str(tmp_path))
    for run in ("r1", "r2"):
        ledger.audit(action=CLAIMED, actor="evalkit", target=run, details=details(), ts=5)
    ledger.audit(action="other", actor="x", target="run.claimed", details={}, ts=6)
    ledger.audit(action=SEALED, actor="evalkit", target="r1", details={"report": "a.md"}, ts=7)
    found = read_claims(str(tmp_path))
    assert [one.run for one in found] == ["r1", "r2"]
    assert found[0].sealed == {"report": "a.md", "ts": 7}
    assert found[1].sealed is None
    assert "report a.md" in receipt(found[0])
    assert "evalkit resume r2" in receipt(found[1])


def test_no_ledger_has_no_claims(tmp_path: Path):
    assert read_claims(str(tmp_path / "none")) == []
