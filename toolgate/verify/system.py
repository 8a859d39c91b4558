"""Several ledgers as one audit: agents that start agents, on one machine or many.

Nobody's order is trusted, neither the arguments' nor a writer's: the ledgers are
sets, one root is taken over their sorted session heads, and whether an agent was
started by an allowed decision is looked up in all of them.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from toolgate.errors import LedgerError
from toolgate.ledger.address import database_name
from toolgate.ledger.files import is_postgresql
from toolgate.ledger.merkle import tree_root
from toolgate.verify.anchors import NOTHING, Anchors
from toolgate.verify.copies import partings
from toolgate.verify.findings import Finding, finding, verdict
from toolgate.verify.ledger import verify
from toolgate.verify.loops import on_loops
from toolgate.verify.outline import Child, Outline, outline
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Line
from toolgate.verify.report import Report
from toolgate.verify.shapes import Decision, Other, Outcome, SessionClose

STARTERS = ("Agent", "Task")
"""Tools that start an agent."""

Progress = Callable[[int], None]


class Member(NamedTuple):
    """One ledger of the system.

    Args:
        path: where it lies.
        report: what its own verification found; None if it could not be read.
        why: why it could not be read.
    """

    path: str
    report: Report | None
    why: str | None


class Started(NamedTuple):
    """An allowed call that ran and starts agents, without a session that names it.

    Args:
        decision: its decision_digest.
        session: the session it was made in.
        tool: the tool.
        call: the call's id.
    """

    decision: str
    session: str
    tool: str
    call: str


class SystemReport(NamedTuple):
    """What a verification of several ledgers found.

    Args:
        verdict: PASS, FAIL, INCOMPLETE or CONDITIONAL, over all of them.
        root: the RFC 6962 root over the sorted heads of the sessions that have ended.
        heads: how many those are.
        links: how many sessions name the decision that started them.
        members: the ledgers, by path.
        findings: faults between the ledgers; those inside are in their own reports.
        childless: calls that started agents, none of which has a session here.
        conditions: what PASS would need, by ledger.
    """

    verdict: str
    root: str
    heads: int
    links: int
    members: list[Member]
    findings: list[Finding]
    childless: list[Started]
    conditions: list[str]

    def as_json(self) -> dict[str, Any]:
        """Return the report as one JSON object."""
        return {
            **self._asdict(),
            "findings": [item._asdict() for item in self.findings],
            "childless": [item._asdict() for item in self.childless],
            "members": [
                {
                    "path": item.path,
                    "why": item.why,
                    "report": None if item.report is None else item.report.as_json(),
                }
                for item in self.members
            ],
        }


class _Made(NamedTuple):
    """A decision that a session names: what it said, and the sessions that hold it."""

    state: str
    places: set[tuple[str, str]]


class _Use(NamedTuple):
    """A decision that rests on a signed approval."""

    ts: int
    entry: str
    action: str
    ledger: str


class _Watch:
    """Looks on while a ledger is verified, and keeps the little that concerns others."""

    def __init__(
        self, path: str, named: set[str], made: dict[str, _Made], uses: dict[str, set[_Use]]
    ) -> None:
        self.heads: dict[str, str] = {}
        self.started: dict[str, Started] = {}
        self.ran: set[str] = set()
        self.path = path
        self._named = named
        self._made = made
        self._uses = uses
        self._signatures: dict[str, str] = {}

    def __call__(self, line: Line) -> None:
        entry = line.entry
        if isinstance(entry, Decision):
            self._decision(line, entry)
        elif isinstance(entry, Outcome):
            ev = entry.ev
            # One that came late lies on the spine, which is read before its decision is.
            if ev.terminal_state not in ("refused", "unresolved") and (
                entry.turn is None or ev.decision_digest in self.started
            ):
                self.ran.add(ev.decision_digest)
        elif isinstance(entry, SessionClose):
            self.heads[entry.session] = line.digest
        elif isinstance(entry, Other) and entry.kind == "approval" and entry.ev["sig"] is not None:
            self._signatures[line.digest] = entry.ev["sig"]

    def _decision(self, line: Line, entry: Decision) -> None:
        state, session = entry.ev.decision_state, entry.session
        if line.event in self._named:
            made = self._made.setdefault(line.event, _Made(state, set()))
            made.places.add((self.path, session))
        if state == "allowed" and self._signatures:
            for item in entry.basis:
                if item in self._signatures:
                    use = _Use(entry.ts, line.digest, entry.ev.action_ref, self.path)
                    self._uses.setdefault(self._signatures[item], set()).add(use)
        if state == "allowed" and entry.intent.action_type in STARTERS:
            intent = entry.intent
            self.started[line.event] = Started(line.event, session, intent.action_type, intent.call)


def verify_system(
    roots: Sequence[str],
    *,
    anchors: Anchors = NOTHING,
    trusted: Collection[str] = (),
    progress: Progress | None = None,
) -> SystemReport:
    """Verify several ledgers as one.

    Args:
        roots: the ledgers (directories, ``postgresql://...``), in any order, any of them
            more than once.
        anchors: checkpoints and keys that were kept outside; each is held against the
            ledgers whose log it names.
        trusted: policy digests and public keys that are trusted to say who writes policies.
        progress: called now and then with the number of entries read so far.

    Raises:
        LedgerError: no ledger is given.
    """
    places = dict(_named(root) for root in sorted(roots, reverse=True))
    if not places:
        raise LedgerError("nothing to verify: no ledger was given")
    return _System(places, anchors, trusted, progress).run()


def _named(place: str) -> tuple[str, str]:
    """Return what a place is called, which holds no secret, and how it is opened."""
    if is_postgresql(place):
        return database_name(place), place
    path = os.path.realpath(place)
    return path, path


class _System:
    """One verification of several ledgers while it runs."""

    def __init__(
        self,
        places: Mapping[str, str],
        anchors: Anchors,
        trusted: Collection[str],
        progress: Progress | None,
    ) -> None:
        self._places = places
        self._paths = sorted(places)
        self._trusted = trusted
        self._anchors = anchors
        self._progress = progress
        self._findings: dict[tuple[str, str], Finding] = {}
        self._outlines: dict[str, Outline] = {}
        self._watches: list[_Watch] = []
        self._made: dict[str, _Made] = {}
        self._uses: dict[str, set[_Use]] = {}
        self._read = 0

    def run(self) -> SystemReport:
        """Read every spine for what it names, then verify every ledger and look it up."""
        missing: dict[str, str] = {}
        for path in self._paths:
            try:
                self._outlines[path] = outline(path, self._places[path])
            except LedgerError as error:
                missing[path] = str(error)
        children = [child for one in self._outlines.values() for child in one.children]
        named = {child.decision for child in children}
        members = [self._verify(path, named, missing) for path in self._paths]
        for member in members:
            if member.why is not None:
                self._add("log.ledger_missing", member.path, member.why)
        self._match_anchors()
        self._look_up(children)
        self._match_approvals()
        self._match_copies()
        heads = {head for watch in self._watches for head in watch.heads.values()}
        return self._report(members, heads, len(named))

    def _verify(self, path: str, named: set[str], missing: Mapping[str, str]) -> Member:
        if path in missing:
            return Member(path, None, missing[path])
        watch = _Watch(path, named, self._made, self._uses)
        try:
            report = verify(
                self._places[path],
                anchors=self._anchors_of(path),
                roots=self._trusted,
                watch=watch,
                progress=None if self._progress is None else self._tell,
            )
        except LedgerError as error:
            return Member(path, None, str(error))
        self._read += sum(report.entries.values())
        self._watches.append(watch)
        return Member(path, report, None)

    def _tell(self, entries: int) -> None:
        assert self._progress is not None
        self._progress(self._read + entries)

    # -- what was kept outside

    def _anchors_of(self, path: str) -> Anchors:
        origins = self._outlines[path].origins
        key = self._anchors.key
        return self._anchors._replace(
            held=tuple(one for one in self._anchors.held if one.checkpoint.origin in origins),
            key=key if key is not None and key.name in origins else None,
        )

    def _match_anchors(self) -> None:
        known = {origin for one in self._outlines.values() for origin in one.origins}
        for held in self._anchors.held:
            if held.checkpoint.origin not in known:
                message = f"no ledger that was given is the log {held.checkpoint.origin!r:.80}"
                self._add("log.ledger_missing", f"checkpoint {held.name}", message)
        key = self._anchors.key
        if key is not None and key.name not in known:
            message = f"no ledger that was given is the log {key.name!r:.80}"
            self._add("log.ledger_missing", "pinned key", message)

    def _match_approvals(self) -> None:
        """Hold every signed approval to one action, in whichever ledgers it stands."""
        for uses in self._uses.values():
            first, *later = sorted(uses)
            for use in later:
                if use.action != first.action and use.ledger != first.ledger:
                    message = (
                        f"a decision rests on an approval that decision {first.entry} of another "
                        "ledger has used already"
                    )
                    self._add("entries.approval_reused", use.entry, message)

    def _match_copies(self) -> None:
        """Hold ledgers that begin with the same entry against each other."""
        read = {one.path for one in self._watches}
        starts = Counter(one.start for path, one in self._outlines.items() if path in read)
        spines = (
            (path, open_ledger(self._places[path]).read_spine())
            for path in self._paths
            if path in read and starts[self._outlines[path].start] > 1
        )
        for parting in partings(spines):
            message = (
                f"{', '.join(parting.ledgers)}: this entry follows {parting.before}, and a copy "
                f"of the ledger has {parting.other} in its place"
            )
            self._add("log.equivocation", parting.entry, message)

    # -- who started whom

    def _look_up(self, children: list[Child]) -> None:
        loops = self._loops(children)
        for child in children:
            made = self._made.get(child.decision)
            who = f"session {child.session!r:.80} names {child.decision} as what started it"
            if made is None:
                self._add("log.spawn_unknown", child.entry, f"{who}; no ledger here holds it")
            elif made.state != "allowed":
                self._add("log.spawn_denied", child.entry, f"{who}; it was {made.state}")
            elif self._opening(child.ledger, child.session) in loops:
                message = f"{who}; that was made by an agent which it started itself"
                self._add("log.spawn_denied", child.entry, message)

    def _opening(self, ledger: str, session: str) -> str:
        """Return the first session_open of a session, which is the same in every copy."""
        return self._outlines[ledger].sessions.get(session, "")

    def _loops(self, children: list[Child]) -> set[str]:
        """Return the sessions that lie on a loop of sessions starting one another."""
        edges = {
            (self._opening(child.ledger, child.session), self._opening(*place))
            for child in children
            if child.decision in self._made
            for place in self._made[child.decision].places
        }
        return on_loops({edge for edge in edges if all(edge)})

    # -- the report

    def _report(self, members: list[Member], heads: set[str], links: int) -> SystemReport:
        findings = [self._findings[place] for place in sorted(self._findings)]
        conditions = [
            f"{member.path}: {item}"
            for member in members
            if member.report is not None
            for item in member.report.conditions
        ]
        every = findings + [
            item for member in members if member.report for item in member.report.findings
        ]
        leaves = [bytes.fromhex(head[7:]) for head in sorted(heads)]
        return SystemReport(
            verdict=verdict(every, conditional=bool(conditions)),
            root="sha256:" + tree_root(leaves).hex(),
            heads=len(heads),
            links=links,
            members=members,
            findings=findings,
            childless=self._childless(),
            conditions=conditions,
        )

    def _childless(self) -> list[Started]:
        found = {
            item
            for watch in self._watches
            for digest, item in watch.started.items()
            if digest in watch.ran and digest not in self._made
        }
        return sorted(found)

    def _add(self, code: str, entry: str, message: str) -> None:
        self._findings.setdefault((code, entry), finding(code, entry, message))
