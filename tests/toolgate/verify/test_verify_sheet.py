"""What ``toolgate ledger verify`` tells people: what to do next, what a verdict is worth."""

import ledgers
import pytest
from click.testing import CliRunner

from toolgate.cli.ledger import ledger
from toolgate.cli.ledger.next import NEXT, WORTH, next_step
from toolgate.verify.faults import BY_CODE, FAULTS, MEANING
from toolgate.views.phrases import LAYERS


@pytest.mark.parametrize("code", [fault.code for fault in FAULTS])
def test_every_finding_has_a_next_step_of_its_own_kind(code):
    assert next_step(code)
    assert next_step(code) != NEXT[BY_CODE[code].layer]
    assert len(next_step(code)) < 90


def test_the_longest_beginning_counts_and_a_layer_is_the_last_resort():
    assert next_step("log.session_open") == NEXT["log.session_open"]
    assert next_step("log.session_link") == NEXT["log.session"]
    assert next_step("log.something_new") == NEXT["log"]


def test_every_layer_and_verdict_is_explained():
    assert set(LAYERS) == {fault.layer for fault in FAULTS}
    assert set(WORTH) == set(MEANING)


def test_a_finding_says_what_it_means_and_what_to_do_and_its_consequences_do_not(tmp_path):
    root = tmp_path / "ledger"
    ledgers.build(root)
    kit = ledgers.Kit(root)
    kit.decision("a0").body["ev"]["principal"] = "mallory"
    kit.write()
    said = CliRunner().invoke(ledger, ["verify", str(root)]).output
    assert said.count("    means: ") == said.count("    next:  ") > 0
    assert f"    means: {BY_CODE['log.parent_unknown'].meaning}\n" in said
    assert f"    next:  {next_step('log.parent_unknown')}.\n" in said
    assert "Do not rely on it" in said


@pytest.mark.parametrize("word", ["Layers", "Checked", "Not checked", "Findings: none", "Verdict"])
def test_a_sound_ledger(tmp_path, word):
    ledgers.build(tmp_path / "ledger")
    said = CliRunner().invoke(ledger, ["verify", str(tmp_path / "ledger")]).output
    assert word in said
    assert "    next: " not in said
    assert all(len(line) < 110 for line in said.splitlines())
