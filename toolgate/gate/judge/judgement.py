"""What a judge has said, how far it can be relied on, and the floor that follows. Pure."""

from typing import NamedTuple

from toolgate.canonical import digest
from toolgate.gate.decision import ALLOW, ASK, DENY, JUDGE_RULE, STRICTNESS, Decision
from toolgate.gate.judge.answers import Answers, readings_of, unanswered
from toolgate.gate.judge.backends import Wire
from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.request import Request
from toolgate.gate.policy.judge import MOCK, STATIC, Judge
from toolgate.gate.readings import AUTHORIZED, Reading


class Judgement(NamedTuple):
    """One call, judged or not.

    Args:
        readings: what was answered and counts.
        fault: why there is no answer at all, else "": a word of ``failure``.
        detail: the same as a sentence, else "".
        missing: axes that were asked about and not answered, and why.
        unseen: what of the call or its task the judge was not shown.
        request: digest of the request's address and body.
        answer: digest of the answer's bytes, or None.
        backend: the backend's name.
        model: the model that was asked.
        answered_by: the model that says it answered, if another, else "".
        pinned: whether that names one model for good.
        fail_mode: the policy's word for what stands where an answer is missing.
        kept: whether an answer to the very same request was at hand, so nobody was asked.
    """

    readings: tuple[Reading, ...]
    fault: str
    detail: str
    missing: dict[str, str]
    unseen: tuple[str, ...]
    request: str
    answer: str | None
    backend: str
    model: str
    answered_by: str
    pinned: bool
    fail_mode: str
    kept: bool

    @property
    def whole(self) -> bool:
        """Say whether every axis was answered."""
        return not self.fault and not self.missing

    def floor(self, decided: str) -> str:
        """Return the least strict answer that the judgement leaves possible.

        Args:
            decided: the answer without a judge.
        """
        floors = [ALLOW]
        if not self.whole:
            floors.append(decided if self.fail_mode == STATIC else self.fail_mode)
        if self.unseen:
            floors.append(ASK)
        return max(floors, key=STRICTNESS.__getitem__)

    def because(self) -> str:
        """Say why there is a floor; "" if there is none."""
        said = []
        if self.fault:
            detail = f": {self.detail}" if self.detail else ""
            said.append(f"gave no usable answer ({self.fault}{detail})")
        elif self.missing:
            names = ", ".join(f"{name} ({why})" for name, why in sorted(self.missing.items()))
            said.append(f"did not answer {names}")
        if self.unseen:
            said.append(f"was not shown {' and '.join(self.unseen)}")
        return " and ".join(said)

    def note(self) -> str:
        """Return the sentence that goes with every decision a judge was asked about."""
        pin = "" if self.pinned else ", UNPINNED"
        by = f", answered by {self.answered_by}" if self.answered_by else ""
        kept = "; its kept answer to the same request" if self.kept else ""
        if self.backend == MOCK:
            return f"Judge {self.model} is a mock: its answers are made up."
        return f"Judge: {self.model} ({self.backend}{pin}{by}){kept}."


def request_digest(wire: Wire) -> str:
    """Return the digest of a request's address and body."""
    return digest(wire.url.encode("utf-8") + b"\n" + wire.body)


def judged(
    judge: Judge, request: Request, name: str, *, answers: Answers, data: bytes
) -> Judgement:
    """Return the judgement that an answer makes.

    A missing ``authorized`` softens nothing and leaves nothing open.

    Args:
        judge: the policy's judge.
        request: what was asked.
        name: the request's digest.
        answers: what the answer says.
        data: the answer's bytes.
    """
    other = answers.model is not None and not _same(judge.model, answers.model)
    missing = unanswered(request.questions, answers)
    missing.pop(AUTHORIZED, None)
    return Judgement(
        readings=readings_of(request.questions, answers, judge.model),
        fault="",
        detail="",
        missing=missing,
        unseen=request.unseen,
        request=name,
        answer=digest(data),
        backend=judge.backend,
        model=judge.model,
        answered_by=(answers.model or "") if other else "",
        pinned=judge.pinned and not other,
        fail_mode=judge.fail_mode,
        kept=False,
    )


def _same(asked: str, answered: str) -> bool:
    """Say whether a model is the one asked, under its vendor's prefix or with a fuller version."""
    short, name = (one.rpartition("/")[2] for one in (asked, answered))
    return name == short or name.startswith(short + ".")


def unjudged(judge: Judge, request: Request, name: str, error: JudgeError) -> Judgement:
    """Return the judgement where there is no answer."""
    return Judgement(
        readings=(),
        fault=error.kind,
        detail=str(error),
        missing={},
        unseen=request.unseen,
        request=name,
        answer=None,
        backend=judge.backend,
        model=judge.model,
        answered_by="",
        pinned=judge.pinned,
        fail_mode=judge.fail_mode,
        kept=False,
    )


def settled(decision: Decision, judgement: Judgement, decided: str, unattended: str) -> Decision:
    """Return a decision with what its judgement adds: the floor, and a sentence.

    Args:
        decision: the decision with the judge's readings weighed.
        judgement: the judgement.
        decided: the answer without a judge, before any conversion.
        unattended: what an ask becomes in the call's permission mode.
    """
    floor = judgement.floor(decided)
    state = unattended if floor == ASK else floor
    note = judgement.note()
    if STRICTNESS[state] <= STRICTNESS[decision.state]:
        why = judgement.because()
        more = f" It {why}." if why else ""
        return decision._replace(sentence=f"{decision.sentence} {note}{more}")
    answer = {ASK: "Asking first", DENY: "Denied"}[state]
    sentence = f"{answer}: the judge {judgement.because()} (rule {JUDGE_RULE}). {note}"
    return decision._replace(state=state, rule=JUDGE_RULE, axis=None, sentence=sentence)
