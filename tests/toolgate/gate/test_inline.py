"""Programs given inline: each act beside its harmless twin, and laws for every language.

The laws: an act is found wherever a language lets it stand; Python read by its
tokens says what its tree says; text in a literal is no act; no text crashes the
reader, no call is lost, and twice the text takes at most about twice the time.
"""

import ast
import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.decision import STRICTNESS
from toolgate.gate.effects.inline import code
from toolgate.gate.effects.inline.acts import Acts
from toolgate.gate.effects.inline.lower import lower
from toolgate.gate.effects.inline.network import KINDS
from toolgate.gate.effects.inline.vocabulary import vocabulary
from toolgate.gate.engine import GATE_FAULT

VECTORS = json.loads(
    (Path(__file__).resolve().parents[2] / "vectors" / "gate" / "inline.json").read_text()
)
PROGRAMS = VECTORS["programs"]
ROWS = VECTORS["rows"]
AROUND = [
    (language, context)
    for language, item in VECTORS["contexts"].items()
    for context in item["around"]
]
TREE = ("python", "javascript", "ruby", "perl", "php")


def command(language: str, text: str) -> str:
    return f"{PROGRAMS[language]} '" + text.replace("'", "'\\''") + "'"


def placed(language: str, context: str, act: str) -> str:
    item = VECTORS["contexts"][language]
    return item["before"] + context.replace("ACT", item[act])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['language']} {row['code'][:50]}")
def test_decision(decide, row):
    decision = decide(command(row["language"], row["code"]))
    assert decision.state == row["decision"], decision.sentence
    if "rule" in row:
        assert decision.rule == row["rule"]


@pytest.mark.parametrize("language", PROGRAMS)
def test_each_language_has_acts_and_harmless_twins(language):
    states = [row["decision"] for row in ROWS if row["language"] == language]
    assert states.count("allow") >= 4
    assert len(states) - states.count("allow") >= 4


@pytest.mark.parametrize("language", TREE)
def test_every_act_of_a_table_has_a_reader(language):
    kinds = {act.kind for act in vocabulary(language).acts.values()}
    assert {kind for kind in kinds if not hasattr(Acts, "_" + kind)} <= KINDS


@pytest.mark.parametrize(("language", "context"), AROUND)
def test_an_act_is_found_wherever_it_stands(decide, language, context):
    assert decide(command(language, placed(language, context, "act"))).state == "deny"


@pytest.mark.parametrize(("language", "context"), AROUND)
def test_what_stands_around_is_no_act(decide, language, context):
    decision = decide(command(language, placed(language, context, "harmless")))
    assert decision.state == "allow", decision.sentence


@pytest.mark.parametrize("language", TREE)
@pytest.mark.parametrize("how", ["here-document", "file", "pipe"])
def test_a_program_is_read_alike_however_it_is_given(decide, language, how):
    item = VECTORS["contexts"][language]
    program = PROGRAMS[language].split()[0]
    for act, state in (("act", "deny"), ("harmless", "allow")):
        text = item["before"] + item[act] + (";" if language == "php" else "")
        text = "<?php " + text if language == "php" else text
        spelled = {
            "here-document": f"{program} <<'EOF'\n{text}\nEOF",
            "file": f"cat > /tmp/x.tmp <<'EOF'\n{text}\nEOF\n{program} /tmp/x.tmp",
            "pipe": f"cat <<'EOF' | {program}\n{text}\nEOF",
        }
        decision = decide(spelled[how])
        assert decision.state == state, decision.sentence


PYTHON = [row["code"] for row in ROWS if row["language"] == "python"] + [
    placed("python", context, act)
    for language, context in AROUND
    if language == "python"
    for act in ("act", "harmless")
]


@pytest.mark.parametrize("text", PYTHON)
def test_python_read_by_its_tokens_says_what_its_tree_says(decide, monkeypatch, text):
    by_tree = decide(command("python", text))
    monkeypatch.setattr(code, "_tree", lambda language, text: lower(text, language))
    by_tokens = decide(command("python", text))
    assert by_tokens.state == by_tree.state, by_tokens.sentence


SOUP = {
    "javascript": "( ) { } [ ] , ; = => ? : + - * && || ! a fs 1 if else return new await try",
    "ruby": "( ) { } [ ] , ; = => ? + - * && || ! a b 1 if else do |x| unless begin rescue puts",
    "perl": "( ) { } [ ] , ; = => ? + - * && || ! $a @b 1 if else return unless $_ print push map",
    "php": "( ) { } [ ] , ; = => ? : + - * && || ! $a $b f 1 if else return try catch echo print",
    "python": "( ) { } [ ] , : = + - * and or not a b f 1 if else return try except print yield",
}
NAMES_A_FUNCTION = ("new", "*")


