"""A session's entries read for facts: which writes they decided, what they let it read. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from toolgate.gate.facts.artifacts import (
    CONFIRMED,
    PART,
    PENDING,
    SEVERAL,
    UNREAD,
    VOID,
    Artifact,
    Write,
    followed,
    joined,
    state_of,
)
from toolgate.gate.facts.session import (
    ASKABLE,
    PART_MARK,
    PENDING_WRITE,
    READ_SECRET,
    READ_UNTRUSTED,
    ByName,
    Fact,
)

STORES = "stores("
_SEVERAL = f"{STORES}{SEVERAL})"

# What comes from there is by others; so is what is only looked at there: issues, reviews.
_FETCHES = frozenset(("net.fetch", "net.send", "inspect"))
_OUTSIDE = frozenset(("outside", "unknown"))
_UNTRUSTED_TOOLS = ("mcp__", "WebSearch", "google_web_search")


class Decided(NamedTuple):
    """A decision of the session, as its entry says it.

    Args:
        entry: digest of the entry.
        digest: digest of the decision event, which an outcome commits to.
        call: the call's id.
        tool: the tool's name.
        state: ``allowed``, ``asked`` or ``denied``.
        turn: the number of its turn.
        effects: its effects, resources keyed.
    """

    entry: str
    digest: str
    call: str
    tool: str
    state: str
    turn: int
    effects: Sequence[Mapping[str, Any]]


def latest(decisions: Iterable[Decided]) -> list[Decided]:
    """Return of each call the decision that counts, in order: a later one replaces an earlier."""
    found: dict[str, Decided] = {}
    for one in decisions:
        found.pop(one.call, None)
        found[one.call] = one
    return list(found.values())


def writes_of(key: str, decisions: Iterable[Decided], endings: Mapping[str, str]) -> list[Write]:
    """Return a file's writes, oldest first.

    Args:
        key: the file's key.
        decisions: decisions of the session in order; at least all that name the key.
        endings: terminal_state by decision digest.
    """
    made: list[Write] = []
    for one in latest(decisions):
        rows = [row for row in one.effects if row["resource"] == key]
        notes = [row["type"][len(STORES) : -1] for row in rows if row["type"].startswith(STORES)]
        state = state_of(one.state, one.tool, endings.get(one.digest))
        if notes:
            whole = PART not in notes
            holds = tuple(note for note in notes if note != PART)
            made.append(Write(one.entry, state, holds, whole))
        elif any(row["type"] == _SEVERAL for row in one.effects):
            made.append(Write(one.entry, state, (UNREAD,), whole=False))
        elif any(row["type"] == "fs.delete" for row in rows):
            made.append(Write(one.entry, state, (), whole=True, ends=True))
    return made


def artifact_of(
    whole: str, part: str | None, writes: Callable[[str], Sequence[Write]]
) -> Artifact | None:
    """Return what a file, or a part of it, holds with what running it runs.

    A part's writes count from the latest confirmed whole write of the file on, because
    that one says which parts there are.

    Args:
        whole: the file's key.
        part: the part's key, or None for the file as a whole.
        writes: returns a file's writes by key.
    """
    if part is None:
        return followed(whole, writes)
    of_file = list(writes(whole))
    certain = [at for at, write in enumerate(of_file) if write.whole and write.state == CONFIRMED]
    of_file = of_file[certain[-1] :] if certain else of_file
    since = {write.entry for write in of_file} if certain else None

    def counted(key: str) -> Sequence[Write]:
        if key == whole:
            return of_file
        found = writes(key)
        if key != part or since is None:
            return found
        return [write for write in found if write.entry in since]

    # What a write puts into the file as a whole was not told by parts: it may be in any.
    both = (followed(part, counted), followed(whole, counted))
    return joined(item for item in both if item is not None)


def latest_fact(
    code: str,
    decisions: Iterable[Decided],
    endings: Mapping[str, str],
    *,
    since: int,
) -> str | None:
    """Return the latest entry that says a fact, or None.

    Args:
        code: ``read_secret`` or ``read_untrusted``.
        decisions: decisions of the session in order; at least all that could say it.
        endings: terminal_state by decision digest.
        since: number of the first turn that counts.
    """
    found = None
    for one in latest(decisions):
        if one.turn < since or not says(code, one):
            continue
        if state_of(one.state, one.tool, endings.get(one.digest)) != VOID:
            found = one.entry
    return found


def says(code: str, one: Decided) -> bool:
    """Say whether a decision, once its call has run, says a fact."""
    if code == READ_SECRET:
        return any(row["type"] == "secret.read" for row in one.effects)
    if code != READ_UNTRUSTED:
        return False
    if one.tool.startswith(_UNTRUSTED_TOOLS):
        return True
    return any(row["type"] in _FETCHES and row["scope"] in _OUTSIDE for row in one.effects)


class History(ByName):
    """A session told call by call; a ``session.Session``.

    Args:
        key: returns the key a path stands under in the effects.
    """

    def __init__(self, key: Callable[[str], str]) -> None:
        self._key = key
        self._turn = 1
        self._by_key: dict[str, list[Decided]] = {}
        self._says: dict[str, list[Decided]] = {code: [] for code in ASKABLE}
        self._endings: dict[str, str] = {}
        self._last: Decided | None = None
        self._order: dict[str, int] = {}

    def decided(self, one: Decided) -> None:
        """Add a decision."""
        self._last = one
        self._order[one.entry] = len(self._order)
        self._turn = max(self._turn, one.turn)
        keys = {
            _SEVERAL if row["type"] == _SEVERAL else row["resource"]
            for row in one.effects
            if row["type"].startswith(STORES) or row["type"] == "fs.delete"
        }
        for key in keys:
            self._by_key.setdefault(key, []).append(one)
        for code, found in self._says.items():
            if says(code, one):
                found.append(one)

    def ended(self, state: str) -> None:
        """Add the outcome of the last call, as a terminal_state."""
        if self._last is not None:
            self._endings[self._last.digest] = state

    def turn(self, number: int) -> None:
        """Begin a turn."""
        self._turn = number

    def artifact(self, path: str) -> Artifact | None:
        """Return what a file, or a part of one, is known to hold."""
        return by_path(path, self._key, self._writes)

    def has(self, code: str, turns: int) -> str | None:
        """Return the latest entry of the last turns that says a fact, or None."""
        since = self._turn - turns + 1
        return latest_fact(code, self._says[code], self._endings, since=since)

    def _writes(self, key: str) -> list[Write]:
        found = self._by_key.get(key, [])
        if sweeping := self._by_key.get(_SEVERAL):
            both = {one.entry: one for one in (*found, *sweeping)}
            found = sorted(both.values(), key=lambda one: self._order[one.entry])
        return writes_of(key, found, self._endings)


class Recorded:
    """A session as a decision was given it, to decide again; a ``session.Session``.

    What was known then is what the decision's facts name, whatever came to be known since.

    Args:
        key: returns the key a path stands under in the entries.
        decisions: the session's decisions, in order.
        facts: the facts the decision rests on.
        turn: number of its turn.
        links: paths, and where links on the disk took them then.
    """

    def __init__(
        self,
        key: Callable[[str], str],
        decisions: Iterable[Decided],
        facts: Sequence[Fact],
        turn: int,
        links: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._key = key
        self._links = links
        self._facts = facts
        self._turn = turn
        named = {fact.entry for fact in facts}
        self._named = [one for one in decisions if one.entry in named]

    def leads(self, path: str) -> tuple[str, ...]:
        """Return where links on the disk took a path."""
        return self._links.get(path, ())

    def artifact(self, path: str) -> Artifact | None:
        """Return what a file, or a part of one, was known to hold."""
        return by_path(path, self._key, self._writes)

    def has(self, code: str, turns: int) -> str | None:
        """Return the latest of the decision's facts of a code, within the last turns."""
        wanted = {fact.entry for fact in self._facts if fact.code == code}
        found = None
        for one in self._named:
            if one.entry in wanted and one.turn > self._turn - turns and says(code, one):
                found = one.entry
        return found

    def _writes(self, key: str) -> list[Write]:
        ran = {one.digest: "ok" for one in self._named}
        pending = {fact.entry for fact in self._facts if fact.code == PENDING_WRITE}
        return [
            write._replace(state=PENDING) if write.entry in pending else write
            for write in writes_of(key, self._named, ran)
            if not write.ends
        ]


def by_path(
    path: str, key: Callable[[str], str], writes: Callable[[str], Sequence[Write]]
) -> Artifact | None:
    """Return what a file, or a part of one, holds with what running it runs.

    Args:
        path: as of ``session.Session.artifact``.
        key: returns the key a path stands under in the entries.
        writes: returns a file's writes by key.
    """
    whole, mark, _ = path.partition(PART_MARK)
    return artifact_of(key(whole), key(path) if mark else None, writes)
