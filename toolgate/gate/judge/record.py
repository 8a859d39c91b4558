"""What the ledger keeps of a judgement, and the judgement that can be made of it again. Pure."""

from typing import Any

from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.judgement import Judgement, judged, unjudged
from toolgate.gate.judge.questions import questions_of
from toolgate.gate.judge.request import Request
from toolgate.gate.policy.axes import Axes
from toolgate.gate.policy.judge import Judge

ACTION = "judge.asked"
"""The audit entry that stands for a judgement."""

FACT = "judge"
"""Code of the fact by which a decision names that entry."""


def details_of(judgement: Judgement, *, call: str, tool: str, args_digest: str) -> dict[str, Any]:
    """Return the details of the audit entry; its target is the request's digest.

    Probabilities are decimal texts, since the ledger has no floats. Nothing of the call,
    of the user's words, or of what a server wrote is in it.

    Args:
        judgement: what was said.
        call: the call id its decision will have.
        tool: the tool's name.
        args_digest: digest of the tool's input.
    """
    return {
        "call": call,
        "tool": tool,
        "args_digest": args_digest,
        "backend": judgement.backend,
        "model": judgement.model,
        "answered_by": judgement.answered_by,
        "pinned": judgement.pinned,
        "kept": judgement.kept,
        "answer": judgement.answer,
        "fault": judgement.fault,
        "missing": dict(sorted(judgement.missing.items())),
        "unseen": list(judgement.unseen),
        "readings": {one.axis: repr(one.value) for one in judgement.readings},
    }


def judgement_of(
    request: str, details: dict[str, Any], data: bytes | None, judge: Judge, axes: Axes
) -> Judgement:
    """Return the judgement that an entry stands for, read from the kept answer again.

    Args:
        request: digest of the request, the entry's target.
        details: the entry's details.
        data: the answer's bytes; None where there was no answer.
        judge: the policy's judge.
        axes: the policy's axes.

    Raises:
        JudgeError: the answer cannot be read.
        KeyError, TypeError: the details have another form.
    """
    questions = questions_of(judge.asked, axes, task=True)
    asked = Request("", questions, {}, tuple(map(str, details["unseen"])))
    if data is None:
        return unjudged(judge, asked, request, JudgeError(str(details["fault"]), ""))
    from toolgate.gate.judge.backends import backend_of

    answers = backend_of(judge).decode(data, asked, judge)
    made = judged(judge, asked, request, answers=answers, data=data)
    return made._replace(kept=bool(details["kept"]))