@pytest.mark.parametrize("language", TREE)
def test_no_call_is_lost_in_what_stands_around_it(language):
    chance, pieces = random.Random(11), SOUP[language].split()
    for _ in range(2_000):
        soup = [chance.choice(pieces) for _ in range(chance.randint(1, 12))]
        place = chance.randint(0, len(soup))
        if place and soup[place - 1] in NAMES_A_FUNCTION:
            continue
        soup.insert(place, "act(1)")
        tree, _ = lower(" ".join(soup), language)
        called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert any(isinstance(item, ast.Name) and item.id == "act" for item in called), soup


ACTS = [row for row in ROWS if row["decision"] == "deny" and row["language"] in TREE]


@pytest.mark.parametrize("row", ACTS, ids=lambda row: f"{row['language']} {row['code'][:50]}")
@pytest.mark.parametrize("more", ["{}\n{}", "{}\n\n\n", "\n{}"])
def test_more_of_a_program_never_lowers_its_decision(decide, row, more):
    alone = decide(command(row["language"], row["code"]))
    longer = decide(command(row["language"], more.format(row["code"], row["code"])))
    assert STRICTNESS[longer.state] >= STRICTNESS[alone.state]


PLAIN = st.text("abc XYZ;(){}[]<>|&*/=+-.:,!?#%@~^_019\n", max_size=60)


@settings(max_examples=60, deadline=None)
@given(PLAIN)
@pytest.mark.parametrize(
    ("language", "template"),
    [
        ("python", "print({!r})"),
        ("javascript", "console.log(`{}`)"),
        ("ruby", "puts '{}'"),
        ("perl", "print '{}';"),
        ("php", "echo '{}';"),
        ("awk", 'BEGIN {{ print "{}" }}'),
        ("sql", "SELECT '{}'"),
        ("javascript", "/* {} */ 1"),
        ("php", "/* {} */ echo 1;"),
        ("sql", "SELECT 1 -- {}"),
    ],
)
def test_text_in_a_literal_or_comment_is_no_act(decide, language, template, text):
    one_line = language in ("awk",) or template.endswith("-- {}")
    text = text.replace("*/", "").replace("\n", " " if one_line else "\n")
    decision = decide(command(language, template.format(text)))
    assert decision.state == "allow", decision.sentence


PIECES = (
    *(
        "'",
        '"',
        "`",
        "${",
        "#{",
        "}",
        "{",
        "(",
        ")",
        "[",
        "]",
        "/",
        "\\",
        "\n",
        ";",
        ",",
        ".",
        "=>",
    ),
    *(
        "->",
        "::",
        "$",
        "@",
        "%",
        "&",
        "|",
        "<<A\n",
        "<<~B\n",
        "A\n",
        "q(",
        "%w(",
        "qw(",
        "s/",
        "m{",
    ),
    *(
        "x",
        "=",
        "+=",
        "system",
        "eval",
        "require",
        "import",
        "from",
        "as",
        "for",
        "of",
        "in",
        "def",
    ),
    *("function", "sub", "class", "do", "end", "if", "else", "?", ":", "||", "0", "$_", "@a", "%h"),
    *(
        "lambda",
        "async",
        "await",
        "...",
        "*",
        "**",
        "!",
        "<",
        ">",
        "?>",
        "<?php",
        "//",
        "#",
        "/*",
        "*/",
    ),
    *(
        "é",
        "\U0001d4b3",
        "\x01",
        "=begin\n",
        "=cut\n",
        "__END__",
        "'''",
        'f"{',
        "print",
        "fs.rmSync",
    ),
)


@pytest.mark.parametrize("language", PROGRAMS)
def test_no_text_crashes_a_reader(decide, language):
    chance = random.Random(7)
    for _ in range(250):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 60)))
        decision = decide(command(language, text))
        assert decision.rule != GATE_FAULT, text


def seconds(decide, text: str) -> float:
    begun = time.process_time()
    decide(text)
    return time.process_time() - begun


HOSTILE = [
    "(",
    "{ ",
    '"$a',
    "a.b(c).",
    "x=x+y;",
    "x=[a];x.push(b);",
    "`a`;",
    "s/a/",
    "a=>",
    "<<A\n",
]


@pytest.mark.parametrize("language", TREE)
def test_twice_the_text_takes_about_twice_the_time(decide, language):
    for unit in HOSTILE:
        spent = []
        for size in (6_000, 12_000):
            text = command(language, (unit * size)[:size])
            spent.append(min(seconds(decide, text) for _ in range(3)))
        assert spent[1] <= 4 * spent[0] + 0.05, (unit, spent)
        assert spent[1] < 1, (unit, spent)
