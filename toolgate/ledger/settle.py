"""What another system saw of a session's calls, written where no hook has reported it.

A trace shows how calls ended, and a host's telemetry what its user answered. All
of a session is written under its lock, after a look at what is there by then, so
that doing it twice, or beside hooks, writes nothing twice.
"""

from typing import NamedTuple

from toolgate.canonical import parse
from toolgate.ledger import calls, told
from toolgate.ledger.index import Place, call_key, decision_digest_of
from toolgate.ledger.session import Session
from toolgate.ledger.told import Told


class Shown(NamedTuple):
    """What was seen of one call.

    Args:
        decided: decision_digest of the decision on it; None for a call nobody decided.
        call: the call id of that decision.
        report: how it ended; None if that was not seen.
        told: what the user answered, for a call that waits for it.
    """

    decided: str | None
    call: str | None
    report: calls.Report | None
    told: Told | None = None


def settle(held: Session, shown: list[Shown], idle_us: int) -> list[str]:
    """Add what was seen of calls, where nothing has said it by now.

    Args:
        held: the session.
        shown: what was seen; a call at most once.
        idle_us: leave an open session alone whose last entry is younger than this.

    Returns:
        See ``append.Ledger.settle``.
    """
    was_open = held.state.opened is not None
    if was_open and calls.last_ts(held) + idle_us > held.ts:
        return ["busy"] * len(shown)
    done = [_settle(held, one) for one in shown]
    if not was_open:
        calls.close(held, "recovery")  # an answered ask reopened the session
    return done


def _settle(held: Session, one: Shown) -> str:
    if one.decided is None:
        done = one.report and calls.state_unmatched(held, one.report, always=False)
        return "unmatched" if done == "unmatched" else "known"
    place = held.index.calls.get(call_key(one.call or ""))
    line = None if place is None else held.line_at(place)
    if place is None or line is None or decision_digest_of(line) != one.decided:
        return "known"  # a later decision on the same call has taken its place
    before = held.answer_to(one.decided, place)
    if before is not None and parse(before)["ev"]["terminal_state"] != "unresolved":
        return "known"
    asked = before is None and parse(line)["ev"]["decision_state"] == "asked"
    if one.told is not None and asked:
        return _answer(held, place, line, one.told, one.report)
    return (one.report and calls.answer(held, place, None, one.report)) or "known"


def _answer(
    held: Session, at: Place, line: bytes, answer: Told, report: calls.Report | None
) -> str:
    """Add what the user answered, and then the end.

    Where a call ran although the answer does not let it, both are stated and no
    decision is made of them: nobody decided that it may.
    """
    ran = report is not None and report.ran
    if told.decides(held, line, answer) and (answer.approved or not ran):
        told.decide(held, line, at, answer)
        if not answer.approved:
            return "refused"
        if report is not None:
            made = held.index.calls[call_key(parse(line)["intent"]["call"])]
            calls.answer(held, made, None, report)
        return "approved"
    stated = told.state(held, line, answer)
    if report is not None and ran:
        calls.end(held, at, report)
        return "unanswered"
    return "collected" if stated else "known"
