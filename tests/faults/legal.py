"""Legal forms: what an honest writer leaves behind, each beside the fault it resembles."""

import json
from pathlib import Path
from typing import Any

from catalogue import BASES, legal
from damage import show_call
from ledgers import SPINE, START, Kit, Writer, fields

from toolgate.canonical import digest, digest_of

SESSION = "s"
FILE = "sessions/s.jsonl"


def plain(root: Path) -> None:
    """Write one session with a call that was allowed, one that was denied, and an open ask."""
    one = Writer(root, SESSION)
    one.prompt("p1")
    one.decide("c0")
    one.outcome("c0")
    one.decide("c1", "denied")
    one.decide("c2", "asked")
    one.stop()
    one.close()


BASES["plain"] = plain


def writer(kit: Any, session: str = SESSION, **setting: Any) -> Writer:
    """Return a writer that goes on where the plain ledger ends."""
    made = Writer(kit.root, session, **setting)
    made.ts = START + 1_000_000
    return made


def span(call: str, **more: Any) -> dict[str, Any]:
    """Return a row of a transcript that shows a tool call of the plain ledger's session."""
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"ls {call}"}}
    return {
        "type": "assistant",
        "sessionId": SESSION,
        "timestamp": "2027-01-15T08:00:01.000Z",
        "message": {"role": "assistant", "content": [block]},
        **more,
    }


