"""What is written about a call: its decision, what became of it, what never did."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolgate.action import Intent
from toolgate.canonical import digest, parse
from toolgate.ledger.index import Place, call_key, call_of, decision_digest_of, parents_of
from toolgate.ledger.session import Session
from toolgate.ledger.turn_dag import decision_parents
from toolgate.records import DecisionFields, decision_entry, outcome_entry

_NOT_RUN = ("refused", "unresolved")


class Report(NamedTuple):
    """What is reported on a call; see ``append.Ledger.outcome`` for the fields."""

    call: str | None
    tool: str
    args_digest: str
    result_digest: str | None
    terminal_state: str
    source: str
    join: str = ""

    @property
    def ran(self) -> bool:
        """Say whether the call ran at all."""
        return self.terminal_state not in _NOT_RUN

    def ending(self) -> dict[str, Any]:
        """Return the fields of an outcome that come from the report."""
        return {
            "result_digest": self.result_digest,
            "terminal_state": self.terminal_state,
            "source": self.source,
            "join": self.join or ("content" if self.call is None else "id"),
        }


class Placed(NamedTuple):
    """A decision with its place.

    Args:
        fields: the decision.
        earlier: line of the decision it replaces, if any.
        same_turn: whether that one stands in the open turn.
    """

    fields: DecisionFields
    earlier: bytes | None
    same_turn: bool


def place(held: Session, fields: DecisionFields) -> Placed:
    """Say where a new decision goes.

    A call that waits for its outcome and is asked about again keeps its intent,
    so both decisions share one action_ref; the later one counts.
    """
    held.make_room(1)
    at = held.index.calls.get(call_key(fields.intent.call))
    earlier = None if at is None else _pending(held, at)
    fields = fields._replace(ts=max(fields.ts, held.turn.ts))
    if at is None or earlier is None or _tool(earlier) != fields.intent.action_type:
        return Placed(fields, None, True)
    body = parse(earlier)
    fields = fields._replace(intent=Intent(**body["intent"]), ts=max(fields.ts, body["ts"] + 1))
    return Placed(fields, earlier, at.start >= held.turn.offset)


def add(held: Session, placed: Placed, approvals: Sequence[str] = ()) -> bytes:
    """Add a decision and return its line.

    Args:
        held: the session.
        placed: the decision and its place.
        approvals: approval entries it rests on, which become parents.
    """
    named = None if placed.earlier is None else digest(placed.earlier)
    body = decision_entry(
        placed.fields,
        session=held.id,
        turn=held.turn.number,
        parents=[*decision_parents(held.turn.digest, named, placed.same_turn), *approvals],
    )
    return held.add_entry(body)


def find(held: Session, call: str | None, tool: str, args_digest: str) -> Place | None:
    """Find the decision a post event belongs to.

    Args:
        held: the session.
        call: the host's call id; None looks for the latest decision with the
            same tool and arguments that nothing was reported on.
        tool: the tool's name.
        args_digest: digest of the tool's input.
    """
    index = held.index
    if call is not None:
        return index.calls.get(call_key(call))
    for place in reversed(index.arguments.get(args_digest.encode("ascii", "replace"), [])):
        line = held.line_at(place)
        latest = index.calls[call_of(line)] == place
        if latest and _tool(line) == tool and _pending(held, place) is not None:
            return place
    return None


def answer(held: Session, place: Place, key: str | None, report: Report) -> str | None:
    """Add what became of a decided call.

    Args:
        held: the session.
        place: its latest decision.
        key: the event's prompt id.
        report: what is reported.

    Returns:
        How it was recorded (see ``append.Ledger.outcome``); None when the call
        was answered differently before, so that this report has no decision.
    """
    line = held.line_at(place)
    decided = decision_digest_of(line)
    before = held.answer_to(decided, place)
    if before is not None:
        ev = parse(before)["ev"]
        if ev["terminal_state"] != "unresolved" or report.terminal_state == "unresolved":
            same = (ev["result_digest"], ev["terminal_state"])
            if same != (report.result_digest, report.terminal_state):
                return None
            _compare_arguments(held, line, report, again=True)
            return "repeated"
        _compare_arguments(held, line, report)
        _add_outcome(held, key, place, report.ending(), replaces=before)
        return "superseded"
    _compare_arguments(held, line, report)
    state = parse(line)["ev"]["decision_state"]
    if state == "asked" and report.ran:
        _answer_ask(held, key, line, place, report.ending())
        return "inferred"
    in_turn = _add_outcome(held, key, place, report.ending())
    if state == "denied" and report.ran:
        return "after_deny"
    return "outcome" if in_turn else "late"


def end(held: Session, place: Place, report: Report) -> None:
    """Add how a call ended on which nothing was reported, whatever was decided on it."""
    _compare_arguments(held, held.line_at(place), report)
    _add_outcome(held, None, place, report.ending())


def state_unmatched(held: Session, report: Report, *, always: bool) -> str:
    """Say on the spine that a call ran for which no decision waited; the same report once.

    Args:
        held: the session.
        report: what is reported.
        always: whether to say it although the same was said before.

    Returns:
        ``unmatched``, or ``repeated`` (nothing is written).
    """
    names = ("call", "tool", "args_digest", "result_digest")
    details = {name: getattr(report, name) for name in names}
    if not always and held.was_audited(details):
        return "repeated"
    held.audit("execution.unmatched", details)
    return "unmatched"


def _compare_arguments(held: Session, line: bytes, report: Report, again: bool = False) -> None:
    """Say on the spine that a call ran with other arguments than were decided.

    It is said before the outcome is written: a writer that dies between the two
    leaves a call without an end, not a difference nobody sees.

    Args:
        held: the session.
        line: the decision.
        report: what is reported on it.
        again: whether the same was reported before, so that it may have been said.
    """
    decided = parse(line)["ev"]["args_digest"]
    if report.call is None or report.args_digest == decided or not report.ran:
        return
    details = {
        "call": report.call,
        "tool": report.tool,
        "args_digest": report.args_digest,
        "decided": decided,
    }
    if not (again and held.was_audited(details)):
        held.audit("execution.args_differ", details)


def answered(held: Session, line: bytes, at: Place, state: str, ts: int) -> Placed:
    """Return the second decision on a call that was asked about, and its place.

    Args:
        held: the session, in the turn that the decision is to stand in.
        line: the ask.
        at: where that stands.
        state: ``allowed`` or ``denied``.
        ts: when it was answered, microseconds UTC.
    """
    body = parse(line)
    ev = body["ev"]
    fields = DecisionFields(
        intent=Intent(**body["intent"]),
        principal=ev["principal"],
        auth_mode=ev["auth_mode"],
        policy_version=ev["policy_version"],
        decision_state=state,
        args_digest=ev["args_digest"],
        ts=max(ts, held.turn.ts, ev["ts"]),
        action_class=body["class"],
        basis=(decision_digest_of(line),),
        effects=tuple(body["effects"]),
        facts=tuple(body["facts"]),
        host=body["host"],
        rule=body["rule"],
        axis=body["axis"],
        proof=body["proof"],
        mode=body["mode"],
        build=body["build"],
    )
    return Placed(fields, line, at.start >= held.turn.offset)


def waiting(held: Session, call: str) -> tuple[Place, bytes] | None:
    """Return where the latest decision on a call stands, and its line; None once it has ended."""
    at = held.index.calls.get(call_key(call))
    line = None if at is None else _pending(held, at)
    return None if at is None or line is None else (at, line)


def _answer_ask(
    held: Session, key: str | None, line: bytes, at: Place, report: dict[str, Any]
) -> None:
    """Add the decision an ask's execution implies and its outcome, in one write."""
    held.join(key)
    held.make_room(2)
    second = add(held, answered(held, line, at, "allowed", held.ts))
    held.add_entry(_outcome(held, held.turn.number, second, report, None))


