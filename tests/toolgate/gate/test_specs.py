"""The specification pages name every word the program knows."""

from pathlib import Path

import pytest

import toolgate
from toolgate.gate.catalog import schema
from toolgate.gate.effects.settings import Settings
from toolgate.gate.open import default_gate
from toolgate.gate.policy.match import EFFECT_KEYS

SPEC = Path(toolgate.__file__).parent / "spec"


def _page(name: str) -> str:
    return (SPEC / name).read_text()


@pytest.mark.parametrize("words", [schema.ROLES, schema.KEYS], ids=["roles", "keys"])
def test_catalog_page_is_complete(words):
    assert [word for word in sorted(words) if f"`{word}`" not in _page("catalog.md")] == []


def test_policy_page_is_complete():
    page = _page("policy.md")
    words = {*EFFECT_KEYS, *Settings._fields}
    assert [word for word in sorted(words) if f"`{word}`" not in page] == []


def test_every_qualifier_of_the_shipped_policy_is_explained():
    page = _page("policy.md")
    rules = default_gate().policy.rules
    used = {
        mark
        for rule in rules
        for effect in rule.effects
        for key in ("how", "all", "without")
        for mark in effect.get(key, ())
    }
    assert [mark for mark in sorted(used) if f"`{mark}`" not in page] == []
