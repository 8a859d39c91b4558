"""What a policy's judge would be asked about a call, exactly, for people and as JSON."""

from typing import Any

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.judge.backends import Wire, backend_of
from toolgate.gate.judge.judgement import Judgement, request_digest
from toolgate.gate.judge.request import request_of
from toolgate.gate.judge.when import not_asked
from toolgate.gate.policy.judge import Judge
from toolgate.gate.policy.model import Policy
from toolgate.gate.task.task import Task
from toolgate.views.sheet import plain


def request_json(
    policy: Policy, judge: Judge, call: ToolCall, task: Task, decision: Decision
) -> dict[str, Any]:
    """Return what would be sent.

    Args:
        policy: the policy.
        judge: its judge.
        call: the call.
        task: what the user asked for.
        decision: what the gate finds without a judge.
    """
    closed = not_asked(decision, task)
    request = request_of(call, task, decision, policy, judge)
    wire = backend_of(judge).encode(request, judge)
    return {
        "asked": not closed,
        "not_asked": closed or None,
        "backend": judge.backend,
        "model": judge.model,
        "pinned": judge.pinned,
        "request": request_digest(wire),
        "url": wire.url,
        "headers": dict(_headers(wire, judge)),
        "body": wire.body.decode("ascii"),
        "unseen": list(request.unseen),
        "deadline_ms": judge.deadline_ms,
        "fail_mode": judge.fail_mode,
    }


def request_lines(shown: dict[str, Any]) -> list[str]:
    """Return the same for a terminal; the body is one line, byte for byte as it is sent."""
    pin = "" if shown["pinned"] else "  UNPINNED"
    lines = [
        "judge",
        f"  {shown['model']} ({shown['backend']}){pin}",
        "  asked" if shown["asked"] else f"  not asked: {shown['not_asked']}",
        f"  within {shown['deadline_ms']} ms, else {shown['fail_mode']}",
        *(f"  not shown: {one}" for one in shown["unseen"]),
        f"  request {shown['request']}",
        "",
        f"POST {shown['url'] or '(a mock: nowhere)'}",
        *(f"{name}: {value}" for name, value in shown["headers"].items()),
        "",
        shown["body"],
    ]
    return [plain(line) for line in lines]


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """Return what a judge said."""
    said = judgement._asdict()
    said["readings"] = {one.axis: one.value for one in judgement.readings}
    return said


def judgement_lines(judgement: Judgement) -> list[str]:
    """Return what a judge said for a terminal."""
    lines = [f"  {one.axis:<20} {one.value:.4f}" for one in judgement.readings]
    lines += [f"  {name:<20} no answer: {why}" for name, why in judgement.missing.items()]
    if judgement.fault:
        lines.append(f"  no usable answer ({judgement.fault}): {judgement.detail}")
    return [plain(line) for line in ("the judge said", *lines)]


def _headers(wire: Wire, judge: Judge) -> list[tuple[str, str]]:
    where = judge.key_file or (f"variable {judge.key_variable}" if judge.key_variable else "")
    key = [("authorization", f"Bearer [the key in {where}]")] if where else []
    return [*wire.headers, ("accept-encoding", "identity"), *key]
