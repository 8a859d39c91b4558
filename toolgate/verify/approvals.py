"""Layer 1, approvals: who gave them, what they are about, and what rests on them.

The composition a policy declares for a class is recomputed here from the entries
alone, by a reading of its own: nothing is shared with the code that decides.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Protocol

from toolgate.canonical import profile_bytes
from toolgate.signing import verifies
from toolgate.verify.composition import needs, repeated, satisfies, sequences
from toolgate.verify.findings import Found, Seen, finding
from toolgate.verify.given import Approval, Index, Resting, seq_of, spent, taken_back
from toolgate.verify.keys import Keys, Rotation, Term, rotation_of
from toolgate.verify.lift import TAMPER, matter_of, not_lifted
from toolgate.verify.policy import Policy, Rule
from toolgate.verify.read import Line
from toolgate.verify.shapes import Decision, Other

_COMPOSITION = "composition"
_CITED = "approval.cited"
_NEVER = 2**62
_MOST = 64  # of one principal's approvals of one thing, the latest that many are looked at


class Policies(Protocol):
    """The policies a ledger holds."""

    @property
    def announced(self) -> Mapping[str, int]:
        """Return the number of the spine entry that announced each policy, by its digest."""

    def held(self, version: str) -> Policy | None:
        """Return a policy that is held unaltered, None if there is none."""


class Approvals:
    """The approvals of a ledger and the decisions that rest on them.

    Args:
        seen: where findings go.
        policies: the policies the ledger holds.

    Attributes:
        entries: the approvals, by entry digest.
        keys: whose keys are whose; complete after ``finish``.
        rotations: how many rotations of approvers' keys there are.
    """

    def __init__(
        self,
        seen: Found,
        policies: Policies,
    ) -> None:
        self.entries: dict[str, Approval] = {}
        self.keys = Keys()
        self.rotations = 0
        self._seen = seen
        self._policies = policies
        self._named: dict[str, str] = {}
        self._rotated: list[Rotation] = []
        self._signatures: dict[str, str] = {}
        self._cited: dict[str, dict[str, int]] = {}
        self._terms: dict[tuple[str, str], dict[str, Term]] = {}
        self._resting: dict[str, Resting] = {}
        self._answers: dict[str, dict[str, str]] = defaultdict(dict)
        self._matters: dict[str, dict[bytes, int]] = defaultdict(dict)
        self._approving = Index()
        self._refusing = Index()
        self._refused: dict[str, list[Approval]] = {}

    # -- while reading

    def entry(self, line: Line, entry: Other) -> None:
        """Take a spine entry that approvals have to do with: itself, a key, or a citation."""
        ev = entry.ev
        if entry.kind == "approval":
            self._approval(line, entry)
        elif entry.kind == "key_rotate" and ev["role"] == "approver":
            self.rotations += 1
            self._rotated.append(rotation_of(line.digest, entry.seq, ev))
        elif entry.kind == "audit" and ev["action"] == _CITED:
            named = ev["details"].get("approvals")
            for item in named if isinstance(named, list) else ():
                self._cited.setdefault(str(item), {})[str(ev["target"])] = entry.seq

    def _approval(self, line: Line, entry: Other) -> None:
        ev, name = entry.ev, line.digest
        sound = True
        if ev["evidence"] == "signature":
            said = profile_bytes({key: value for key, value in ev.items() if key != "sig"})
            sound = verifies(ev["key"], ev["sig"], said)
            if not sound:
                message = f"{line.where}: the signature of {ev['principal']!r} does not verify"
                self._add("entries.approval_signature", name, message, entry.session)
            first = self._signatures.setdefault(ev["sig"], name)
            if first != name:
                sound = False
                message = f"{line.where}: repeats the signature of {first}; one counts once"
                self._add("entries.approval_reused", name, message, entry.session)
        if entry.parents and (len(entry.parents) > 1 or entry.parents[0] not in self.entries):
            message = f"{line.where}: names {entry.parents}; expected one approval before it"
            self._add("entries.approval_order", name, message, entry.session)
        if ev["decision_digest"] is not None:
            self._named[ev["decision_digest"]] = name
        item = Approval(name, entry.seq, tuple(entry.parents), ev, sound)
        self.entries[name] = item
        if sound and not item.approves and ev["decision_digest"] is not None:
            self._refused.setdefault(ev["decision_digest"], []).append(item)
        if item.signed:
            (self._approving if item.approves else self._refusing).add(item)

    def decision(
        self,
        line: Line,
        entry: Decision,
        asks: list[str],
        opened: int | None,
        closed: int | None,
    ) -> None:
        """Take a decision that rests on something, or whose class needs approvals.

        Args:
            line: the entry and its place.
            entry: what it says.
            asks: the decisions its basis names.
            opened: number of its turn_open, if approvals stand before that.
            closed: number of its turn_close, if it was read already.
        """
        session, ev = entry.session, entry.ev
        answers = self._answers[session]
        for ask in asks:
            before = answers.get(ask)
            if before not in (None, line.digest, *entry.parents):
                message = f"{line.where}: answers {ask}, which {before} has answered"
                self._add("entries.ask_twice", line.digest, message, session, entry.turn)
            answers[ask] = line.digest
        refused = ev.decision_state == "allowed" and not self._refused.keys().isdisjoint(asks)
        plain = len(asks) == len(entry.basis) and not refused
        if plain and not self._needs_approvals(entry):
            return
        here = entry.seq if isinstance(entry.seq, int) else None
        self._resting[line.digest] = Resting(
            entry=line.digest,
            event=line.event,
            session=session,
            turn=entry.turn,
            seen=here or opened or 0,
            until=here or closed or _NEVER,
            state=ev.decision_state,
            rule=entry.rule,
            action_class=entry.action_class,
            policy=ev.policy_version,
            args=ev.args_digest,
            action_ref=ev.action_ref,
            ts=entry.ts,
            asks=tuple(asks),
            basis=tuple(entry.basis),
            tampers=any(effect.type == TAMPER for effect in entry.effects),
            seen_at=self._matters[session].get(matter_of(entry)),
        )

    def held_back(self, entry: Decision) -> None:
        """Take a decision that was asked about or denied: somebody may sign for it later."""
        self._matters[entry.session].setdefault(matter_of(entry), entry.ts)

    def _needs_approvals(self, entry: Decision) -> bool:
        policy = self._policies.held(entry.ev.policy_version)
        composed = policy is not None and entry.action_class in policy.composition
        return composed and (entry.ev.decision_state == "allowed" or entry.rule == _COMPOSITION)

    def end_session(self, session: str, decisions: Mapping[str, object]) -> None:
        """Note the decisions a session holds, by decision_digest, now that all of it was read."""
        self._answers.pop(session, None)
        self._matters.pop(session, None)
        for known in decisions.keys() & self._named.keys() if self._named else ():
            del self._named[known]

    # -- sessions that other processes read

    def begin(self) -> None:
        """Go on as one of several processes, which notes only what it reads itself."""
        self._resting.clear()

    def noted(self) -> tuple[list[Resting], set[str]]:
        """Return the decisions that rest on approvals, and what approvals name in vain so far."""
        return list(self._resting.values()), set(self._named)

    def take(
        self, parts: Sequence[tuple[list[Resting], set[str]]], order: Mapping[str, int]
    ) -> None:
        """Take what other processes noted; ``order`` is where each session stands."""
        resting = [one for found, _ in parts for one in found]
        for one in sorted(resting, key=lambda item: order[item.session]):
            self._resting[one.entry] = one
        for _, unnamed in parts:
            for name in self._named.keys() - unnamed:
                del self._named[name]

    # -- once all was read

    def finish(self) -> None:
        """Judge the approvals and everything that rests on them."""
        for named, name in self._named.items():
            message = f"names decision {named}; no session holds it"
            self._add("entries.approval_unbound", name, message, self.entries[name].ev["session"])
        self._rotate()
        users = self._users()
        used = self._cited.keys() | users.keys()
        for one in self._resting.values():
            policy = self._policies.held(one.policy)
            if policy is None:
                continue
            if one.state == "allowed":
                self._allowed(one, policy, users)
            elif one.state == "denied":
                self._denied(one, policy, used)

    def _rotate(self) -> None:
        owners: dict[str, set[str]] = defaultdict(set)
        for version in self._policies.announced if self._rotated else ():
            policy = self._policies.held(version)
            for name, keys in policy.principals.items() if policy is not None else ():
                for key in keys:
                    owners[key].add(name)
        for one in self._rotated:
            why = self.keys.take(one, owners)
            if why is not None:
                message = f"the rotation of a key of {one.name!r} does not count: {why}"
                self._add("entries.approval_key", one.entry, message, None)

    def _users(self) -> dict[str, str]:
        """Return the action that uses each approval: the earliest, if there are several."""
        users: dict[str, str] = {}
        for one in sorted(self._resting.values(), key=lambda item: item.ts):
            if one.state == "allowed":
                for item in one.basis:
                    users.setdefault(item, one.action_ref)
        return users

    def _allowed(self, one: Resting, policy: Policy, users: Mapping[str, str]) -> None:
        cited = [self.entries[item] for item in one.basis if item in self.entries]
        good: list[Approval] = []
        back = self._refusals(one, policy, cited, self._used_at(one, cited))
        for item in cited:
            fault = self._fault(one, policy, item) or spent(one, item, back, users)
            if fault is not None:
                self._about(one, *fault)
            elif item.sound:
                good.append(item)
        if len(good) == len(cited):
            self._answered(one, policy, good)
        rule = policy.composition.get(one.action_class)
        if rule is None and not cited:
            return
        if rule is None and not one.asks:
            why = not_lifted(one, policy, [item for item in good if item.signed])
            if why:
                self._about(one, "entries.approval_lift", why)
        self._composed(one, rule, cited, good)

    def _answered(self, one: Resting, policy: Policy, good: list[Approval]) -> None:
        """Hold an ask that was refused to that, unless somebody approved it later.

        What a host reports does not stand against a signature.
        """
        for item in (item for ask in one.asks for item in self._refused.get(ask, ())):
            if item.signed and not self._speaks(one, policy, item):
                continue
            before = item.seq < one.until and item.ev["ts"] <= one.ts
            if before and not any(
                given.seq > item.seq and given.signed >= item.signed for given in good
            ):
                message = f"the ask it answers was refused by {item.principal!r} ({item.entry})"
                self._about(one, "entries.approval_refused", message)
                return

    def _composed(
        self, one: Resting, rule: Rule | None, cited: list[Approval], good: list[Approval]
    ) -> None:
        again = repeated(cited)
        if again is not None:
            message = f"{again.principal!r} stands twice in the basis, as {again.entry} as well"
            self._about(one, "entries.approver_twice", message)
        if any(a.seq > b.seq for a, b in pairwise(cited)):
            message = "the approvals in the basis do not stand in the order they were given"
            self._about(one, "entries.approval_order", message)
        if rule is None:
            return
        signed = [item for item in good if item.signed]
        if satisfies(rule, signed):
            return
        if rule.operator == "staged" and set(rule.principals) <= {i.principal for i in signed}:
            message = f"the approvals do not follow each other as {' then '.join(rule.principals)}"
            self._about(one, "entries.approval_order", message)
        else:
            by = ", ".join(sorted({item.principal for item in signed})) or "nobody"
            message = f"class {one.action_class} needs {needs(rule)}; approved by {by}"
            self._about(one, "entries.composition_unmet", message)

    def _fault(self, one: Resting, policy: Policy, item: Approval) -> tuple[str, str] | None:
        """Return what is wrong with an approval that a decision cites, by itself."""
        ev, who = item.ev, f"{item.principal!r} ({item.entry})"
        if not item.approves and one.state == "allowed":
            return "entries.approval_refused", f"rests on the refusal by {who}"
        for name, mine in (
            ("args_digest", (one.args,)),
            ("class", (one.action_class,)),
            ("session", (one.session,)),
            ("decision_digest", one.asks),
        ):
            if ev[name] is not None and ev[name] not in mine:
                said = f"the approval by {who} is about {name} {ev[name]}"
                return "entries.approval_other", f"{said}; expected {' or '.join(mine) or 'none'}"
        if ev["evidence"] == "telemetry":
            if ev["decision_digest"] is None:
                return "entries.approval_other", f"what the host reports of {who} is about no ask"
            return None
        if item.sound and not self._speaks(one, policy, item):
            return "entries.approval_key", f"{ev['key']} is no key of {who} under the policy"
        if item.approves and one.ts > ev["expiry"]:
            return "entries.approval_expired", f"the approval by {who} ended at {ev['expiry']}"
        return None

    def _used_at(self, one: Resting, cited: list[Approval]) -> int:
        """Return the spine entry at which a decision used up what it cites, at the earliest."""
        places = (self._cited.get(item.entry, {}).get(one.event, item.seq) for item in cited)
        return max([one.seen, *[item.seq for item in cited], *places])

    def _refusals(
        self, one: Resting, policy: Policy, items: Iterable[Approval], before: int
    ) -> dict[str, Approval]:
        """Return the latest refusal of a decision by each principal who approved it."""
        found: dict[str, Approval] = {}
        for name in dict.fromkeys(item.principal for item in items):
            terms = self._terms_of(one.policy, policy, name)
            refusals = self._refusing.about(one, name, terms, before, 1)
            if refusals:
                found[name] = max(refusals, key=seq_of)
        return found

    def _terms_of(self, version: str, policy: Policy, name: str) -> dict[str, Term]:
        """Return the keys a principal has under a policy, and when each is theirs."""
        found = self._terms.get((version, name))
        if found is None:
            found = self.keys.terms(name, policy.principals.get(name, ()))
            self._terms[version, name] = found
        return found

    def _denied(self, one: Resting, policy: Policy, used: Set[str]) -> None:
        cited = [self.entries[item] for item in one.basis if item in self.entries]
        refusals = [item for item in cited if not item.approves]
        for item in refusals:
            fault = self._fault(one, policy, item)
            if fault is not None:
                self._about(one, *fault)
        rule = policy.composition.get(one.action_class)
        if rule is None and one.asks:
            rule = Rule("any-of", list(policy.principals))
        if rule is None or refusals:
            return
        if satisfies(rule, [item for item in cited if self._counts(one, policy, item)]):
            message = "it is denied although the approvals it cites satisfy the rule"
            self._about(one, "entries.composition_denied", message)
        elif one.rule == _COMPOSITION and self._had(one, policy, rule, used):
            message = (
                f"it is denied for want of {needs(rule)}; unused approvals that satisfy it stand "
                "before its turn"
            )
            self._about(one, "entries.composition_denied", message)

    def _counts(self, one: Resting, policy: Policy, item: Approval) -> bool:
        return item.approves and item.signed and self._fault(one, policy, item) is None

    def _had(self, one: Resting, policy: Policy, rule: Rule, used: Set[str]) -> bool:
        """Say whether unused approvals that satisfy a rule stood there for certain."""
        unused = [
            item
            for name in dict.fromkeys(rule.principals)
            for item in self._approving.about(
                one, name, self._terms_of(one.policy, policy, name), one.seen, _MOST
            )
            if item.entry not in used and self._counts(one, policy, item)
        ]
        back = self._refusals(one, policy, unused, one.until)
        there = [item for item in unused if not taken_back(item, back)]
        if rule.operator == "staged":
            return any(satisfies(rule, line) for line in sequences(there))
        return satisfies(rule, there)

    def _speaks(self, one: Resting, policy: Policy, item: Approval) -> bool:
        term = self._terms_of(one.policy, policy, item.principal).get(item.ev["key"])
        return term is not None and term.after < item.seq <= term.until

    def _about(self, one: Resting, code: str, message: str) -> None:
        self._add(code, one.entry, message, one.session, one.turn)

    def _add(
        self, code: str, entry: str, message: str, session: str | None, turn: int | None = None
    ) -> None:
        self._seen.append(Seen(finding(code, entry, message), session, turn))
