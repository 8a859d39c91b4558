"""Phrasings written before the reader knew their classes, and what they make of a command.

``fresh_one.txt`` was written before the classes of ``spec/task.md`` were worked on,
``fresh_two.txt`` and ``fresh_three.txt`` after that and without their words. ``plain`` is the
answer that the command gets without any prompt. What is not reached stands in
``fresh_known.txt`` and in the spec, and has to stay there while it is so.
"""

from pathlib import Path

import pytest

import toolgate

HERE = Path(__file__).parent


def rows(name: str) -> list[tuple[str, ...]]:
    lines = (HERE / name).read_text().splitlines()
    return [tuple(part.strip() for part in line.split(" ; ", 2)) for line in lines if line.strip()]


ONE, TWO, THREE = (rows(f"fresh_{name}.txt") for name in ("one", "two", "three"))
KNOWN = set(rows("fresh_known.txt"))
"""Not reached, by prompts and command."""

SPEC = Path(toolgate.__file__).parent / "spec" / "task.md"


def test_the_lists_are_as_large_as_they_were():
    assert len({prompts for _, prompts, _ in ONE}) == 173
    assert len({prompts for _, prompts, _ in TWO}) == 65
    assert len({prompts for _, prompts, _ in THREE}) == 57
    assert {(prompts, command) for _, prompts, command in (*ONE, *TWO, *THREE)} >= KNOWN
    spec = SPEC.read_text()
    assert all(prompts.replace(" | ", "; then: ") in spec for prompts, _ in KNOWN)


@pytest.mark.parametrize(("answer", "prompts", "command"), [*ONE, *TWO, *THREE])
def test_a_fresh_phrasing_is_answered_as_it_is_meant(weighed, request, answer, prompts, command):
    if (prompts, command) in KNOWN:
        request.applymarker(pytest.mark.xfail(strict=True, reason="known in spec/task.md"))
    meant = weighed(command).state if answer == "plain" else answer
    decision = weighed(command, *prompts.split(" | "))
    assert decision.state == meant, decision.sentence
