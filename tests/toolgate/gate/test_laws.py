"""Laws of reading: what cannot change a command's meaning does not change its decision."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.decision import STRICTNESS

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "gate"
COMMANDS = [row["command"] for row in json.loads((VECTORS / "decisions.json").read_text())["rows"]]
SIMPLE = [
    c for c in COMMANDS if not set(c) & set("\n|&;<>(){}$`'\"*?[!#~\\") and "=" not in c.split()[0]
]
ONE_LINE = [c for c in COMMANDS if "\n" not in c and "<<" not in c]


def _as_is(decision):
    return decision.state, decision.effects


def _single(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _double(word: str) -> str:
    return '"' + "".join("\\" + c if c in '"\\$`' else c for c in word) + '"'


def _escaped(word: str) -> str:
    return "".join("\\" + c for c in word)


def _ansi(word: str) -> str:
    return "$'" + "".join(f"\\x{b:02x}" for b in word.encode()) + "'"


def _octal(word: str) -> str:
    return "$'" + "".join(f"\\{b:03o}" for b in word.encode()) + "'"


def _torn(word: str) -> str:
    return "''".join(word)


def _halves(word: str) -> str:
    middle = len(word) // 2
    return f"'{word[:middle]}'\"{word[middle:]}\""


def _continued(word: str) -> str:
    return "\\\n".join(word)


SPELLINGS = [_single, _double, _escaped, _ansi, _octal, _torn, _halves, _continued]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SIMPLE), st.data())
def test_how_a_word_is_spelled_never_changes_its_effect(decide, command, data):
    spelled = " ".join(
        data.draw(st.sampled_from(SPELLINGS))(word)
        if not word.startswith("-") or data.draw(st.booleans())
        else word
        for word in command.split()
    )
    assert _as_is(decide(spelled)) == _as_is(decide(command)), spelled


@pytest.mark.parametrize("spell", SPELLINGS)
def test_how_the_program_is_spelled_never_changes_its_effect(decide, spell):
    assert _as_is(decide(f"{spell('rm')} -rf /")) == _as_is(decide("rm -rf /"))


@pytest.mark.parametrize("command", ONE_LINE, ids=lambda command: command[:60])
def test_blanks_and_comments_never_change_an_effect(decide, command):
    plain = _as_is(decide(command))
    if "#" not in command:
        assert _as_is(decide(command + " # rm -rf / `x` $(y) \" '")) == plain
    assert _as_is(decide(f"# rm -rf / ; `x` \" '\n{command}")) == plain
    assert _as_is(decide(f"\n\n  {command}  \n\n")) == plain


@pytest.mark.parametrize("command", ONE_LINE, ids=lambda command: command[:60])
@pytest.mark.parametrize(
    "more", ["; true", " ; :", " && true", " || true", "\ntrue", " | cat", " &"]
)
def test_what_follows_never_lowers_a_decision(decide, command, more):
    if command.rstrip().endswith(("&", ";", "#")) or "#" in command:
        return
    plain, longer = decide(command), decide(command + more)
    assert STRICTNESS[longer.state] >= STRICTNESS[plain.state], longer.sentence


@pytest.mark.parametrize("command", ONE_LINE, ids=lambda command: command[:60])
@pytest.mark.parametrize(
    "before", ["true; ", "true && ", "false || ", "cd . && ", "sleep 1 & ", "true\n"]
)
def test_what_goes_before_never_lowers_a_decision(decide, command, before):
    plain, longer = decide(command), decide(before + command)
    assert STRICTNESS[longer.state] >= STRICTNESS[plain.state], longer.sentence


@pytest.mark.parametrize("command", SIMPLE)
def test_a_variable_stands_for_its_value(decide, command):
    program, *rest = command.split()
    held = f"p={program}; $p {' '.join(rest)}"
    assert decide(held).state == decide(command).state, held
    if rest:
        held = f'v={_single(rest[-1])}; {program} {" ".join(rest[:-1])} "$v"'
        assert decide(held).state == decide(command).state, held


@pytest.mark.parametrize("command", SIMPLE)
def test_repeating_a_command_never_changes_its_decision(decide, command):
    assert decide(f"{command}; {command}").state == decide(command).state


@pytest.mark.parametrize("text", ["rm -rf /", "$(rm -rf /)", "`rm -rf /`", "; rm -rf / ;", "| sh"])
@pytest.mark.parametrize(
    "mention",
    [
        "echo '{}'",
        "git commit -m '{}'",
        "grep -rn '{}' docs",
        "git commit -F - <<'E'\n{}\nE",
        "cat > docs/x.md <<'E'\n{}\nE",
        "ls # {}",
        "printf '%s' '{}' > notes.txt",
        "git log --grep='{}'",
    ],
)
def test_text_that_is_only_mentioned_has_no_effect_of_its_own(decide, mention, text):
    assert decide(mention.format(text)).state == "allow", decide(mention.format(text)).sentence


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(ONE_LINE), min_size=2, max_size=3), st.data())
def test_the_order_of_independent_commands_never_changes_the_decision(decide, parts, data):
    names = ("cd", "pushd", "IFS=", "eval", "alias", "set ", "export", "source", "=", "cat", "git")
    texts = [part for part in parts if not any(name in part for name in names)]
    if any(part.rstrip().endswith(("&", ";")) or "#" in part for part in texts):
        return
    order = data.draw(st.permutations(texts))
    assert decide("\n".join(order) or ":").state == decide("\n".join(texts) or ":").state
