"""Deciding again: whether a recorded decision is what this build's gate decides.

From the ledger, the policy it keeps by digest, the vault's input and the salt,
the whole line of a decision is made once more and compared byte for byte. What
a decision was given (times, ids, facts, answers and approvals) is taken as
recorded; what the gate made of it is not.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from toolgate.action import Intent
from toolgate.canonical import digest, digest_of
from toolgate.errors import CanonicalizationError, LedgerError, PolicyError, RecordError
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import Catalog, shipped
from toolgate.gate.engine import Gate
from toolgate.gate.facts.history import Decided, Recorded
from toolgate.gate.facts.session import Fact
from toolgate.gate.judge.record import FACT as JUDGED
from toolgate.gate.open import build_digest, second_opinion
from toolgate.gate.policy.model import Policy
from toolgate.gate.recorded import fields_of, resource_ref
from toolgate.gate.task.task import Prompt, Task
from toolgate.ledger.salt import known_salt
from toolgate.ledger.vault.find import input_for
from toolgate.ledger.vault.input import GateInput
from toolgate.ledger.vault.keep import vault_of
from toolgate.ledger.vault.prompts import digest_of_prompts, prompts_of
from toolgate.records import MAX_FACTS, decision_entry, line_of, on_spine
from toolgate.rejudge import ASKED_OTHERWISE, AskedOtherwiseError, Rejudge
from toolgate.verify.read import Line
from toolgate.verify.reader import Reader
from toolgate.verify.shapes import Decision

if TYPE_CHECKING:
    from toolgate.gate.judge.judgement import Judgement

SAME, EXCEPT_BUILD = "same", "same_except_build"
DIFFERENT, NOT_REPLAYABLE = "different", "not_replayable"

_ORDER = (
    "decision_state",
    "rule",
    "axis",
    "class",
    "proof",
    "effects",
    "facts",
    "intent",
    "mode",
    "host",
    "principal",
    "auth_mode",
    "policy_version",
    "args_digest",
)
"""Fields in the order they are compared in: causes before the digests over them."""

_LONGEST_VALUE = 200


class Replayed(NamedTuple):
    """One decision, decided again.

    Args:
        entry: its entry digest.
        session: the session id.
        call: the call id.
        tool: the tool's name.
        result: ``same``, ``same_except_build``, ``different`` or ``not_replayable``.
        reason: why it could not be replayed, else "".
        field: the first field that differs, else "".
        recorded: what the ledger says there.
        now: what this build's gate makes of it.
    """

    entry: str
    session: str
    call: str
    tool: str
    result: str
    reason: str = ""
    field: str = ""
    recorded: str = ""
    now: str = ""


class Made(NamedTuple):
    """A decision of the ledger and what it answers.

    Args:
        line: the entry and its place.
        entry: what it says.
        answers: whether it answers an ask.
        repeats: whether it keeps the intent of an earlier decision.
        before: the session's decisions so far, this one the last.
    """

    line: Line
    entry: Decision
    answers: bool
    repeats: bool
    before: list[Decided]


def decisions(directory: Reader) -> Iterator[Made]:
    """Yield a ledger's decisions, those of linear sessions first.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    on_the_spine: dict[str, _Earlier] = {}
    for item in directory.read_spine():
        if isinstance(item, Line) and isinstance(item.entry, Decision):
            earlier = on_the_spine.setdefault(item.entry.session or "", _Earlier())
            yield earlier.made(item, item.entry)
    for name in sorted(directory.sessions):
        earlier = _Earlier()
        for item in directory.read_session(name):
            if isinstance(item, Line) and isinstance(item.entry, Decision):
                yield earlier.made(item, item.entry)


class _Earlier:
    """The decisions of a session so far."""

    def __init__(self) -> None:
        self._entries: set[str] = set()
        self._asks: set[str] = set()
        self._decided: list[Decided] = []

    def made(self, line: Line, entry: Decision) -> Made:
        answers = not self._asks.isdisjoint(entry.basis)
        repeats = not self._entries.isdisjoint(entry.parents)
        self._entries.add(line.digest)
        if entry.ev.decision_state == "asked":
            self._asks.add(line.event)
        self._decided.append(_decided(line, entry))
        return Made(line, entry, answers, repeats, self._decided)


