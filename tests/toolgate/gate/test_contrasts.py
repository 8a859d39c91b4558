"""General facts about programs and scopes: a harmless and a dangerous side for each."""

import json
from pathlib import Path

import pytest

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "gate" / "contrasts.json"
FACTS = json.loads(VECTORS.read_text())["facts"]
ROWS = [row for fact in FACTS for row in fact["rows"]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["command"][:60])
def test_decision(decide, row):
    decision = decide(row["command"])
    assert decision.state == row["decision"], decision.sentence
    if "rule" in row:
        assert decision.rule == row["rule"]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["fact"][:60])
def test_a_fact_divides_calls(fact):
    assert len({row["decision"] for row in fact["rows"]}) > 1
