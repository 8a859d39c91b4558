"""What ran is not what was allowed, as the writer or a trace shows."""

from typing import Any

from catalogue import fault, legal
from damage import audit, ran_with, show_call
from legal import REFUSED_ARGS, answer, refuse, span, transcript, without_ids

from toolgate.canonical import digest, digest_of


@fault("ran-without-decision", "H", "execution.unmatched")
def _(kit: Any) -> None:
    details = {"call": None, "tool": "Bash", "args_digest": digest(b"x"), "result_digest": None}
    audit(kit, "execution.unmatched", details)


@fault("ran-without-decision-by-its-id", "H", "execution.unmatched")
def _(kit: Any) -> None:
    """A call ran that nobody decided; the ledger says so and the trace shows it."""
    ran = {"call": "x0", "args_digest": digest(b"x")}
    audit(kit, "execution.unmatched", {**ran, "tool": "Bash", "result_digest": None}, "alpha")
    at = kit.span("a0")
    kit.spans.append(kit.spans[at]._replace(decision_digest=None, result_digest=None, **ran))


@fault("ran-without-decision-and-without-id", "H", "execution.unmatched")
def _(kit: Any) -> None:
    """A call without id ran that nobody decided; the ledger says so and the trace shows it."""
    ran = {"call": None, "args_digest": digest(b"x")}
    audit(kit, "execution.unmatched", {**ran, "tool": "Bash", "result_digest": None}, "alpha")
    at = kit.span("a0")
    kit.spans.append(kit.spans[at]._replace(decision_digest=None, result_digest=None, **ran))


@fault("ran-with-other-arguments", "H", "execution.args_differ")
def _(kit: Any) -> None:
    ran_with(kit, "a0", digest(b"x"))


@fault("ran-with-other-arguments-in-a-linear-session", "H", "execution.args_differ")
def _(kit: Any) -> None:
    ran_with(kit, "c0", digest(b"x"))


@fault("ran-with-other-arguments-as-the-trace-shows", "H", "execution.args_differ")
def _(kit: Any) -> None:
    ran_with(kit, "a0", digest(b"x"))
    kit.change_span("a0", args_digest=digest(b"x"))


@fault("ran-with-other-arguments-in-a-span-without-id", "H", "execution.args_differ")
def _(kit: Any) -> None:
    ran_with(kit, "a0", digest(b"x"))
    kit.change_span("a0", call=None, args_digest=digest(b"x"), decision_digest=None)


@fault("span-without-decision", "H", "execution.no_decision")
def _(kit: Any) -> None:
    at = kit.span("a0")
    kit.spans.append(kit.spans[at]._replace(call="unheard-of"))


@fault("span-missing", "H", "execution.no_span")
def _(kit: Any) -> None:
    at = kit.span("a0")
    del kit.spans[at]


@fault("decision-used-by-two-spans", "H", "execution.span_reused")
def _(kit: Any) -> None:
    at = kit.span("a0")
    kit.spans.append(kit.spans[at])


@fault("denied-call-in-the-trace", "H", "execution.after_deny")
def _(kit: Any) -> None:
    show_call(kit, "a3")


@fault("ask-in-the-trace", "H", "execution.ask_unanswered")
def _(kit: Any) -> None:
    show_call(kit, "a4")


@fault("run-in-the-trace", "H", "execution.in_run")
def _(kit: Any) -> None:
    show_call(kit, "r0")


@legal("refused-call-of-a-run-in-the-trace", beside="run-in-the-trace")
def _(kit: Any) -> None:
    show_call(kit, "r1")
    kit.change_span("r1", status="refused")


@fault("other-arguments", "H", "execution.args_differ")
def _(kit: Any) -> None:
    kit.change_span("a0", args_digest=digest_of({"command": "rm -rf /"}))


@fault("span-of-another-decision", "H", "execution.other_decision")
def _(kit: Any) -> None:
    kit.change_span("a0", decision_digest=kit.decision("a1").old_event)


