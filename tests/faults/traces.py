"""Rules about traces as data: each legal form beside the fault it resembles.

The traces are files in the words of the systems that write them, so that the
readers are tested with the rules.
"""

import json
from typing import Any

from catalogue import fault, legal
from vendors import answer, end, event, logs, otlp, span, spans, tell, transcript, use, without

from toolgate.canonical import digest


def _ended(kit: Any, call: str, terminal: str) -> None:
    """Make the ledger say that a call ended in some way."""
    row = kit.outcome(call)
    row.body["ev"]["terminal_state"] = terminal
    row.body["ev"]["result_digest"] = None if terminal == "refused" else digest(b"result")
    kit.rehash()


def _decisions(kit: Any, call: str) -> list[Any]:
    rows = [row for _, row in kit.rows() if row.body["kind"] == "decision"]
    return [row for row in rows if row.body["intent"]["call"] == call]


# -- how a call ended


@legal("legal-call-that-failed", beside="call-that-failed")
def _(kit: Any) -> None:
    tell(kit, transcript(kit))


@fault("call-that-failed", "H", "execution.state_differs")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a0="error"))


@legal("legal-call-that-was-interrupted", beside="call-that-was-interrupted")
def _(kit: Any) -> None:
    _ended(kit, "a0", "cancelled")
    tell(kit, transcript(kit, a0="interrupted"))


@fault("call-that-was-interrupted", "H", "execution.state_differs")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a0="interrupted"))


@legal("legal-call-that-was-refused-or-stopped", beside="call-that-was-refused-or-stopped")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a8="rejected or stopped", a4="rejected or stopped"))


@fault("call-that-was-refused-or-stopped", "H", "execution.state_differs")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a0="rejected or stopped"))


@legal("refused-call", beside="refused-call-that-the-trace-shows-as-run")
def _(kit: Any) -> None:
    tell(kit, transcript(kit))


@fault("refused-call-that-the-trace-shows-as-run", "H", "execution.state_differs")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a8="ok"))


@fault("refused-call-without-decision", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "rejected")]
    tell(kit, transcript(kit) + rows)


@legal("denied-call", beside="denied-call-that-ran")
def _(kit: Any) -> None:
    failed = span("a3", "alpha", 99, ok=False)
    tell(kit, transcript(kit), [otlp(failed)])


@fault("denied-call-that-ran", "H", "execution.after_deny")
def _(kit: Any) -> None:
    tell(kit, transcript(kit), [otlp(span("a3", "alpha", 99))])


@legal("legal-background-call", beside="background-call")
def _(kit: Any) -> None:
    rows = transcript(kit, a0="launched")
    tell(kit, [*rows, end("a0", "alpha", "error")])


@fault("background-call", "H", "execution.state_differs")
def _(kit: Any) -> None:
    tell(kit, [*transcript(kit), end("a0", "alpha", "error")])


# -- calls decided or shown more than once


@legal("legal-deferred-call", beside="deferred-call")
def _(kit: Any) -> None:
    assert len(_decisions(kit, "a5")) == 2
    tell(kit, [*transcript(kit), use("a5", "alpha")])


@fault("deferred-call", "H", "execution.span_reused")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit), span("a5", "alpha", 99))])


@legal("legal-decision-that-supersedes", beside="decision-that-supersedes")
def _(kit: Any) -> None:
    _decisions(kit, "a5")[0].body["ev"]["decision_state"] = "denied"
    kit.rehash()
    tell(kit, transcript(kit))


@fault("decision-that-supersedes", "R", "execution.after_deny")
def _(kit: Any) -> None:
    _decisions(kit, "a5")[1].body["ev"]["decision_state"] = "denied"
    kit.rehash()
    tell(kit, transcript(kit))


@legal("legal-span-exported-twice", beside="span-exported-twice")
def _(kit: Any) -> None:
    made = spans(kit)
    tell(kit, [otlp(*made), otlp(*made)], [otlp(*made)])


@fault("span-exported-twice", "H", "execution.span_reused")
def _(kit: Any) -> None:
    made = spans(kit)
    again = {**made[0], "spanId": f"{99:016x}"}
    tell(kit, [otlp(*made)], [otlp(again)])


