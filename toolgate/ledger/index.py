"""What a ledger's lines say, found by their fixed shape instead of by parsing each.

A hook starts for every call, and a session may hold thousands of lines; finding
one call among them must cost less than decoding them all. Canonical lines make
that safe: keys come in one order, and a quotation mark inside a string is always
escaped, so ``,"ev":{"action_ref":"`` can only be structure.
"""

from typing import NamedTuple

from toolgate.canonical import digest, parse, profile_bytes
from toolgate.errors import CanonicalizationError

_DECISION = b'{"axis":'
_OUTCOME = b'{"ev":{"action_ref":"'
_RECOVERY = b'{"ev":{"digest":"'
_EVENT = b',"ev":{"action_ref":"'
_CALL = b'"call":'
_INTENT = b'"intent":{"action_type":'
_DIGEST_LENGTH = 71
_END = b',"v":1}'
_NO_TURN = b',"turn":null,"v":1}'


class Tail(NamedTuple):
    """How a run of ledger bytes ends.

    Args:
        good: bytes up to and including the last line that parses.
        last: that line without its line feed; None when no line parses.
        fragment: the bytes after it.
        open: whether only the line feed of that line is missing.
    """

    good: int
    last: bytes | None
    fragment: bytes
    open: bool


NO_TAIL = Tail(0, None, b"", False)


class Place(NamedTuple):
    """Where a line stands in its stream: first byte, and the byte behind its last."""

    start: int
    stop: int


class Index:
    """The decisions and answers among a session's lines.

    Slots:
        places: every entry that belongs to a turn, in order.
        calls: latest decision by call id (as JSON text).
        arguments: decisions by args_digest, oldest first.
        answers: latest outcome by the decision_digest it commits to.
        end: offset behind the last line that was indexed.
        identity: of the stream it was read from.
    """

    __slots__ = ("answers", "arguments", "calls", "end", "identity", "places")

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.calls: dict[bytes, Place] = {}
        self.arguments: dict[bytes, list[Place]] = {}
        self.answers: dict[bytes, bytes] = {}
        self.end = 0
        self.identity = 0

    def add(self, line: bytes, start: int) -> None:
        """Take one line (without line feed) into account.

        A sealed fragment stands among the lines too, but never ends like an entry.
        """
        if not line.endswith(_END):
            return
        place = Place(start, start + len(line))
        if line.startswith(_DECISION):
            self.places.append(place)
            self.calls[call_of(line)] = place
            self.arguments.setdefault(_arguments_of(line), []).append(place)
        elif is_outcome(line):
            if not line.endswith(_NO_TURN):
                self.places.append(place)
            self.answers[answered_by(line)] = line
        elif line.startswith(_RECOVERY) and not line.endswith(_NO_TURN):
            self.places.append(place)

    def add_all(self, data: bytes, start: int) -> None:
        """Take the lines of a run of whole lines into account; ``start`` is its offset."""
        at = 0
        while at < len(data):
            stop = data.find(b"\n", at)
            if stop < 0:
                stop = len(data)
            line = data[at:stop]
            self.add(line, start + at)
            at = stop + 1
        self.end = start + len(data)

    def decisions(self) -> list[Place]:
        """Return where the decisions stand, in order."""
        return sorted(place for places in self.arguments.values() for place in places)

    def count_since(self, offset: int) -> int:
        """Return how many entries of a turn stand behind an offset."""
        count = 0
        for place in reversed(self.places):
            if place.start < offset:
                break
            count += 1
        return count


def call_of(line: bytes) -> bytes:
    """Return the call id of a decision's line, as JSON text."""
    at = line.find(_CALL, line.find(_INTENT)) + len(_CALL)
    return line[at : line.find(b',"scope":', at)]


def call_key(call: str) -> bytes:
    """Return a call id as it stands in a line."""
    return profile_bytes(call)


def event_of(line: bytes) -> bytes:
    """Return the canonical bytes of a decision's event, cut out of its line."""
    start = line.find(_EVENT) + len(b',"ev":')
    return line[start : line.find(b',"facts":[', start)]


def decision_digest_of(line: bytes) -> str:
    """Return the decision_digest of a decision's line."""
    return digest(event_of(line))


def is_unresolved(line: bytes) -> bool:
    """Say whether an outcome's line is one nothing was reported for."""
    return b'"terminal_state":"unresolved"' in line


def parents_of(line: bytes) -> list[str]:
    """Return the parents a line names."""
    start = line.find(b',"parents":[') + len(b',"parents":[')
    named = line[start : line.find(b"]", start)].decode("ascii")
    return [part.strip('"') for part in named.split(",")] if named else []


def _arguments_of(line: bytes) -> bytes:
    at = line.find(_EVENT) + len(_EVENT) + _DIGEST_LENGTH + len('","args_digest":"')
    return line[at : at + _DIGEST_LENGTH]


def is_outcome(line: bytes) -> bool:
    """Say whether a line is an outcome's."""
    return line.startswith(_OUTCOME)


def answered_by(line: bytes) -> bytes:
    """Return the decision_digest an outcome's line commits to."""
    at = len(_OUTCOME) + _DIGEST_LENGTH + len('","decision_digest":"')
    return line[at : at + _DIGEST_LENGTH]


def tail_of(data: bytes) -> Tail | None:
    """Say how a run of ledger bytes ends; None when no line in it parses."""
    end = len(data)
    while end > 0:
        closed = data[end - 1 : end] == b"\n"
        stop = end - 1 if closed else end
        start = data.rfind(b"\n", 0, stop) + 1
        if is_whole(data[start:stop]):
            return Tail(end, data[start:stop], data[end:], not closed)
        end = start
    return None


def is_whole(line: bytes) -> bool:
    """Say whether a line, without its line feed, was written to its end."""
    # A line that was cut does not end with a brace of its own often enough to matter.
    if not line.endswith(b"}") or not line.startswith(b"{"):
        return False
    try:
        return type(parse(line)) is dict
    except CanonicalizationError:
        return False
