"""Family files as they are written: every fault of form at once, and never a traceback."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.canonical import digest, parse
from toolgate.errors import PolicyError
from toolgate.gate.catalog.compile import compile_families, compile_sources, sources_of
from toolgate.gate.catalog.describe import describe
from toolgate.gate.catalog.load import shipped
from toolgate.gate.catalog.schema import KEYS as KEYS_OF_ENTRIES
from toolgate.gate.catalog.schema import WHEN_KEYS
from toolgate.gate.catalog.source import read_family

GOOD = b"""\
family: small
about: for a test
programs:
  one: {operands: [read*], values: {-o: write}, when: [{any: [-d], does: [vcs.discard]}]}
  two:
    subcommands: {go: &go {does: ["infra.mutate"]}, run: *go}
    other: {}
  three:
groups: [{names: [four, five], entry: {stop: true, wraps: 1}}]
aliases: {six: one}
"""


def faults(text: str) -> list[str]:
    return read_family("f.yaml", text.encode())[1]


def test_a_family_with_its_form_has_no_faults():
    family, wrong = read_family("f.yaml", GOOD)
    assert wrong == []
    assert sorted(family["programs"]) == ["one", "three", "two"]
    index, _ = compile_sources({"f.yaml": GOOD})
    assert sorted(parse(index)) == ["five", "four", "one", "six", "three", "two"]


def test_the_shipped_families_have_their_form_and_give_the_shipped_catalogue():
    sources = sources_of()
    assert [fault for name, data in sources.items() for fault in read_family(name, data)[1]] == []
    index, _ = compile_families()
    assert digest(index) == shipped().digest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f.yaml: is empty"),
        ("- a\n- b", "the family: expected a mapping, got ['a', 'b']"),
        ("programs: [a", "line 1"),
        ("programs: {a: {}}\nprograms: {b: {}}", "line 2: key 'programs' is given twice"),
        ("programs:\n  a: {}\n  b: {}\n  a: {}", "line 4: key 'a' is given twice"),
        ("programs: [a]", "programs: expected a mapping"),
        ("programs: {a: text}", "a: expected a mapping, got 'text'"),
        ("programs: {a: {values: [-o]}}", "a: values: expected a mapping"),
        ("programs: {a: {values: {-o: [read]}}}", "a: option -o: expected a word"),
        ("programs: {a: {operands: read}}", "a: operands: expected a list of words, got 'read'"),
        ("programs: {a: {does: {x: y}}}", "a: does: expected a list of words"),
        ("programs: {a: {how: [[x]]}}", "a: how: expected a word, got ['x']"),
        ("programs: {a: {stop: [true]}}", "a: stop: expected a word"),
        ("programs: {a: {wraps: {}}}", "a: wraps: expected a word"),
        ("programs: {a: {when: {any: [-x]}}}", "a: when: expected a list of clauses"),
        ("programs: {a: {when: [x]}}", "a: a clause of when: expected a mapping"),
        ("programs: {a: {when: [{any: -x}]}}", "a clause of when: any: expected a list"),
        ("programs: {a: {when: [{value: {-X: get}}]}}", "value of -X: expected a list"),
        ("programs: {a: {subcommands: [x]}}", "a: subcommands: expected a mapping"),
        ("programs: {a: {subcommands: {x: [y]}}}", "a x: expected a mapping"),
        ("programs: {a: {other: x}}", "a (other): expected a mapping"),
        ("programs: {? [a] : {}}", "line 1: found unhashable key"),
        ("programs: {a: {values: }}", "a: values: expected a mapping, got ''"),
        ("programs: {a: {when: }}", "a: when: expected a list"),
        ("programs: {a: {operands: }}", "a: operands: expected a list"),
        ("groups: {names: [a]}", "groups: expected a list"),
        ("groups: [a]", "a group: expected a mapping"),
        ("groups: [{names: [a]}]", "a group: expected the keys names and entry"),
        ("groups: [{names: a, entry: {}}]", "the names of a group: expected a list"),
        ("aliases: {a: [b]}", "alias a: expected a word"),
        ("programs: {a: " + "{other: " * 3_000 + "{}" + "}" * 3_001, "nested too deep"),
    ],
)
def test_a_fault_of_form_says_where_and_what(text, said):
    found = faults(text)
    assert any(said in fault for fault in found), found
    assert all(fault.startswith("f.yaml: ") for fault in found)
    with pytest.raises(PolicyError):
        compile_sources({"f.yaml": text.encode()})


def test_bytes_that_are_no_text_are_a_fault():
    assert read_family("f.yaml", b"a: \xff")[1] == ["f.yaml: not UTF-8 at byte 3"]


def test_an_entry_that_multiplies_by_aliases_is_refused_in_time():
    bomb = ["programs:", "  a0: &a0 {subcommands: {x: {}, y: {}}}"]
    bomb += [f"  a{n}: &a{n} {{subcommands: {{x: *a{n - 1}, y: *a{n - 1}}}}}" for n in range(1, 40)]
    assert any("more than" in fault for fault in faults("\n".join(bomb)))


def test_faults_of_all_files_and_of_all_kinds_are_told_at_once():
    sources = {
        "a.yaml": b"programs: {a: {}, f: {operands: [wrong], odd: x}}",
        "b.yaml": b"programs: {b: {does: x}, c: [y]}",
        "c.yaml": b"programs: {a: {special: nothing}}\naliases: {d: e}",
        "d.yaml": b"{",
    }
    with pytest.raises(PolicyError) as caught:
        compile_sources(sources)
    text = "\n".join(caught.value.faults)
    for said in (
        "b.yaml: b: does",
        "b.yaml: c: expected a mapping",
        "c.yaml: program a is described twice",
        "c.yaml: alias d names e",
        "d.yaml: line",
        "unknown special reading nothing",
        "f: unknown operand role wrong",
        "f: unknown key odd",
    ):
        assert said in text


KEYS = sorted({*KEYS_OF_ENTRIES, *WHEN_KEYS})
SCALARS = ["", "x", "true", "1", "\N{SUPERSCRIPT TWO}", "read*", "-o", "fs.read"]
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYS, "-o"]), below, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_no_family_raises_anything_but_its_faults(entry):
    import yaml

    data = yaml.safe_dump({"programs": {"a": entry}}).encode()
    try:
        index, blobs = compile_sources({"f.yaml": data})
    except PolicyError as error:
        assert error.faults
    else:
        described = parse(blobs[parse(index)["a"]])
        assert describe("a", described)[0] == "a"
