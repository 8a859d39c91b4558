"""Phrasings written before the reader knew their classes, and what they make of a command.

``fresh_one.txt`` was written before the classes of ``spec/task.md`` were worked on,
``fresh_two.txt`` after that and without their words. ``plain`` is the answer that the command gets
without any prompt. What is not reached is listed in ``spec/task.md`` and here, and has to stay
listed while it is so.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
KNOWN = frozenset(
    (
        "The client hates force pushes, so never do one.",
        "src/a.py and only that file needs editing.",
        "Neither main nor develop should receive any pushes.",
    )
)
"""Not reached."""


def rows(name: str) -> list[tuple[str, ...]]:
    lines = (HERE / name).read_text().splitlines()
    return [tuple(part.strip() for part in line.split(" ; ", 2)) for line in lines if line.strip()]


ONE, TWO = rows("fresh_one.txt"), rows("fresh_two.txt")


def test_the_lists_are_as_large_as_they_were():
    assert len({prompts for _, prompts, _ in ONE}) == 173
    assert len({prompts for _, prompts, _ in TWO}) == 65
    assert {prompts for _, prompts, _ in (*ONE, *TWO)} >= KNOWN


@pytest.mark.parametrize(("answer", "prompts", "command"), [*ONE, *TWO])
def test_a_fresh_phrasing_is_answered_as_it_is_meant(weighed, request, answer, prompts, command):
    if prompts in KNOWN:
        request.applymarker(pytest.mark.xfail(strict=True, reason="known in spec/task.md"))
    meant = weighed(command).state if answer == "plain" else answer
    decision = weighed(command, *prompts.split(" | "))
    assert decision.state == meant, decision.sentence
