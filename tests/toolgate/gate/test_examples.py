"""Every entry of the catalogue has examples, they hold, and they show all that the entry states."""

import pytest

from toolgate.errors import PolicyError
from toolgate.gate.catalog.compile import compile_families, read_families
from toolgate.gate.catalog.facts import facts_of
from toolgate.gate.catalog.load import Catalog, read_compiled
from toolgate.gate.effects.examples import Described, described, unshown, wrong
from toolgate.gate.policy.model import Policy

FAMILIES = dict(read_families())
FEWEST_PROGRAMS = 350

TINY = """
family: tiny
about: two programs
programs:
  pack:
    values: {-o: write}
    operands: [write*]
    when: [{any: [-l], operands: [read*]}]
  look: {}
aliases: {see: look}
"""
SHOWN = """
examples:
  pack:
    pack a.txt: [fs.write@workspace=a.txt]
    pack -l a.txt: [fs.read@workspace=a.txt]
    pack a.txt -o b.txt: [fs.write@workspace=a.txt, fs.write@workspace=b.txt]
  see:
    see a.txt: [inspect]
"""


@pytest.fixture(scope="module")
def settings():
    return Policy(read_compiled("balanced.json")).settings


@pytest.fixture(scope="module")
def catalog():
    index, entries = compile_families()
    return Catalog(index, entries.__getitem__)


@pytest.mark.parametrize("family", FAMILIES)
def test_examples_hold(family, catalog, settings):
    entries = described(family, FAMILIES[family])
    assert [fault for one in entries for fault in wrong(one, catalog, settings)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_examples_show_what_the_entries_state(family, catalog, settings):
    entries = described(family, FAMILIES[family])
    assert [fault for one in entries for fault in unshown(one, catalog, settings)] == []


def test_the_catalogue_knows_the_programs_people_type(catalog):
    assert len(catalog.names()) >= FEWEST_PROGRAMS


def tiny(folder, text):
    (folder / "tiny.yaml").write_text(text)
    index, entries = compile_families(str(folder))
    family = dict(read_families(str(folder)))["tiny.yaml"]
    return described("tiny.yaml", family), Catalog(index, entries.__getitem__)


def faults(folder, text, settings):
    entries, catalog = tiny(folder, text)
    return [
        fault
        for one in entries
        for fault in (*wrong(one, catalog, settings), *unshown(one, catalog, settings))
    ]


def test_examples_leave_no_trace_in_what_is_compiled(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY)
    without = compile_families(str(tmp_path))
    (tmp_path / "tiny.yaml").write_text(TINY + SHOWN)
    assert compile_families(str(tmp_path)) == without


def test_an_entry_whose_every_fact_is_shown_has_no_fault(tmp_path, settings):
    assert faults(tmp_path, TINY + SHOWN, settings) == []


def test_names_that_share_an_entry_share_its_examples(tmp_path):
    entries, _ = tiny(tmp_path, TINY + SHOWN)
    assert entries[1] == Described(("look", "see"), {"see a.txt": ["inspect"]})


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("    pack a.txt: [fs.write@workspace=a.txt]\n", []),  # -o shows it as well
        (
            "    pack -l a.txt: [fs.read@workspace=a.txt]\n",
            ['pack: no example shows clause {"any": ["-l"], "operands": ["read*"]}'],
        ),
        (
            "    pack a.txt -o b.txt: [fs.write@workspace=a.txt, fs.write@workspace=b.txt]\n",
            ["pack: no example shows value write"],
        ),
        ("  see:\n    see a.txt: [inspect]\n", ["look: no example"]),
    ],
)
def test_a_fact_without_example_is_named(tmp_path, settings, line, missing):
    assert line in SHOWN
    assert faults(tmp_path, TINY + SHOWN.replace(line, ""), settings) == missing


def test_an_example_with_another_effect_is_named(tmp_path, settings):
    text = TINY + SHOWN.replace("[inspect]", "[net.fetch]")
    assert faults(tmp_path, text, settings) == [
        "'see a.txt': expected ['net.fetch'], got ['inspect']"
    ]


@pytest.mark.parametrize(
    ("examples", "fault"),
    [
        ("examples: [a]", "examples are ['a']; expected programs with their commands"),
        ("examples: {pack: {}}", "examples of pack: expected commands with their effects"),
        (
            "examples: {pack: {pack a: inspect}}",
            "examples of pack: 'pack a' has no list of effects",
        ),
        ("examples: {zip: {zip a: [inspect]}}", "examples of zip: this file does not describe zip"),
        (
            "examples: {pack: {pack a: [fs.eat@workspace]}}",
            "examples of pack: 'pack a': unknown effect type fs.eat",
        ),
        (
            "examples: {pack: {pack a: [fs.read@moon]}}",
            "examples of pack: 'pack a': unknown scope moon",
        ),
    ],
)
def test_an_example_that_says_nothing_readable_is_refused(tmp_path, examples, fault):
    (tmp_path / "tiny.yaml").write_text(TINY + examples)
    with pytest.raises(PolicyError) as refused:
        compile_families(str(tmp_path))
    assert refused.value.faults == [f"tiny.yaml: {fault}"]


def test_what_is_said_twice_is_one_fact():
    clause = {"any": ["-f"], "does": ["infra.destroy"]}
    entry = {"subcommands": {"rm": {"when": [clause]}, "del": {"when": [clause]}}}
    (fact,) = facts_of(entry)
    assert fact.lacking == {"subcommands": {"rm": {"when": []}, "del": {"when": []}}}
    assert entry["subcommands"]["rm"]["when"] == [clause]
