"""Rules about traces as data: each legal form beside the fault it resembles.

The traces are files in the words of the systems that write them, so that the
readers are tested with the rules. A clean form has no finding; its fault stands
in the catalogue under the same name.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from catalogue import fault
from vendors import answer, end, event, logs, otlp, span, spans, told, transcript, use, without

from toolgate.canonical import digest

Damage = Callable[[Any], None]


class Clean(NamedTuple):
    """A legal form.

    Args:
        id: the rule.
        make: brings a kit into the form, its trace included.
    """

    id: str
    make: Damage


CLEAN: list[Clean] = []


def clean(name: str) -> Callable[[Damage], Damage]:
    def add(make: Damage) -> Damage:
        CLEAN.append(Clean(name, make))
        return make

    return add


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


@clean("call-that-failed")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit))


@fault("call-that-failed", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a0="error"))


@clean("call-that-was-interrupted")
def _(kit: Any) -> None:
    _ended(kit, "a0", "cancelled")
    kit.spans = told(kit, transcript(kit, a0="interrupted"))


@fault("call-that-was-interrupted", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a0="interrupted"))


@clean("call-that-was-refused-or-stopped")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a8="rejected or stopped", a4="rejected or stopped"))


@fault("call-that-was-refused-or-stopped", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a0="rejected or stopped"))


@clean("refused-call")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit))


@fault("refused-call-that-ran", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a8="ok"))


@fault("refused-call-without-decision", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "rejected")]
    kit.spans = told(kit, transcript(kit) + rows)


@clean("denied-call")
def _(kit: Any) -> None:
    failed = span("a3", "alpha", 99, ok=False)
    kit.spans = told(kit, transcript(kit), [otlp(failed)])


@fault("denied-call-that-ran", "H", "execution.after_deny")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit), [otlp(span("a3", "alpha", 99))])


@clean("background-call")
def _(kit: Any) -> None:
    rows = transcript(kit, a0="launched")
    kit.spans = told(kit, [*rows, end("a0", "alpha", "error")])


@fault("background-call", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.spans = told(kit, [*transcript(kit), end("a0", "alpha", "error")])


# -- calls decided or shown more than once


@clean("deferred-call")
def _(kit: Any) -> None:
    assert len(_decisions(kit, "a5")) == 2
    kit.spans = told(kit, [*transcript(kit), use("a5", "alpha")])


@fault("deferred-call", "H", "execution.span_reused")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit), span("a5", "alpha", 99))])


@clean("decision-that-supersedes")
def _(kit: Any) -> None:
    _decisions(kit, "a5")[0].body["ev"]["decision_state"] = "denied"
    kit.rehash()
    kit.spans = told(kit, transcript(kit))


@fault("decision-that-supersedes", "R", "execution.after_deny")
def _(kit: Any) -> None:
    _decisions(kit, "a5")[1].body["ev"]["decision_state"] = "denied"
    kit.rehash()
    kit.spans = told(kit, transcript(kit))


@clean("span-exported-twice")
def _(kit: Any) -> None:
    made = spans(kit)
    kit.spans = told(kit, [otlp(*made), otlp(*made)], [otlp(*made)])


@fault("span-exported-twice", "H", "execution.span_reused")
def _(kit: Any) -> None:
    made = spans(kit)
    again = {**made[0], "spanId": f"{99:016x}"}
    kit.spans = told(kit, [otlp(*made)], [otlp(again)])


@fault("span-that-was-exported-with-two-endings", "H", "execution.span_reused")
def _(kit: Any) -> None:
    made = spans(kit)
    kit.spans = told(kit, [otlp(*made), otlp({**made[0], "endTimeUnixNano": "1"})])


@clean("two-formats-show-one-call")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit), [otlp(*spans(kit))])


@clean("resumed-transcript")
def _(kit: Any) -> None:
    rows = transcript(kit)
    kit.spans = told(kit, rows, [{**row, "sessionId": "resumed"} for row in rows])


@fault("resumed-transcript", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = transcript(kit)
    copy = [{**row, "sessionId": "resumed"} for row in rows]
    copy[0] = use("a0", "resumed", "rm -rf /")
    kit.spans = told(kit, rows, copy)


@clean("one-id-in-two-sessions")
def _(kit: Any) -> None:
    kit.spans = told(kit, _one_id_in_two_sessions(kit))


@fault("one-id-in-two-sessions", "H", "execution.no_span")
def _(kit: Any) -> None:
    kit.spans = told(kit, [row for row in _one_id_in_two_sessions(kit) if not _is_of_gamma(row)])


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


@clean("subagent")
def _(kit: Any) -> None:
    kit.spans = told(kit, *_subagent(kit))


@fault("subagent-that-no-hook-saw", "H", "execution.no_decision")
def _(kit: Any) -> None:
    main, side = _subagent(kit)
    kit.spans = told(kit, main, [*side, use("b9", "Beta_2", agentId="agent-1")])


@fault("subagent-without-transcript", "H", "execution.trace_missing", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.spans = told(kit, _subagent(kit)[0])


# -- asks


@clean("ask-approved-at-the-host")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit), [answer("a2", "accept", "user_temporary")])


@fault("ask-rejected-at-the-host", "H", "execution.rejected")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit), [answer("a2", "reject", "user_reject")])


@clean("ask-rejected-and-not-run")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit), [answer("a4", "reject", "user_reject")])


@fault("ask-rejected-and-run-unanswered", "H", "execution.rejected", "execution.ask_unanswered")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a4="ok"), [answer("a4", "reject", "user_abort")])


@fault("ask-approved-at-the-host-that-the-ledger-does-not-answer", "H", "execution.ask_unanswered")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit, a4="ok"), [answer("a4", "accept", "user_temporary")])


@clean("rejected-and-then-accepted")
def _(kit: Any) -> None:
    first = event("tool_decision", "a2", "alpha", 1, decision="reject", source="user_reject")
    second = event("tool_decision", "a2", "alpha", 2, decision="accept", source="user_temporary")
    kit.spans = told(kit, transcript(kit), [logs(second, first)])


# -- other arguments, other calls


@clean("arguments-that-were-decided")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit, ids=False))])


@fault("arguments-changed-after-the-decision", "H", "execution.args_differ")
def _(kit: Any) -> None:
    rows = transcript(kit)
    rows[0] = use("a0", "alpha", "rm -rf /")
    kit.spans = told(kit, rows)


@fault("span-without-id-that-nothing-fits", "H", "execution.no_decision")
def _(kit: Any) -> None:
    arguments = {"gen_ai.tool.call.arguments": json.dumps({"command": "rm -rf /"})}
    extra = span(None, "alpha", 99, attributes=arguments)
    kit.spans = told(kit, [otlp(*spans(kit, ids=False), extra)])


@clean("host-that-knows-no-ids")
def _(kit: Any) -> None:
    made = _under_another_id(kit)
    for row in _decisions(kit, "b0"):
        row.body["intent"]["call"] = "made-1-000000000000"
    kit.rehash()
    kit.spans = told(kit, [otlp(*made)])


@fault("call-under-another-id", "H", "execution.no_decision")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*_under_another_id(kit))])


def _under_another_id(kit: Any) -> list[dict[str, Any]]:
    """Return the spans of a kit, that of one call under an id the ledger does not know."""
    arguments = {"gen_ai.tool.call.arguments": json.dumps({"command": "ls b0"})}
    others = [one for one in spans(kit) if "b0" not in json.dumps(one)]
    return [*others, span("provider-7", "Beta_2", 99, attributes=arguments)]


@clean("input-the-host-did-not-accept")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "not accepted")]
    kit.spans = told(kit, transcript(kit) + rows)


@fault("input-the-host-did-accept", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "error")]
    kit.spans = told(kit, transcript(kit) + rows)


@fault("input-that-only-a-tool-says-was-not-accepted", "H", "execution.no_decision")
def _(kit: Any) -> None:
    rows = [use("new", "alpha"), end("new", "alpha", "said to be not accepted")]
    kit.spans = told(kit, transcript(kit) + rows)


# -- traces that are not whole


@clean("sampled")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit, traceState="vendor=x,ot=th:0;rv:01020304050607"))])


@fault("sampled", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = spans(kit, traceState="ot=rv:01020304050607;th:8")
    kit.spans = told(kit, [otlp(*made)])


@fault("sampled-with-a-span-left-out", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = spans(kit, traceState="ot=p:2;r:5")
    del made[1]
    kit.spans = told(kit, [otlp(*made)])


@clean("sampled-beside-a-whole-transcript")
def _(kit: Any) -> None:
    made = spans(kit, traceState="ot=th:8")
    kit.spans = told(kit, transcript(kit), [otlp(*made[::2])])


@clean("nothing-dropped")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit, droppedAttributesCount=0), droppedSpansCount="0")])


@fault("spans-dropped", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit), droppedSpansCount="12")])


@fault("attributes-dropped", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit, droppedAttributesCount=1))])


def _events(kit: Any) -> list[dict[str, Any]]:
    made = []
    for number, one in enumerate(spans(kit)):
        said = {item["key"]: item["value"]["stringValue"] for item in one["attributes"]}
        call, session = said["gen_ai.tool.call.id"], said["gen_ai.conversation.id"]
        success = "false" if one["status"] else "true"
        made.append(event("tool_result", call, session, number, success=success))
    return made


@clean("events-without-a-gap")
def _(kit: Any) -> None:
    kit.spans = told(kit, [logs(*_events(kit))])


@fault("events-with-a-gap", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = _events(kit)
    del made[1]
    kit.spans = told(kit, [logs(*made)])


@fault("torn-transcript", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.spans = told(kit, transcript(kit), tail=b'{"type":"assistant","message":{"con')


@fault("answers-and-no-trace", "H", "execution.trace_missing", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.spans = told(kit, [answer("a2", "accept", "user_temporary")])


@clean("clock-that-is-off")
def _(kit: Any) -> None:
    kit.spans = told(kit, [otlp(*spans(kit, seconds=-7200))])


@fault("clock-that-is-off-and-a-span-is-missing", "H", "execution.no_span")
def _(kit: Any) -> None:
    made = spans(kit, seconds=-7200)
    del made[0]
    kit.spans = told(kit, [otlp(*made)])


@fault("clock-that-is-off-and-the-trace-ends", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    made = spans(kit, seconds=7200)
    kit.spans = told(kit, [otlp(*made[:-1])])
