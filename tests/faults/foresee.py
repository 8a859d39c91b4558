"""What a verification of a world's ledger has to say, and the trace an honest observer kept."""

from collections import Counter
from typing import Any, NamedTuple

from ledgers import SPINE
from world import NOT_RUN, Call, World

from toolgate.canonical import digest_of
from toolgate.verify import Report
from toolgate.verify.faults import BY_CODE
from toolgate.verify.traces.span import Answer, Span, Trace

STATUS = {"ok": "ok", "error": "error", "timeout": "error", "cancelled": "cancelled"}


class Foreseen(NamedTuple):
    """What a report has to say.

    Args:
        findings: how many of each code stand for themselves, and how many follow from others.
        calls: calls by what they were first told and how they ended.
        answered: asks that were answered, by how.
        asks: call ids of the asks that nothing followed.
        endings: call ids whose end only the trace shows.
    """

    findings: Counter[tuple[str, bool]]
    calls: Counter[tuple[str, str]]
    answered: Counter[str]
    asks: list[str]
    endings: list[str]


def foresee(world: World, *, traced: bool) -> Foreseen:
    """Say what a verification finds.

    Args:
        world: the world.
        traced: whether the honest trace is given.
    """
    found: Counter[tuple[str, bool]] = Counter()
    found["execution.after_deny", False] = world.after_deny
    found["execution.in_run", False] = world.in_run
    found["execution.unmatched", False] = world.unmatched
    found["execution.args_differ", False] = world.differ
    found["entries.composition_unmet", False] = world.unmet
    _unfinished(world, found)
    calls: Counter[tuple[str, str]] = Counter()
    answered: Counter[str] = Counter()
    asks: list[str] = []
    endings: list[str] = []
    for held in world.places.values():
        for call in held.calls.values():
            calls[call.told, call.end or "none"] += 1
            answered[_by(call, traced=traced)] += 1
            lost = held.executes and call.state == "allowed" and call.end == "unresolved"
            found["log.orphan_allow", False] += lost
            if call.state == "asked":
                asks.append(call.id)
            if traced and call.ran and call.end in NOT_RUN:
                endings.append(call.id)
                found["execution.ask_unanswered", False] += call.state == "asked"
    if traced:
        found["execution.no_decision", False] = sum(not one.stated for one in world.strays)
    answered.pop("", None)
    return Foreseen(+found, calls, answered, sorted(asks), sorted(endings))


def _unfinished(world: World, found: Counter[tuple[str, bool]]) -> None:
    """Count what is torn or open; a torn file explains what is open behind it."""
    on_spine = _is_torn(world, None)
    found["log.fragment", False] += on_spine
    for held in world.places.values():
        torn = not held.linear and _is_torn(world, held.id)
        found["log.fragment", on_spine] += torn
        found["log.turn_open", on_spine or torn] += held.turn
        found["log.session_open", on_spine or torn or held.turn] += held.open


def _is_torn(world: World, session: str | None) -> bool:
    path = world.root / SPINE if session is None else world.file(session)
    return path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")


def _by(call: Call, *, traced: bool) -> str:
    """Say how an ask was answered; an honest trace knows of those whose user was asked."""
    return "telemetry" if call.by == "inferred" and traced and _was_seen(call) else call.by


def _was_seen(call: Call) -> bool:
    return call.id.endswith(("0", "2", "4"))


def trace_of(world: World) -> Trace:
    """Return what an honest observer of every session kept: what ran, and what did not."""
    spans: list[Span] = []
    answers: list[Answer] = []
    for held in world.places.values():
        for call in held.calls.values():
            spans += _shown(call)
            if call.by == "inferred" and _was_seen(call):
                answers.append(Answer(f"answer {call.id}", held.id, call.id, True, "user"))
    spans += [
        Span(f"trace {one.args}", one.session, one.call, "Bash", "ok", 1, one.args)
        for one in world.strays
    ]
    return Trace(tuple(spans), tuple(answers))


def _shown(call: Call) -> list[Span]:
    """Return what is kept of a call: some keep results and decisions, some do not."""
    refused = call.state == "denied" or call.end == "refused"
    if not call.ran and not refused:
        return []
    more: dict[str, Any] = {}
    if call.id.endswith(("1", "2", "3")) and call.ran:
        more["decision_digest"] = call.event
    if call.ran and (call.end in NOT_RUN or call.id.endswith(("3", "4"))):
        more["result_digest"] = call.result
    status = STATUS[call.ran] if call.ran else "refused"
    args = call.ran_with or digest_of(call.args)
    return [Span(f"trace {call.id}", call.session, call.id, call.tool, status, 1, args, **more)]


def compare(world: World, report: Report, *, traced: bool, pinned: bool) -> None:
    """Hold a report to what was foreseen.

    Args:
        world: the world.
        report: what the verifier says of its ledger.
        traced: whether the honest trace was given.
        pinned: whether the ledger's head was.
    """
    want = foresee(world, traced=traced)
    found = Counter((item.code, item.cause is not None) for item in report.findings)
    assert found == want.findings, _difference(found, want.findings, report)
    assert Counter(report.calls) == want.calls
    assert Counter(report.answered) == want.answered
    assert sorted(ask.call for ask in report.asks) == want.asks
    assert sorted(str(item.call) for item in report.endings) == want.endings
    assert Counter(report.decisions) == world.decisions
    assert Counter(report.outcomes) == world.outcomes
    assert report.replaced == world.replaced
    assert report.sessions == sum(held.known for held in world.places.values())
    verdicts = {BY_CODE[code].verdict for code, _ in want.findings}
    conditional = not pinned or want.answered["inferred"] > 0
    clean = "CONDITIONAL" if conditional else "PASS"
    assert report.verdict == next((v for v in ("FAIL", "INCOMPLETE") if v in verdicts), clean)


def _difference(found: Counter[Any], want: Counter[Any], report: Report) -> str:
    """Say what was found and not foreseen, and what was foreseen and not found."""
    codes = {code for code, _ in (found - want)}
    lines = [f"foreseen, not found: {dict(want - found)}", f"only found: {dict(found - want)}"]
    return "\n".join([*lines, *[str(item) for item in report.findings if item.code in codes]])