def _add_outcome(
    held: Session,
    key: str | None,
    place: Place,
    report: dict[str, Any],
    replaces: bytes | None = None,
) -> bool:
    """Add an outcome to the open turn, or to the spine when none is open.

    Returns:
        Whether it stands in its decision's turn.
    """
    line = held.line_at(place)
    if held.state.turn is None:
        held.body_to_spine(_outcome(held, None, line, report, replaces))
        return False
    held.join(key)
    held.make_room(1)
    held.add_entry(_outcome(held, held.turn.number, line, report, replaces))
    return place.start >= held.turn.offset


def _outcome(
    held: Session, turn: int | None, line: bytes, report: dict[str, Any], replaces: bytes | None
) -> dict[str, Any]:
    body = parse(line)
    parents, ts = [digest(line)], max(held.ts, body["ts"])
    if replaces is not None:
        parents.append(digest(replaces))
        ts = max(ts, parse(replaces)["ts"])
    return outcome_entry(
        session=held.id,
        turn=turn,
        parents=parents,
        action_ref=body["ev"]["action_ref"],
        decision_digest=decision_digest_of(line),
        ts=ts,
        **report,
    )


def close(held: Session, closed_by: str) -> None:
    """Close a session. Allowed calls nobody reported on become ``unresolved`` first."""
    if held.state.opened is None:
        return
    if held.state.executes:
        source = "close" if closed_by == "session_end" else "recovery"
        report = {
            "result_digest": None,
            "terminal_state": "unresolved",
            "source": source,
            "join": "id",
        }
        for place in _orphans(held):
            _add_outcome(held, None, place, report)
    held.close(closed_by)


def _orphans(held: Session) -> list[Place]:
    """Return the allowed decisions without outcome that no later decision replaced."""
    named: set[str] = set()
    allowed: list[tuple[Place, bytes]] = []
    places = held.index.decisions()
    for place, line in zip(places, held.lines_at(places), strict=True):
        named.update(parents_of(line))
        if b'"decision_state":"allowed"' in line:
            allowed.append((place, line))
    return [
        place
        for place, line in allowed
        if digest(line) not in named and held.answer_to(decision_digest_of(line), place) is None
    ]


def last_ts(held: Session) -> int:
    """Return the time of the session's last entry, microseconds UTC."""
    lines = [held.line_at(place) for place in held.index.places[-1:]]
    return int(max([held.state.ts, *[parse(line)["ts"] for line in (*lines, *held.late.values())]]))


def _pending(held: Session, place: Place) -> bytes | None:
    line = held.line_at(place)
    return None if held.answer_to(decision_digest_of(line), place) is not None else line


def _tool(line: bytes) -> str:
    return str(parse(line)["intent"]["action_type"])
