"""What a policy's judge would be asked about a call, exactly; and, if wanted, what it says."""

import os
from typing import Any, NamedTuple

import click

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.engine import Gate
from toolgate.gate.facts.session import Session
from toolgate.gate.judge.backends import Wire, backend_of
from toolgate.gate.judge.cache import users_cache
from toolgate.gate.judge.consult import consult
from toolgate.gate.judge.judgement import Judgement, request_digest
from toolgate.gate.judge.request import request_of
from toolgate.gate.judge.when import not_asked
from toolgate.gate.policy.judge import Judge
from toolgate.gate.task.task import NO_TASK
from toolgate.views.sheet import plain


class Judged(NamedTuple):
    """A call and its judge.

    Args:
        decision: the decision; with what the judge said, if it was asked.
        request: what would be sent, as JSON.
        judgement: what the judge said, as JSON; None if nobody was asked.
    """

    decision: Decision
    request: dict[str, Any]
    judgement: dict[str, Any] | None

    def lines(self) -> list[str]:
        """Return request and judgement for a terminal; the body is one line, as it is sent."""
        request = self.request
        pin = "" if request["pinned"] else "  UNPINNED"
        lines = [
            "judge",
            f"  {request['model']} ({request['backend']}){pin}",
            "  asked" if request["asked"] else f"  not asked: {request['not_asked']}",
            f"  within {request['deadline_ms']} ms, else {request['fail_mode']}",
            *(f"  not shown: {one}" for one in request["unseen"]),
            f"  request {request['request']}",
            "",
            f"POST {request['url'] or '(a mock: nowhere)'}",
            *(f"{name}: {value}" for name, value in request["headers"].items()),
            "",
            request["body"],
        ]
        return [plain(line) for line in [*lines, *self._said()]]

    def _said(self) -> list[str]:
        made = self.judgement
        if made is None:
            return []
        lines = ["", "the judge said" + (" (kept answer)" if made["kept"] else "")]
        lines += [f"  {axis:<20} {value:.4f}" for axis, value in made["readings"].items()]
        lines += [f"  {axis:<20} no answer: {why}" for axis, why in made["missing"].items()]
        if made["fault"]:
            lines.append(f"  no usable answer ({made['fault']}): {made['detail']}")
        return lines


def judged(
    gate: Gate, call: ToolCall, session: Session, decision: Decision, *, ask: bool
) -> Judged:
    """Return what a policy's judge would be asked about a call, and what it says.

    Args:
        gate: the gate.
        call: the call, with its task.
        session: what is known of the session before it.
        decision: what the gate finds without a judge.
        ask: whether to ask.

    Raises:
        UsageError: the policy names no judge.
    """
    judge, task = gate.policy.judge, call.task or NO_TASK
    if judge is None:
        raise click.UsageError(f"policy {gate.policy.name} names no judge")
    request = request_of(call, task, decision, gate.policy, judge)
    wire = backend_of(judge).encode(request, judge)
    closed = not_asked(decision, task)
    shown = {
        "asked": not closed,
        "not_asked": closed or None,
        "backend": judge.backend,
        "model": judge.model,
        "pinned": judge.pinned,
        "request": request_digest(wire),
        "url": wire.url,
        "headers": _headers(wire, judge),
        "body": wire.body.decode("ascii"),
        "unseen": list(request.unseen),
        "deadline_ms": judge.deadline_ms,
        "fail_mode": judge.fail_mode,
    }
    if not ask:
        return Judged(decision, shown, None)
    consulted = consult(
        gate.policy,
        call,
        task,
        decision,
        lambda readings: gate.decide(call, session, readings=readings),
        os.environ,
        users_cache(),
    )
    if consulted is None:
        return Judged(decision, shown, None)
    return Judged(consulted.decision, shown, _said(consulted.judgement))


def _said(judgement: Judgement) -> dict[str, Any]:
    said = judgement._asdict()
    said["readings"] = {one.axis: one.value for one in judgement.readings}
    return said


def _headers(wire: Wire, judge: Judge) -> dict[str, str]:
    """Return the headers, with the key's place instead of the key."""
    where = judge.key_file or (f"variable {judge.key_variable}" if judge.key_variable else "")
    key = {"authorization": f"Bearer [the key in {where}]"} if where else {}
    return {**dict(wire.headers), "accept-encoding": "identity", **key}
