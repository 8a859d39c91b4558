"""What a session's own entries say, read only when the gate asks.

A file is looked up by its keyed resource; of the lines that name it, and of the
outcomes that answer those, everything follows. An outcome that came after its turn
stands on the spine, which is read only for calls of closed turns that wait for theirs.
"""

import json
from collections.abc import Sequence
from typing import Any

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.gate.effects.reading import DEFINED, LINKS, NAMES, SETTINGS, SHELL
from toolgate.gate.facts.artifacts import SEVERAL, UNREADABLE, Artifact, Write
from toolgate.gate.facts.history import STORES, Decided, by_path, latest_fact, says, writes_of
from toolgate.gate.facts.session import PART_MARK, READ_SECRET, READ_UNTRUSTED, ByName
from toolgate.gate.recorded import resource_ref
from toolgate.ledger.append import Ledger
from toolgate.ledger.index import answered_by, decision_digest_of
from toolgate.ledger.recall import Recall

_STORES = b'"type":"' + STORES.encode()
_SEVERAL = _STORES + SEVERAL.encode() + b')"'
_DELETES = b'"type":"fs.delete"'
_SECRET = b'"type":"secret.read"'
_UNTRUSTED = (
    *(b'"type":"net.fetch"', b'"type":"net.send"', b'"scope":"outside","type":"inspect"'),
    b'"action_type":"mcp__',
    *(b'"action_type":"WebSearch"', b'"action_type":"google_web_search"'),
)
_EFFECTS, _EVENT = b',"effects":[', b',"ev":'
_RESOURCE = b'"resource":"'
_RESOURCE_LENGTH = 34
_ANY_FILE = b"*"
_KINDS = tuple((kind, f"{STORES}{kind})".encode()) for kind in (NAMES, LINKS, SETTINGS))
_TERMINAL = b'"terminal_state":"'
# Whatever writes one of these gives a meaning, or may.
_SETTINGS_FILES = ("/.git/config", "/.gitconfig", "/.npmrc")
_WAITING = (None, "unresolved")


def keys_of(line: bytes) -> list[bytes]:
    """Return what a decision's line is found under: files it writes or deletes, facts it says."""
    start = line.find(_EFFECTS)
    rows = line[start : line.find(_EVENT, start)]
    found: list[bytes] = []
    if _STORES in rows or _DELETES in rows:
        for row in rows.split(b"},{"):
            if _STORES in row or _DELETES in row:
                at = row.find(_RESOURCE) + len(_RESOURCE)
                found.append(row[at : at + _RESOURCE_LENGTH])
        if _SEVERAL in rows:
            found.append(_ANY_FILE)
    if _SECRET in rows:
        found.append(READ_SECRET.encode())
    if any(needle in line for needle in _UNTRUSTED):
        found.append(READ_UNTRUSTED.encode())
    return found


def needles_of(key: bytes) -> Sequence[bytes]:
    """Return the bytes one of which stands in every decision found under a key."""
    if key == _ANY_FILE:
        return (_SEVERAL,)
    if key == READ_SECRET.encode():
        return (_SECRET,)
    return _UNTRUSTED if key == READ_UNTRUSTED.encode() else (key,)