def is_named(made: Made, wanted: str) -> bool:
    """Say whether a decision is the one meant by a digest, or by its first 8 hex digits or more.

    Args:
        made: the decision.
        wanted: its decision_digest or entry digest, with or without ``sha256:``.
    """
    text = wanted.removeprefix("sha256:")
    known = len(text) >= 8 and not text.strip("0123456789abcdef")
    return known and (made.line.digest[7:].startswith(text) or made.line.event[7:].startswith(text))


class Replay:
    """Decides a ledger's decisions again.

    Args:
        directory: the ledger.
        vault: the vault's directory; the ledger's own by default.

    Raises:
        LedgerError: the salt cannot be read.
        UnavailableError: the package was not built.
    """

    def __init__(self, directory: Reader, vault: str | None = None) -> None:
        self.build = build_digest()
        self._directory = directory
        self._vault = vault or vault_of(directory.root)
        self._salt = known_salt(directory.root)
        self._catalog: Catalog = shipped()
        self._gates: dict[str, Gate | str] = {}
        self._rejudge = Rejudge(directory)

    def decide(self, made: Made) -> Replayed:
        """Decide one decision again."""
        entry = made.entry
        result = Replayed(
            entry=made.line.digest,
            session=entry.session or "",
            call=entry.intent.call,
            tool=entry.intent.action_type,
            result=NOT_REPLAYABLE,
        )
        gate = self.gate_under(entry.ev.policy_version)
        held = self.input_of(entry)
        reason = next((one for one in (gate, held) if isinstance(one, str)), "")
        if isinstance(gate, str) or isinstance(held, str):
            return result._replace(reason=reason)
        if len(entry.facts) >= MAX_FACTS:
            return result._replace(reason="it rests on more facts than an entry can name")
        if self._salt is None:
            return result._replace(reason="the ledger's salt is missing")
        judgement = self._rejudge.judgement(entry, gate.policy)
        task = self._task(entry.session or "", held.call["task"])
        reason = next((one for one in (judgement, task) if isinstance(one, str)), "")
        if isinstance(judgement, str) or isinstance(task, str):
            return result._replace(reason=reason)
        try:
            call, links = call_of(held, task), links_of(held)
            body = self._again(made, gate, call, links, judgement, self._salt)
            line = line_of(body)
        except (CanonicalizationError, RecordError) as error:
            return result._replace(reason=f"the vault's input cannot be decided on: {error}")
        except AskedOtherwiseError:
            return result._replace(reason=ASKED_OTHERWISE)
        if line == made.line.raw:
            same = entry.build == self.build
            return result._replace(result=SAME if same else EXCEPT_BUILD)
        field, recorded, now = _first_difference(json.loads(made.line.raw), body)
        return result._replace(result=DIFFERENT, field=field, recorded=recorded, now=now)

    def gate_under(self, version: str) -> Gate | str:
        """Return the gate under a policy the ledger keeps, or why there is none."""
        if version not in self._gates:
            self._gates[version] = self._open(version)
        return self._gates[version]

    def _open(self, version: str) -> Gate | str:
        data = self._directory.policy(version)
        if data is None:
            return "the ledger does not hold its policy"
        if digest(data) != version:
            return "its policy's text was altered"
        try:
            policy = Policy(data)
        except PolicyError:
            return "its policy cannot be read by this build"
        if policy.catalog != self._catalog.digest:
            return "its policy was compiled with another catalogue"
        return Gate(policy, self._catalog, second_opinion)

    def input_of(self, entry: Decision) -> GateInput | str:
        """Return what the vault keeps of a decided call, or why it cannot be decided again."""
        held = input_for(
            self._vault,
            entry.ev.args_digest,
            session=entry.session or "",
            call=entry.intent.call,
            tool=entry.intent.action_type,
            ts=entry.ev.ts,
        )
        if held is None:
            return "the vault has no input for it"
        if not held.exact:
            return "the vault's input is redacted"
        if digest_of(held.call["input"]) != entry.ev.args_digest:
            return "the vault's input has other arguments"
        return held

    def _task(self, session: str, kept: dict[str, Any] | None) -> Task | str | None:
        """Return the task a decision was made with, or why the vault does not hold it."""
        if kept is None:
            return None
        prompts = prompts_of(self._vault, session)[0][: kept["count"]]
        if digest_of_prompts(prompts) != kept["digest"]:
            return "the vault no longer holds the prompts it was decided with"
        said = tuple(Prompt(one.text, one.entry) for one in prompts)
        return Task(said, whole=kept["whole"])

    def _again(
        self,
        made: Made,
        gate: Gate,
        call: ToolCall,
        links: Mapping[str, tuple[str, ...]],
        judgement: "Judgement | None",
        salt: bytes,
    ) -> dict[str, Any]:
        """Return the entry this build's gate makes."""
        entry = made.entry
        facts = [Fact(fact.code, fact.entry) for fact in entry.facts]
        known = Recorded(
            lambda path: resource_ref(path, salt), made.before, facts, entry.turn or 0, links
        )
        asked = [fact for fact in facts if fact.code == JUDGED]
        decision = self._rejudge.decision(gate, call, known, judgement)
        fields = fields_of(
            call,
            decision._replace(facts=(*asked, *decision.facts)),
            call_id=entry.intent.call,
            salt=salt,
            ts=entry.ev.ts,
            build=entry.build,
            args_digest=entry.ev.args_digest,
        )._replace(basis=tuple(entry.basis))
        if made.answers or made.repeats:
            intent = entry.intent
            fields = fields._replace(
                intent=Intent(
                    intent.agent_id, intent.action_type, intent.scope, intent.ts, intent.call
                )
            )
        if made.answers or entry.basis:  # who answers or approves decides it
            fields = fields._replace(decision_state=entry.ev.decision_state)
        body = decision_entry(
            fields, session=entry.session or "", turn=entry.turn or 0, parents=entry.parents
        )
        if isinstance(entry.seq, int) and isinstance(entry.prev_digest, str):
            body = on_spine(body, seq=entry.seq, prev_digest=entry.prev_digest)
        return body


