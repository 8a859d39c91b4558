"""Asking a judge: one request, one attempt, and a judgement whatever happens."""

import time
from collections.abc import Mapping

from toolgate.gate.judge.answers import Answers
from toolgate.gate.judge.backends import Backend, Wire, backend_of
from toolgate.gate.judge.cache import Cache
from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.judgement import Judgement, judged, request_digest, unjudged
from toolgate.gate.judge.request import Request
from toolgate.gate.policy.judge import MOCK, Judge


def ask(
    judge: Judge, request: Request, environ: Mapping[str, str], cache: Cache | None
) -> Judgement:
    """Return what a policy's judge says of a call; why there is nothing is part of it.

    Args:
        judge: the policy's judge.
        request: what it is asked.
        environ: the process environment, for the key.
        cache: kept answers, or None.
    """
    until = time.monotonic() + judge.deadline_ms / 1000
    backend = backend_of(judge)
    wire = backend.encode(request, judge)
    try:
        return _asked(judge, request, wire, backend, environ, cache, until)
    except JudgeError as error:
        return unjudged(judge, request, request_digest(wire), error)


def _asked(
    judge: Judge,
    request: Request,
    wire: Wire,
    backend: Backend,
    environ: Mapping[str, str],
    cache: Cache | None,
    until: float,
) -> Judgement:
    if judge.backend == MOCK:
        from toolgate.gate.judge.backends.mock import answer

        data = answer(judge)
    else:
        # A name that is no pin may stand for another model tomorrow, so its answers are
        # kept for those who decide again, and serve no other call.
        if cache is not None and judge.pinned:
            kept = cache.latest(request_digest(wire))
            if kept is not None:
                made = _judged(judge, request, wire, backend, kept)
                if made.whole:
                    return made._replace(kept=True)
        from toolgate.gate.judge.key import key_of
        from toolgate.gate.judge.send import send

        key = key_of(judge, environ)
        data = send(wire, key, until=until, most_bytes=judge.limits.answer_bytes)
    made = _judged(judge, request, wire, backend, data)
    if cache is not None:
        cache.keep(made.request, data)
    return made


def _judged(judge: Judge, request: Request, wire: Wire, backend: Backend, data: bytes) -> Judgement:
    answers: Answers = backend.decode(data, request, judge)
    return judged(judge, request, request_digest(wire), answers=answers, data=data)