class LedgerSession(ByName):
    """A session as its ledger says it; a ``gate.facts.session.Session``.

    Args:
        ledger: the ledger.
        session: the host's session id.
        key: the prompt's id, if the host has one.
        salt: the ledger's secret salt.
    """

    def __init__(self, ledger: Ledger, session: str, key: str | None, salt: bytes) -> None:
        self._ledger = ledger
        self._session = session
        self._key = key
        self._salt = salt
        self._recall: Recall | None = None
        self._turn: int | None = None
        self._sweeping: bool | None = None
        self._writes: dict[str, list[Write]] = {}
        self._given: frozenset[bytes] | None = None
        self._refs: dict[str, str] = {}

    def artifact(self, path: str) -> Artifact | None:
        """Return what a file is known to hold; if the ledger cannot be read, that it cannot."""
        try:
            if path == DEFINED:
                return self._kinds()
            file = path.partition(PART_MARK)[0]
            named = file == SHELL or file.endswith(_SETTINGS_FILES)
            if named and not (self._is_given(file) or self._is_given(path)):
                return None
            return by_path(path, self._ref, self._writes_of)
        except LedgerError:
            return UNREADABLE

    def _ref(self, name: str) -> str:
        found = self._refs.get(name)
        if found is None:
            found = self._refs[name] = resource_ref(name, self._salt)
        return found

    def _kinds(self) -> Artifact | None:
        """Return of which kinds any meaning was given, also by calls that came to nothing.

        It only says what is worth looking up, so the outcomes of the calls are not asked for.
        """
        lines = self._lines().decisions((self._ref(DEFINED).encode(),))
        if not lines:
            return None
        said = b"\n".join(lines)
        # Entries with too many files to name speak of any.
        if _SEVERAL not in said:
            rows = said.split(_RESOURCE)
            self._given = frozenset([row[:_RESOURCE_LENGTH] for row in rows[1:]])
        return Artifact(tuple([(kind, "") for kind, stored in _KINDS if stored in said]), ())

    def _is_given(self, path: str) -> bool:
        """Say whether an entry speaks of a name or setting; most are looked up in vain."""
        if self._given is None:
            self._kinds()
        return self._given is None or self._ref(path).encode() in self._given

    def has(self, code: str, turns: int) -> str | None:
        """Return the latest entry of the last turns that says a fact, or None.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        for line in self._lines().latest(code.encode()):
            one = _decided(line)
            since = self._current_turn() - turns + 1
            if one.turn < since:
                return None
            if says(code, one) and (
                entry := latest_fact(code, [one], self._endings([one]), since=since)
            ):
                return entry
        return None

    def close(self) -> None:
        """Let go of what was opened."""
        if self._recall is not None:
            self._recall.close()

    def _lines(self) -> Recall:
        if self._recall is None:
            self._recall = self._ledger.recall(self._session, keys_of, needles_of)
        return self._recall

    def _writes_of(self, key: str) -> list[Write]:
        if key not in self._writes:
            if self._sweeping is None:
                self._sweeping = bool(self._lines().decisions((_ANY_FILE,)))
            wanted = (key.encode(), _ANY_FILE) if self._sweeping else (key.encode(),)
            lines = self._lines().decisions(wanted)
            decided = [_decided(line) for line in lines]
            self._writes[key] = writes_of(key, decided, self._endings(decided))
        return self._writes[key]

    def _endings(self, decided: Sequence[Decided]) -> dict[str, str]:
        found: dict[str, str] = {}
        for one in decided:
            for line in self._lines().outcomes(one.digest.encode()):
                found[one.digest] = _terminal(line)
        waiting = [one for one in decided if found.get(one.digest) in _WAITING]
        if waiting and any(one.turn < self._current_turn() for one in waiting):
            digests = [one.digest for one in waiting]
            for line in self._ledger.late_outcomes(self._session, digests):
                found[answered_by(line).decode()] = _terminal(line)
        return found

    def _current_turn(self) -> int:
        if self._turn is None:
            self._turn = self._ledger.turn_of(self._session, self._key)
        return self._turn


def _terminal(line: bytes) -> str:
    start = line.find(_TERMINAL) + len(_TERMINAL)
    return line[start : line.find(b'"', start)].decode("ascii", "replace")


def _decided(line: bytes) -> Decided:
    body = _body(line)
    try:
        return _of(body, line)
    except (KeyError, TypeError):
        raise LedgerError("an entry of the session is no decision") from None


def _of(body: dict[str, Any], line: bytes) -> Decided:
    return Decided(
        entry=digest(line),
        digest=decision_digest_of(line),
        call=body["intent"]["call"],
        tool=body["intent"]["action_type"],
        state=body["ev"]["decision_state"],
        turn=body["turn"],
        effects=body["effects"],
    )


def _body(line: bytes) -> dict[str, Any]:
    try:
        body = json.loads(line)
    except (ValueError, RecursionError):
        raise LedgerError("an entry of the session cannot be read") from None
    if not isinstance(body, dict):
        raise LedgerError("an entry of the session is no JSON object")
    return body