def answer(call: str, *, error: bool = False) -> dict[str, Any]:
    """Return a row of a transcript that shows what a call gave."""
    block = {"type": "tool_result", "tool_use_id": call, "content": "x", "is_error": error}
    return {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": [block]}}


def transcript(*rows: dict[str, Any]) -> bytes:
    """Return a transcript's bytes."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


# -- whole ledgers


@legal("sound", beside="principal-rewritten")
def _(kit: Any) -> None:
    pass


@legal("sound-with-trace-and-pin", beside="span-missing")
def _(kit: Any) -> None:
    kit.spans, kit.pin = kit.trace(), kit.head


@legal(
    "sound-with-trace-and-pin-and-no-inferred-ask",
    beside="span-missing",
    verdict="PASS",
    base="plain",
)
def _(kit: Any) -> None:
    kit.spans, kit.pin = kit.trace(), kit.head


@legal("pin-before-the-end", beside="another-head-is-known")
def _(kit: Any) -> None:
    row = kit.spine[9]
    kit.pin = (row.body["seq"], row.old)


@legal("other-files-beside-the-ledger", beside="session-file-removed", base="plain")
def _(kit: Any) -> None:
    (kit.root / "runs" / "r1").mkdir(parents=True)
    (kit.root / "runs" / "r1" / SPINE).write_bytes(b"garbage\n")
    (kit.root / "sessions" / "empty.jsonl").write_bytes(b"")
    (kit.root / "sessions" / "notes.txt").write_bytes(b"notes\n")
    (kit.root / "spine-1.jsonl").write_bytes(b"garbage\n")
    (kit.root / "run.json").write_bytes(b"{}")


# -- sessions and turns


@legal("second-part-of-a-session", beside="session-opened-twice", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.outcome("d0")
    made.close()


@legal("linear-session", beside="linear-fork", base="plain")
def _(kit: Any) -> None:
    made = writer(kit, "t", shape="linear")
    made.prompt(None)
    made.decide("d0")
    made.decide("d1")
    made.outcome("d1")
    made.stop()
    made.outcome("d0")
    made.close()


@legal("measuring-run", beside="run-in-the-trace", base="plain")
def _(kit: Any) -> None:
    made = writer(kit, "t", executes=False, host="evalkit")
    made.decide("d0")
    made.decide("d1", "denied")
    made.close()


@legal("session-names-of-any-kind", beside="session-renamed", base="plain")
def _(kit: Any) -> None:
    for session in ("", "Ünï/../côde", "x" * 65, "-lead", "a\tb\u2028c"):
        made = writer(kit, session)
        made.decide("d-" + session)
        made.outcome("d-" + session)
        made.close()


@legal("turn-without-entries", beside="decision-dropped", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.prompt("p2")
    made.prompt("p3")
    made.prompt("p2")
    made.close()


@legal("turn-at-its-limit", beside="turn-too-long")
def _(kit: Any) -> None:
    base = kit.decision("a3")
    at = kit.alpha.index(base)
    held = sum(row.body["turn"] == 1 for row in kit.alpha)
    for number in range(512 - held):
        more = kit.copy(base)
        more.old, more.old_event = digest(b"%d" % number), digest(b"event %d" % number)
        more.old_ref = f"ref {number}"
        more.body["intent"]["call"] = f"more-{number}"
        kit.alpha.insert(at, more)
    kit.rehash()


@legal("independent-entries-in-another-order", beside="outcome-before-decision")
def _(kit: Any) -> None:
    kit.alpha[0], kit.alpha[1] = kit.alpha[1], kit.alpha[0]
    kit.write()


@legal("policy-changed-in-a-turn", beside="policy-not-announced", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0", "denied")
    other = json.dumps({"classes": [{"name": "sh", "tools": ["B*h", "x?"]}]}).encode()
    changed = fields("d1", "denied", ts=made.tick())
    changed = changed._replace(policy_version=digest(other), action_class="sh")
    made.ledger.decide(SESSION, key=None, fields=changed, policy=other, ts=made.ts)
    made.close()


@legal("class-patterns-know-no-sign-but-the-star", beside="class-relabelled", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    rows = [
        {"name": "a", "tools": ["B?sh", "[B]ash", "B*a*sh*h"]},
        {"name": "b", "tools": ["*a*h"], "effects": []},
    ]
    policy = json.dumps({"classes": [*rows, {"name": "c", "tools": []}]}).encode()
    for tool, name in (("Bash", "b"), ("Read", "c")):
        one = fields("d" + name, "denied", ts=made.tick(), tool=tool)
        one = one._replace(policy_version=digest(policy), action_class=name)
        made.ledger.decide(SESSION, key=None, fields=one, policy=policy, ts=made.ts)
    made.close()


@legal("audit-entries", beside="ran-without-decision", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    details = {"deep": [{"a": [None, True, -1, 9007199254740991, "\u00e9\U0001f600\n"]}], "z": {}}
    made.ledger.audit(action="set.frozen", actor="x", target=None, details=details, ts=made.tick())
    more = {"action": "execution.seen", "actor": "x", "target": "t", "session": SESSION}
    made.ledger.audit(details={}, ts=made.tick(), **more)


# -- calls


@legal("equal-calls-at-one-time", beside="action-decided-twice", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    for call in ("d0", "d1"):
        made.ts = START + 1_000_000
        made.decide(call, args={"command": "ls"})
    for call in ("d1", "d0"):
        made.outcome(call, args_digest=digest_of({"command": "ls"}))
    made.close()
    kit.spans = Kit(kit.root).trace()


@legal("call-decided-again-before-it-ran", beside="action-decided-twice", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0", "asked")
    made.decide("d0")
    made.stop()
    made.decide("d0")
    made.outcome("d0")
    made.close()


@legal("late-outcome", beside="outcome-replayed-in-a-later-turn", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.decide("d1")
    made.stop()
    made.outcome("d0")
    made.prompt("p2")
    made.outcome("d1")
    made.close()


@legal(
    "unresolved-call-reported-later",
    beside="late-outcome-does-not-name-what-it-replaces",
    base="plain",
)
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.decide("d1")
    made.close()
    made.outcome("d0", "timeout")
    made.outcome("d1", "refused")


@legal("vetoed-call", beside="outcome-removed", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.outcome("d0", "refused")
    made.close()


@legal("ask-answered-by-its-execution", beside="outcome-for-an-ask", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0", "asked")
    made.outcome("d0")
    made.decide("d1", "asked")
    made.stop()
    made.prompt("p2")
    made.outcome("d1", "cancelled")
    made.close()


@legal("clock-set-back", beside="outcome-older-than-its-decision", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.ts = START
    made.outcome("d0")
    made.close()


# -- torn ends that were sealed


@legal("sealed-fragment-in-a-session", beside="torn-tail-of-a-session", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    _tear(kit.root / FILE, b'{"axis":null,"ba')
    made.outcome("d0")
    made.close()


@legal("sealed-fragment-of-several-lines", beside="torn-middle", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    _tear(kit.root / FILE, b'{"a\n\n\xff\xfe\n' + b"\0" * 300)
    made.outcome("d0")
    made.close()


@legal("sealed-fragment-behind-a-close", beside="torn-tail-of-a-session", base="plain")
def _(kit: Any) -> None:
    _tear(kit.root / FILE, b"{")
    writer(kit).ledger.recover(ts=START + 2_000_000)


@legal("sealed-fragment-on-the-spine", beside="torn-tail-of-the-spine", base="plain")
def _(kit: Any) -> None:
    _tear(kit.root / SPINE, b'{"ev":')
    made = writer(kit)
    made.prompt("p2")
    made.close()


@legal("line-feed-supplied", beside="torn-tail-of-a-session", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    path = kit.root / FILE
    path.write_bytes(path.read_bytes()[:-1])
    made.outcome("d0")
    made.close()


def _tear(path: Path, fragment: bytes) -> None:
    with path.open("ab") as file:
        file.write(fragment)


# -- traces


@legal("transcript-with-a-refused-call", beside="denied-call-in-the-trace", base="plain")
def _(kit: Any) -> None:
    rows = [span("c0"), answer("c0"), span("c1"), answer("c1", error=True), span("c2")]
    kit.traces["t.jsonl"] = transcript(*rows)


def refuse(kit: Any, **named: Any) -> None:
    """Record a call whose request could not be read, as the hook does."""
    made = writer(kit)
    known = {"session": None, "call": None, "tool": None, "args_digest": None, **named}
    details = {"digest": digest(b"request"), "reason": "hook input is no JSON text", **known}
    made.ledger.audit(
        action="input.refused", actor="claude-code", target=None, details=details, ts=made.tick()
    )


REFUSED_ARGS = digest_of({"command": "ls c9"})


@legal("transcript-with-a-call-refused-unread", beside="call-refused-unread-that-ran", base="plain")
def _(kit: Any) -> None:
    refuse(kit, session=SESSION, call="c9", tool="Bash", args_digest=REFUSED_ARGS)
    rows = [span("c0"), answer("c0"), span("c9"), answer("c9", error=True)]
    kit.traces["t.jsonl"] = transcript(*rows)


@legal("call-refused-unread-shown-without-session", beside="call-refused-unread-of-another-session",
       base="plain")  # fmt: skip
def _(kit: Any) -> None:
    refuse(kit, session=SESSION, call="c9")
    shown = next(one for one in kit.trace() if one.call == "c0")
    kit.spans = [shown, shown._replace(session=None, call="c9", where="t:2", status="error")]


@legal("two-calls-refused-unread-without-ids", beside="one-refusal-for-two-calls", base="plain")
def _(kit: Any) -> None:
    refuse(kit, session=SESSION, args_digest=REFUSED_ARGS)
    refuse(kit, session=SESSION, args_digest=REFUSED_ARGS)
    kit.spans = without_ids(kit)


def without_ids(kit: Any) -> list[Any]:
    """Return a trace that shows the allowed call and two equal ones without id that failed."""
    shown = next(one for one in kit.trace() if one.call == "c0")
    unnamed = shown._replace(call=None, args_digest=REFUSED_ARGS, status="error")
    return [shown, unnamed._replace(where="t:2"), unnamed._replace(where="t:3")]


@legal("transcript-of-a-resumed-session", beside="decision-used-by-two-spans", base="plain")
def _(kit: Any) -> None:
    copied = span("c0", sessionId="resumed")
    kit.traces["a.jsonl"] = transcript({"type": "summary"}, span("c0"), span("c0"), answer("c0"))
    kit.traces["b.jsonl"] = b"garbage\n[]\n" + transcript(copied, answer("c0"))


@legal("otlp-of-two-conventions", beside="span-without-decision", base="plain")
def _(kit: Any) -> None:
    made = writer(kit)
    made.decide("d0")
    made.outcome("d0", "error")
    made.close()
    kit.traces["spans.json"] = json.dumps(_otlp("c0", "d0"), indent=1).encode()


@legal("span-joined-by-its-content", beside="span-without-decision", base="plain")
def _(kit: Any) -> None:
    kit.change_span("c0", call=None, decision_digest=None)


@legal("refused-call-in-the-trace", beside="denied-call-in-the-trace")
def _(kit: Any) -> None:
    show_call(kit, "a3")
    kit.change_span("a3", status="error")


def _otlp(fine: str, failed: str) -> dict[str, Any]:
    """Return OTLP/JSON with one call as Claude Code writes it and one as GenAI agents do."""

    def attributes(**values: Any) -> list[dict[str, Any]]:
        return [
            {"key": key.replace("__", "."), "value": {"stringValue": value}}
            for key, value in values.items()
        ]

    def one(number: int, name: str, held: list[dict[str, Any]], status: Any) -> dict[str, Any]:
        return {
            "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
            "spanId": f"{number:016x}",
            "name": name,
            "startTimeUnixNano": "1800000002000000123",
            "attributes": held,
            "status": status,
        }

    tool = attributes(session__id=SESSION, tool_use_id=fine, tool_name="Bash")
    ran = attributes(session__id=SESSION, tool_use_id=fine, success="true")
    gen_ai = attributes(
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__call__id=failed,
        gen_ai__tool__name="Bash",
        gen_ai__conversation__id=SESSION,
        toolgate__args_digest=digest_of({"command": f"ls {failed}"}),
    )
    spans = [
        one(1, "claude_code.tool", tool, {}),
        one(2, "claude_code.tool.execution", ran, {"code": 0}),
        one(3, "execute_tool Bash", gen_ai, {"code": 2}),
        one(4, "claude_code.llm_request", [], {}),
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}