@fault("span-that-was-exported-with-two-endings", "H", "execution.span_reused")
def _(kit: Any) -> None:
    made = spans(kit)
    tell(kit, [otlp(*made), otlp({**made[0], "endTimeUnixNano": "1"})])


@legal("two-formats-show-one-call", beside="span-exported-twice")
def _(kit: Any) -> None:
    tell(kit, transcript(kit), [otlp(*spans(kit))])


@legal("legal-resumed-transcript", beside="resumed-transcript")
def _(kit: Any) -> None:
    rows = transcript(kit)
    tell(kit, rows, [{**row, "sessionId": "resumed"} for row in rows])


@fault("resumed-transcript", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = transcript(kit)
    copy = [{**row, "sessionId": "resumed"} for row in rows]
    copy[0] = use("a0", "resumed", "rm -rf /")
    tell(kit, rows, copy)


@legal("legal-one-id-in-two-sessions", beside="one-id-in-two-sessions")
def _(kit: Any) -> None:
    tell(kit, _one_id_in_two_sessions(kit))


@fault("one-id-in-two-sessions", "H", "execution.no_span")
def _(kit: Any) -> None:
    tell(kit, [row for row in _one_id_in_two_sessions(kit) if not _is_of_gamma(row)])


def _one_id_in_two_sessions(kit: Any) -> list[dict[str, Any]]:
    """Let two sessions use one call id for equal calls; return their transcripts."""
    same = _decisions(kit, "b0")[0].body["ev"]["args_digest"]
    for row in _decisions(kit, "c0"):
        row.body["intent"]["call"] = "b0"
        row.body["ev"]["args_digest"] = same
    kit.rehash()
    return transcript(kit)


def _is_of_gamma(row: dict[str, Any]) -> bool:
    return row["sessionId"] == "gamma" and "b0" in json.dumps(row)


# -- calls of subagents


def _subagent(kit: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Let a subagent make a call; return the two transcripts."""
    for row in _decisions(kit, "b1"):
        row.body["intent"]["agent_id"] = "main/agent-1"
    kit.rehash()
    rows = transcript(kit)
    beside = {"isSidechain": True, "agentId": "agent-1"}
    side = [{**row, **beside} for row in rows if row not in without(rows, "b1")]
    return without(rows, "b1"), side


@legal("subagent", beside="subagent-that-no-hook-saw")
def _(kit: Any) -> None:
    tell(kit, *_subagent(kit))


@fault("subagent-that-no-hook-saw", "H", "execution.no_decision")
def _(kit: Any) -> None:
    main, side = _subagent(kit)
    tell(kit, main, [*side, use("b9", "Beta_2", agentId="agent-1")])


@fault("subagent-without-transcript", "H", "execution.trace_missing", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    tell(kit, _subagent(kit)[0])


# -- asks


@legal("ask-approved-at-the-host", beside="ask-rejected-at-the-host")
def _(kit: Any) -> None:
    tell(kit, transcript(kit), [answer("a2", "accept", "user_temporary")])


@fault("ask-rejected-at-the-host", "H", "execution.rejected")
def _(kit: Any) -> None:
    tell(kit, transcript(kit), [answer("a2", "reject", "user_reject")])


@legal("ask-rejected-and-not-run", beside="ask-rejected-and-run-unanswered")
def _(kit: Any) -> None:
    tell(kit, transcript(kit), [answer("a4", "reject", "user_reject")])


@fault("ask-rejected-and-run-unanswered", "H", "execution.rejected", "execution.ask_unanswered")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a4="ok"), [answer("a4", "reject", "user_abort")])


@fault("ask-approved-at-the-host-that-the-ledger-does-not-answer", "H", "execution.ask_unanswered")
def _(kit: Any) -> None:
    tell(kit, transcript(kit, a4="ok"), [answer("a4", "accept", "user_temporary")])


@legal("rejected-and-then-accepted", beside="ask-rejected-at-the-host")
def _(kit: Any) -> None:
    first = event("tool_decision", "a2", "alpha", 1, decision="reject", source="user_reject")
    second = event("tool_decision", "a2", "alpha", 2, decision="accept", source="user_temporary")
    tell(kit, transcript(kit), [logs(second, first)])


# -- other arguments, other calls


@legal("arguments-that-were-decided", beside="arguments-changed-after-the-decision")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit, ids=False))])


@fault("arguments-changed-after-the-decision", "H", "execution.args_differ")
def _(kit: Any) -> None:
    rows = transcript(kit)
    rows[0] = use("a0", "alpha", "rm -rf /")
    tell(kit, rows)


@fault("span-without-id-that-nothing-fits", "H", "execution.no_decision")
def _(kit: Any) -> None:
    arguments = {"gen_ai.tool.call.arguments": json.dumps({"command": "rm -rf /"})}
    extra = span(None, "alpha", 99, attributes=arguments)
    tell(kit, [otlp(*spans(kit, ids=False), extra)])


@legal("host-that-knows-no-ids", beside="call-under-another-id")
def _(kit: Any) -> None:
    made = _under_another_id(kit)
    for row in _decisions(kit, "b0"):
        row.body["intent"]["call"] = "made-1-000000000000"
    kit.rehash()
    tell(kit, [otlp(*made)])


@fault("call-under-another-id", "H", "execution.no_decision")
def _(kit: Any) -> None:
    tell(kit, [otlp(*_under_another_id(kit))])


def _under_another_id(kit: Any) -> list[dict[str, Any]]:
    """Return the spans of a kit, that of one call under an id the ledger does not know."""
    arguments = {"gen_ai.tool.call.arguments": json.dumps({"command": "ls b0"})}
    others = [one for one in spans(kit) if "b0" not in json.dumps(one)]
    return [*others, span("provider-7", "Beta_2", 99, attributes=arguments)]


@legal("input-the-host-did-not-accept", beside="input-the-host-did-accept")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "not accepted")]
    tell(kit, transcript(kit) + rows)


@fault("input-the-host-did-accept", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "error")]
    tell(kit, transcript(kit) + rows)


@fault("input-that-only-a-tool-says-was-not-accepted", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "said to be not accepted")]
    tell(kit, transcript(kit) + rows)


# -- traces that are not whole


@legal("legal-sampled", beside="sampled")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit, traceState="vendor=x,ot=th:0;rv:01020304050607"))])


@fault("sampled", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = spans(kit, traceState="ot=rv:01020304050607;th:8")
    tell(kit, [otlp(*made)])


@fault("sampled-with-a-span-left-out", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = spans(kit, traceState="ot=p:2;r:5")
    del made[1]
    tell(kit, [otlp(*made)])


@legal("sampled-beside-a-whole-transcript", beside="sampled")
def _(kit: Any) -> None:
    made = spans(kit, traceState="ot=th:8")
    tell(kit, transcript(kit), [otlp(*made[::2])])


@legal("nothing-dropped", beside="spans-dropped")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit, droppedAttributesCount=0), droppedSpansCount="0")])


@fault("spans-dropped", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit), droppedSpansCount="12")])


@fault("attributes-dropped", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit, droppedAttributesCount=1))])


def _events(kit: Any) -> list[dict[str, Any]]:
    made = []
    for number, one in enumerate(spans(kit)):
        said = {item["key"]: item["value"]["stringValue"] for item in one["attributes"]}
        call, session = said["gen_ai.tool.call.id"], said["gen_ai.conversation.id"]
        success = "false" if one["status"] else "true"
        made.append(event("tool_result", call, session, number, success=success))
    return made


@legal("events-without-a-gap", beside="events-with-a-gap")
def _(kit: Any) -> None:
    tell(kit, [logs(*_events(kit))])


@fault("events-with-a-gap", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = _events(kit)
    del made[1]
    tell(kit, [logs(*made)])


@fault("torn-transcript", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    tell(kit, transcript(kit), tail=b'{"type":"assistant","message":{"con')


@fault("answers-and-no-trace", "H", "execution.trace_missing", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    tell(kit, [answer("a2", "accept", "user_temporary")])


@legal("clock-that-is-off", beside="clock-that-is-off-and-a-span-is-missing")
def _(kit: Any) -> None:
    tell(kit, [otlp(*spans(kit, seconds=-7200))])


@fault("clock-that-is-off-and-a-span-is-missing", "H", "execution.no_span")
def _(kit: Any) -> None:
    made = spans(kit, seconds=-7200)
    del made[0]
    tell(kit, [otlp(*made)])


@fault("clock-that-is-off-and-the-trace-ends", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = spans(kit, seconds=7200)
    tell(kit, [otlp(*made[:-1])])
