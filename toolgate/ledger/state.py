"""Where a session stands: open or closed, which turn, which keys it has seen.

The spine says so. The store keeps a copy for the next process, which is believed
only when it was written since this machine started: after a power cut the spine
may have lost what the copy remembers.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from toolgate.canonical import digest, parse, profile_bytes
from toolgate.errors import CanonicalizationError
from toolgate.ledger.index import answered_by, is_outcome, is_whole

if TYPE_CHECKING:
    from toolgate.ledger.store import Store

_TURN_OPEN = b'{"ev":{"key":'
_SESSION = b'"session":'
_AUDIT = b'"kind":"audit"'


class Turn(NamedTuple):
    """An open turn.

    Args:
        number: its place among the session's turns, from 1.
        digest: its turn_open entry.
        key: the prompt id, or ``#n``.
        part: which part of that key's turn this is, from 1.
        offset: where its entries begin, in the stream that holds them.
        ts: time of its opening, microseconds UTC.
    """

    number: int
    digest: str
    key: str
    part: int
    offset: int
    ts: int


class State(NamedTuple):
    """Where a session stands.

    Args:
        opened: its session_open entry; None while it is not open.
        closed: its latest session_close entry, if any.
        part: how many session_opens there were.
        turns: how many turn_opens there were.
        turn: the open turn, if any.
        key: key of the latest turn, if any.
        key_part: part of that turn.
        counter: how many prompts came without an id.
        ts: time of its latest spine entry, microseconds UTC.
        linear: whether its entries lie on the spine; its first part decides.
        executes: whether an allowed call runs; its first part decides.
        host: name of the host adapter of its latest part.
        since: position on the spine at which the session begins.
    """

    opened: str | None = None
    closed: str | None = None
    part: int = 0
    turns: int = 0
    turn: Turn | None = None
    key: str | None = None
    key_part: int = 0
    counter: int = 0
    ts: int = 0
    linear: bool = False
    executes: bool = True
    host: str = ""
    since: int = 0


def after(state: State, body: dict[str, Any], entry: str, offset: int) -> State:
    """Return the state behind one spine entry of the session.

    Args:
        state: the state before it.
        body: the entry.
        entry: its digest.
        offset: where the entries of a turn it opens begin.
    """
    kind, ev, ts = body["kind"], body["ev"], body["ts"]
    if kind == "session_open":
        linear = state.linear if state.part else ev["shape"] == "linear"
        return state._replace(
            opened=entry,
            part=state.part + 1,
            ts=ts,
            linear=linear,
            executes=ev["executes"],
            host=ev["host"],
        )
    if kind == "session_close":
        return state._replace(opened=None, closed=entry, turn=None, ts=ts)
    if kind == "turn_close":
        return state._replace(turn=None, ts=ts)
    if kind != "turn_open":
        return state
    key, part = ev["key"], ev["part"]
    counter = state.counter
    if key.startswith("#") and key[1:].isdecimal():
        counter = max(counter, int(key[1:]))
    number = state.turns + 1
    return state._replace(
        turns=number,
        turn=Turn(number, entry, key, part, offset, ts),
        key=key,
        key_part=part,
        counter=counter,
        ts=ts,
    )


def lines_of(store: "Store", session: str, since: int) -> Iterator[tuple[int, bytes]]:
    """Yield the spine's lines that may belong to a session, and where each begins.

    Args:
        store: where the ledger is kept.
        session: the session id.
        since: position of the first line to look at.

    Returns:
        Every line that contains the session id as a ``session`` field at any depth.
    """
    return store.spine_lines((_SESSION + profile_bytes(session),), since)


def from_spine(store: "Store", session: str) -> State:
    """Read a session's state from the spine.

    The offset of an open turn in a session file is not on the spine; it is 0
    here, and the caller finds it from the file.

    Raises:
        LedgerError: the spine cannot be read.
    """
    state = State()
    for offset, line in lines_of(store, session, 0):
        body = _of_session(line, session)
        if body is None:
            continue
        if not state.part and body["kind"] == "session_open":
            state = state._replace(since=offset)
        behind = offset + len(line) + 1 if state.linear else 0
        state = after(state, body, digest(line), behind)
    return state


def parts_of(store: "Store", session: str, state: State, key: str) -> int:
    """Return how often a key of a session was opened so far.

    Only lines that begin with the key are read as entries: a session of many turns has many.
    """
    begin = _TURN_OPEN + profile_bytes(key)
    return sum(
        line.startswith(begin) and _of_session(line, session) is not None
        for _, line in store.spine_lines((begin,), state.since)
    )


def late_answers(store: "Store", session: str, state: State) -> dict[bytes, bytes]:
    """Return the outcome lines on the spine, latest by the decision_digest they commit to."""
    lines = lines_of(store, session, state.since)
    # A line that a crash cut short answers nothing; a recovery covers it.
    return {answered_by(line): line for _, line in lines if is_outcome(line) and is_whole(line)}


def was_audited(store: "Store", session: str, state: State, details: dict[str, Any]) -> bool:
    """Say whether an audit entry of a session has exactly these details."""
    for _, line in lines_of(store, session, state.since):
        body = _of_session(line, session) if _AUDIT in line else None
        if body is not None and body["ev"].get("details") == details:
            return True
    return False


def sessions(store: "Store") -> dict[str, bool]:
    """Return the ids of the sessions the spine opened, oldest first, and which are open."""
    found: dict[str, bool] = {}
    for _, line in store.spine_lines((_SESSION,), 0):
        body = _body(line)
        if body is None or type(body.get("session")) is not str:
            continue
        if body["kind"] == "session_open":
            found[body["session"]] = True
        elif body["kind"] == "session_close":
            found[body["session"]] = False
    return found


def _body(line: bytes) -> dict[str, Any] | None:
    if b'"kind":"decision"' in line:
        return None
    try:
        body = parse(line)
    except CanonicalizationError:
        return None
    return body if type(body) is dict and type(body.get("kind")) is str else None


def _of_session(line: bytes, session: str) -> dict[str, Any] | None:
    body = _body(line)
    return body if body is not None and body.get("session") == session else None


def load(store: "Store", name: str) -> State | None:
    """Read a session's cached state; None when there is none to believe.

    Args:
        store: where the ledger is kept.
        name: the session's name there.
    """
    data = store.load_state(name) if store.boot is not None else None
    if data is None:
        return None
    try:
        # Written by this gate alone, and half written at worst: JSON that parses is whole.
        stored = json.loads(data)
        if stored["boot"] != store.boot or type(stored["state"]["since"]) is not int:
            return None
        held = stored["state"]
        turn = held["turn"]
        return State(**{**held, "turn": turn and Turn(**turn)})
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # half written by a process that was killed: the spine knows


def keep(store: "Store", name: str, state: State) -> None:
    """Cache a session's state for the next process."""
    if store.boot is None:
        return
    held = {**state._asdict(), "turn": state.turn and state.turn._asdict()}
    store.keep_state(name, profile_bytes({"boot": store.boot, "state": held}))
