"""The decisions shape: typed questions about one state in, a probability for each out.

    POST {"model", "state", "questions": {NAME: {"type": "noul", "instructions", "criteria"}}}
    {"model"?, "answers": {NAME: {"noul": 0.97}}}

Source: the public description of TypeSafe's and OpenRouter's decision endpoints.
"""

from typing import Any

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError
from toolgate.gate.judge.answers import Answers, checked
from toolgate.gate.judge.backends import Wire
from toolgate.gate.judge.failure import NOT_JSON, SHAPE, JudgeError
from toolgate.gate.judge.questions import Question
from toolgate.gate.judge.request import Request, as_text
from toolgate.gate.policy.judge import Judge

KIND = "noul"
HEADERS = (("content-type", "application/json"), ("accept", "application/json"))


class Decisions:
    """The decisions shape.

    Args:
        folded: whether what makes an answer yes or no is part of the question's text,
            instead of a field of its own.
        headers: more headers.
    """

    def __init__(self, *, folded: bool, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self._folded = folded
        self._headers = (*HEADERS, *headers)

    def encode(self, request: Request, judge: Judge) -> Wire:
        """Return the request's bytes."""
        asked = {one.name: self._question(request.framing, one) for one in request.questions}
        body = {"model": judge.model, "state": request.state, "questions": asked}
        return Wire(judge.url, self._headers, as_text(body).encode("ascii"))

    def decode(self, data: bytes, request: Request, judge: Judge) -> Answers:
        """Return what an answer's bytes say.

        Raises:
            JudgeError: they are no answer of this shape.
        """
        body = json_object(data)
        given = body.get("answers")
        if not isinstance(given, dict):
            raise JudgeError(SHAPE, "the judge's answer has no object answers")
        said = {
            one.name: item.get(KIND) if isinstance(item := given[one.name], dict) else None
            for one in request.questions
            if one.name in given
        }
        return checked(said, body.get("model"))

    def _question(self, framing: str, one: Question) -> dict[str, Any]:
        text = f"{framing}\n\n{one.text}"
        if self._folded:
            return {"type": KIND, "instructions": f"{text}\nYes: {one.yes}\nNo: {one.no}"}
        criteria = {"true": one.yes, "false": one.no}
        return {"type": KIND, "instructions": text, "criteria": criteria}


def json_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object an answer is.

    Raises:
        JudgeError: it is none, has a key twice, or a number that is none.
    """
    try:
        body = parse(data)
    except CanonicalizationError:
        raise JudgeError(NOT_JSON, "the judge's answer is not JSON") from None
    if not isinstance(body, dict):
        raise JudgeError(SHAPE, "the judge's answer is not a JSON object")
    return body


BACKEND = Decisions(folded=False)
"""As a server on this machine speaks it."""
