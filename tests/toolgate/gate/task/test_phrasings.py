"""What is read of prompts, and what it makes of calls: tables of phrasings, one file each.

``phrasings.txt``: a prompt, then each reading on an indented line. ``answers.txt``: the answer,
the prompts (oldest first, between bars) and the command, between semicolons. ``ordinary.txt``:
prompts of ordinary work, which forbid, reserve and allow nothing that a command could be taken for.
"""

from pathlib import Path

import pytest

from toolgate.gate.task.read import read_prompt, the_lexicon
from toolgate.gate.task.statement import FORBIDS, PERMITS, RESERVES, Statement

HERE = Path(__file__).parent


def lines(name: str) -> list[str]:
    return [line for line in (HERE / name).read_text().splitlines() if line.strip()]


def phrasings() -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    prompt = ""
    for line in lines("phrasings.txt"):
        if line.startswith(" "):
            made[prompt].append(line.strip())
        else:
            prompt = line.strip()
            made[prompt] = []
    return made


def told(one: Statement) -> str:
    """Return a statement as the tables write it."""
    lexicon = the_lexicon()
    acts = ",".join(one.acts) or "choice"
    if one.acts == lexicon.beyond_looking:
        acts = "beyond-looking"
    elif one.name == "limit" and one.acts == lexicon.maybe_beyond_looking:
        acts = "maybe-beyond-looking"
    text = f"{one.says} {acts}"
    if one.names:
        names = [f"{name.after} {name.text}".strip() for name in one.names]
        text += f" ({', '.join(names)})"
    if one.but:
        text += f" but {', '.join(name.text for name in one.but)}"
    if one.spare:
        text += f" spare {', '.join(act for act, _ in one.spare)}"
    return text + ("" if one.sure else " if")


TABLE = phrasings()
ANSWERS = [tuple(part.strip() for part in line.split(" ; ", 2)) for line in lines("answers.txt")]


def test_the_tables_are_large_enough_to_mean_something():
    assert len(TABLE) >= 150
    assert sum(not readings for readings in TABLE.values()) >= 15
    assert len(ANSWERS) >= 150
    assert {answer for answer, _, _ in ANSWERS} == {"allow", "ask", "deny"}


@pytest.mark.parametrize("prompt", TABLE)
def test_a_prompt_is_read_as_the_table_says(prompt):
    said, whole = read_prompt(prompt, 1)
    assert whole
    assert [told(one) for one in said] == TABLE[prompt]


@pytest.mark.parametrize(("answer", "prompts", "command"), ANSWERS)
def test_a_command_is_answered_as_the_prompts_want(weighed, answer, prompts, command):
    decision = weighed(command, *prompts.split(" | "))
    assert decision.state == answer, decision.sentence


HARMLESS = (
    "git push origin feature/x",
    "git commit -am x",
    "sed -i s/a/b/ src/a.py",
    "pytest",
    "npm ci",
    "rm build/x.log",
    "cat src/a.py",
    "python tools/gen.py",
)


@pytest.mark.parametrize("prompt", lines("ordinary.txt"))
def test_ordinary_prompts_stop_no_ordinary_work(weighed, prompt):
    said, _ = read_prompt(prompt, 1)
    strict = [one for one in said if one.says in (FORBIDS, RESERVES, PERMITS)]
    assert all(one.names and not one.but for one in strict), [told(one) for one in strict]
    for command in HARMLESS:
        assert weighed(command, prompt).state == "allow"