@fault("failed-in-the-trace", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.change_span("a0", status="error")


@fault("fine-in-the-trace", "H", "execution.state_differs")
def _(kit: Any) -> None:
    kit.change_span("a1", status="ok")


@fault("no-trace-of-a-session", "H", "execution.trace_missing", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.span("a0")
    kit.spans = [span for span in kit.spans if span.session != "Beta_2"]


@fault("trace-ends-early", "H", "execution.trace_ends", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    kit.span("a0")
    kit.spans = [span for span in kit.spans if span.call not in ("b1", "b2")]


@fault(
    "call-id-in-another-session-with-other-arguments",
    "H",
    "execution.no_span",
    "execution.no_decision",
)
def _(kit: Any) -> None:
    kit.change_span("a0", session="other", args_digest=digest(b"other"))


@fault("refused-call-that-ran", "H", "execution.state_differs")
def _(kit: Any) -> None:
    show_call(kit, "a8")


@fault("run-with-an-outcome", "R", "execution.in_run")
def _(kit: Any) -> None:
    row = kit.decision("r0")
    made = kit.copy(kit.outcome("a0"))
    made.old = digest(b"made")
    made.body |= {"parents": [row.old], "session": "run-1", "turn": 1}
    made.body["ev"] |= {"decision_digest": row.old_event, "action_ref": row.old_ref}
    made.body["ts"] = made.body["ev"]["ts"] = row.body["ts"]
    kit.files["sessions/run-1.jsonl"].append(made)
    kit.rehash()


@fault("transcript-with-a-call-nobody-decided", "H", "execution.no_decision", base="plain")
def _(kit: Any) -> None:
    kit.traces["t.jsonl"] = transcript(span("c0"), answer("c0"), span("c9"), answer("c9"))


@fault("transcript-with-other-arguments", "H", "execution.args_differ", base="plain")
def _(kit: Any) -> None:
    changed = span("c0")
    changed["message"]["content"][0]["input"] = {"command": "rm -rf /", "n": [1.5, 1e30, -0.0]}
    kit.traces["t.jsonl"] = transcript(changed, answer("c0"))


@fault("transcript-in-which-a-denied-call-ran", "H", "execution.after_deny", base="plain")
def _(kit: Any) -> None:
    rows = (span("c0"), answer("c0"), span("c1"), answer("c1"))
    kit.traces["t.jsonl"] = transcript(*rows)


@fault("more-findings-of-a-code-than-are-listed", "H", "execution.unmatched")
def _(kit: Any) -> None:
    kit.args["most"] = 2
    for number in range(5):
        details = {"call": f"u{number}", "tool": "Bash", "args_digest": None, "result_digest": None}
        audit(kit, "execution.unmatched", details)


@fault("call-refused-unread-that-ran", "H", "execution.after_deny", base="plain")
def _(kit: Any) -> None:
    refuse(kit, session="s", call="c9", tool="Bash", args_digest=REFUSED_ARGS)
    kit.traces["t.jsonl"] = transcript(span("c0"), answer("c0"), span("c9"), answer("c9"))


@fault("call-refused-unread-of-another-session", "H", "execution.no_decision", base="plain")
def _(kit: Any) -> None:
    refuse(kit, session="t", call="c9", tool="Bash", args_digest=REFUSED_ARGS)
    rows = (span("c0"), answer("c0"), span("c9"), answer("c9", error=True))
    kit.traces["t.jsonl"] = transcript(*rows)


@fault("refusal-that-names-nothing", "H", "execution.no_decision", base="plain")
def _(kit: Any) -> None:
    refuse(kit, session=["s"], call="", tool=7, args_digest={"c9": None})
    rows = (span("c0"), answer("c0"), span("c9"), answer("c9", error=True))
    kit.traces["t.jsonl"] = transcript(*rows)


@fault("one-refusal-for-two-calls", "H", "execution.no_decision", base="plain")
def _(kit: Any) -> None:
    refuse(kit, session="s", call="c7", args_digest=REFUSED_ARGS)
    kit.spans = without_ids(kit)


@fault("trace-without-times-misses-a-call", "H", "execution.no_span")
def _(kit: Any) -> None:
    kit.spans = [one._replace(ts=None) for one in kit.trace() if one.call != "b1"]
