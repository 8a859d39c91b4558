"""From what a server answered to readings: what is present counts, what is missing is not zero.

Pure.
"""

import math
import re
from typing import Any, NamedTuple

from toolgate.gate.judge.questions import Question
from toolgate.gate.readings import JUDGE, Reading

MISSING, NO_NUMBER, OUT_OF_RANGE, UNSURE = "missing", "not-a-number", "out-of-range", "unsure"
"""Why an answer does not count; ``unsure``: the model said neither yes nor no."""

UNNAMED = "a model whose name cannot be shown"
_NAME = re.compile(r"[A-Za-z0-9~][A-Za-z0-9._:/@+-]{0,119}")


class Answers(NamedTuple):
    """What a server said.

    Args:
        values: probability of yes by question, 0 to 1, not rounded.
        faults: what is wrong with a question's answer, by question, beside those that
            are simply not there.
        model: the model that answered, where the server names it.
    """

    values: dict[str, float]
    faults: dict[str, str]
    model: str | None = None


def checked(said: dict[str, Any], model: Any = None) -> Answers:
    """Return answers from whatever stands for each question.

    Args:
        said: what stands for each question.
        model: the model's name, if the server gave one.
    """
    values: dict[str, float] = {}
    faults: dict[str, str] = {}
    for name, value in said.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            faults[name] = NO_NUMBER
        elif not math.isfinite(value) or not 0 <= value <= 1:
            faults[name] = OUT_OF_RANGE
        else:
            values[name] = float(value)
    return Answers(values, faults, _name(model))


def _name(model: Any) -> str | None:
    """Return a model's name; what a server says in other words never reaches anybody."""
    if not isinstance(model, str):
        return None
    return model if _NAME.fullmatch(model) else UNNAMED


def readings_of(
    questions: tuple[Question, ...], answers: Answers, model: str
) -> tuple[Reading, ...]:
    """Return a reading for every question that was answered, in the questions' order.

    Args:
        questions: what was asked.
        answers: what the server said.
        model: the judge's name.
    """
    return tuple(
        Reading(one.name, answers.values[one.name], JUDGE, f"{JUDGE} {model}", one.text)
        for one in questions
        if one.name in answers.values
    )


def unanswered(questions: tuple[Question, ...], answers: Answers) -> dict[str, str]:
    """Return the questions without an answer that counts, and why."""
    return {
        one.name: answers.faults.get(one.name, MISSING)
        for one in questions
        if one.name not in answers.values
    }