def _decided(line: Line, entry: Decision) -> Decided:
    return Decided(
        entry=line.digest,
        digest=line.event,
        call=entry.intent.call,
        tool=entry.intent.action_type,
        state=entry.ev.decision_state,
        turn=entry.turn,
        effects=[
            {"type": one.type, "scope": one.scope, "resource": one.resource}
            for one in entry.effects
        ],
    )


def call_of(held: GateInput, task: Task | None = None) -> ToolCall:
    """Return the call that the vault keeps.

    Args:
        held: what it keeps of the call.
        task: what the user had asked for; kept apart.
    """
    call = held.call
    place = call["place"]
    return ToolCall(
        **{
            **call,
            "task": task,
            "agent": tuple(call["agent"]),
            "place": Place(
                cwd=place["cwd"],
                roots=tuple(place["roots"]),
                home=place["home"],
                temp=tuple(place["temp"]),
                gate=tuple(place["gate"]),
                disposable=tuple(place.get("disposable", ())),
                kept_shell=place.get("kept_shell", False),
            ),
        }
    )


def links_of(held: GateInput) -> dict[str, tuple[str, ...]]:
    """Return the paths of a kept call that links on the disk took elsewhere, and where to."""
    links = held.call["place"].get("links", {})
    return {path: tuple(found) for path, found in links.items()}


def _first_difference(recorded: dict[str, Any], now: dict[str, Any]) -> tuple[str, str, str]:
    """Return the first field that differs and both values; none of them is content."""
    left, right = {**recorded, **recorded["ev"]}, {**now, **now["ev"]}
    for name in (*_ORDER, *sorted(left.keys() | right.keys())):
        if name != "ev" and left.get(name) != right.get(name):
            return _inside(name, left.get(name), right.get(name))
    raise LedgerError("two lines of one decision differ in their bytes and in no field")


def _inside(name: str, left: Any, right: Any) -> tuple[str, str, str]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            if left.get(key) != right.get(key):
                return _inside(f"{name}.{key}", left.get(key), right.get(key))
    if isinstance(left, list) and isinstance(right, list):
        for at, (one, other) in enumerate(zip(left, right, strict=False)):
            if one != other:
                return _inside(f"{name}[{at}]", one, other)
        return f"{name}, how many", str(len(left)), str(len(right))
    return name, _shown(left), _shown(right)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
