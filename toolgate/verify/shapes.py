"""The closed shapes of entries, as the verifier reads them.

Written apart from ``toolgate.records``, which the writer uses, so that a slip in
one of them is a disagreement and not a shared blind spot. Fields stand in the
order of their wire names: a line is canonical exactly when decoding and encoding
it again gives the same bytes. Kinds that carry free or rare content (audit,
approval, key_rotate, checkpoint) are read through ``Other``.

The layers tell kinds apart by ``type(entry) is``: to ``isinstance`` a struct's class
answers through its metaclass, which takes several times as long where the answer is no.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

LARGEST = 2**53 - 1
DIGEST_LENGTH = len("sha256:") + 64

Integer = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Digest = Annotated[str, Meta(min_length=DIGEST_LENGTH, max_length=DIGEST_LENGTH)]
Natural = Annotated[int, Meta(ge=0, le=LARGEST)]
Scope = Literal[
    "inspect-only",
    "workspace",
    "temp",
    "home",
    "outside",
    "unknown",
    "system",
    "secret",
    "gate",
]


class Closed(Struct, forbid_unknown_fields=True, gc=False):
    """An object that has these fields and no other."""


class Effect(Closed):
    """One typed effect of a call."""

    count: Natural
    proof: str
    resource: str
    reversible: bool
    scope: Scope
    type: str


class Fact(Closed):
    """One thing the session's earlier entries say."""

    code: str
    entry: Digest


class Intent(Closed):
    """What an action_ref is derived from."""

    action_type: str
    agent_id: str
    call: str
    scope: Scope
    ts: Integer


class DecisionEvent(Closed):
    """The eight fields a decision_digest binds."""

    action_ref: Digest
    args_digest: Digest
    auth_mode: Literal["agent", "user", "delegated", "service", "unknown"]
    decision_id: Digest
    decision_state: Literal["allowed", "asked", "denied"]
    policy_version: Digest
    principal: str
    ts: Integer


class Beside(Closed):
    """What a decision_id is the digest of."""

    axis: str | None
    basis: list[str]
    build: str
    action_class: str = field(name="class")
    effects: Annotated[list[Effect], Meta(max_length=64)]
    facts: Annotated[list[Fact], Meta(max_length=32)]
    host: str
    intent: Intent
    mode: str | None
    proof: str
    rule: str


class Decision(Closed, kw_only=True):
    """A decision entry; ``prev_digest`` and ``seq`` stand in a linear session's only."""

    axis: str | None
    basis: list[Digest]
    build: str
    action_class: str = field(name="class")
    effects: Annotated[list[Effect], Meta(max_length=64)]
    ev: DecisionEvent
    facts: Annotated[list[Fact], Meta(max_length=32)]
    host: str
    intent: Intent
    kind: Literal["decision"]
    mode: str | None
    parents: list[Digest]
    prev_digest: Digest | UnsetType = UNSET
    proof: str
    rule: str
    seq: Natural | UnsetType = UNSET
    session: str
    ts: Integer
    turn: Natural
    v: Literal[1]


class OutcomeEvent(Closed):
    """The five fields of an outcome."""

    action_ref: Digest
    decision_digest: Digest
    result_digest: Digest | None
    terminal_state: Literal["ok", "error", "timeout", "cancelled", "refused", "unresolved"]
    ts: Integer


class Outcome(Closed, kw_only=True):
    """An outcome entry."""

    ev: OutcomeEvent
    join: Literal["id", "content"]
    kind: Literal["outcome"]
    parents: list[Digest]
    prev_digest: Digest | UnsetType = UNSET
    seq: Natural | UnsetType = UNSET
    session: str
    source: Literal["hook", "telemetry", "transcript", "person", "close", "recovery"]
    ts: Integer
    turn: Natural | None
    v: Literal[1]


class RecoveryEvent(Closed):
    """Which bytes were sealed."""

    digest: Digest
    length: Natural
    offset: Natural
    ts: Integer


class Recovery(Closed, kw_only=True):
    """A recovery entry."""

    ev: RecoveryEvent
    kind: Literal["recovery"]
    parents: list[Digest]
    prev_digest: Digest | UnsetType = UNSET
    seq: Natural | UnsetType = UNSET
    session: str | None
    ts: Integer
    turn: Natural | None
    v: Literal[1]


class SessionOpenEvent(Closed):
    """How a session is written."""

    durability: Literal["os", "fsync"]
    executes: bool
    host: str
    part: Natural
    shape: Literal["dag", "linear"]
    spawned_by: Digest | None
    ts: Integer


class TurnOpenEvent(Closed):
    """Whose turn it is."""

    key: str
    part: Natural
    ts: Integer
    why: str


class PolicySetEvent(Closed):
    """Which policy is in use from here on."""

    policy: Digest
    ts: Integer


class TurnCloseEvent(Closed):
    """What a turn held."""

    closed_by: Literal["stop", "next_turn", "session_end", "recovery", "limit"]
    count: Natural
    ledger_head_digest: Digest
    root: Digest
    ts: Integer


class SessionCloseEvent(Closed):
    """How a session ended."""

    closed_by: Literal["session_end", "recovery"]
    ledger_head_digest: Digest
    ts: Integer


class SessionOpen(Closed):
    """A session begins."""

    ev: SessionOpenEvent
    kind: Literal["session_open"]
    parents: list[Digest]
    prev_digest: Digest
    seq: Natural
    session: str
    ts: Integer
    turn: None
    v: Literal[1]


class TurnOpen(Closed):
    """A turn begins."""

    ev: TurnOpenEvent
    kind: Literal["turn_open"]
    parents: list[Digest]
    prev_digest: Digest
    seq: Natural
    session: str
    ts: Integer
    turn: Natural
    v: Literal[1]


class PolicySet(Closed):
    """A policy comes into use."""

    ev: PolicySetEvent
    kind: Literal["policy_set"]
    parents: Annotated[list[Digest], Meta(max_length=0)]
    prev_digest: Digest
    seq: Natural
    session: None
    ts: Integer
    turn: None
    v: Literal[1]


class TurnClose(Closed):
    """A turn ends."""

    ev: TurnCloseEvent
    kind: Literal["turn_close"]
    parents: list[Digest]
    prev_digest: Digest
    seq: Natural
    session: str
    ts: Integer
    turn: Natural
    v: Literal[1]


class SessionClose(Closed):
    """A session ends."""

    ev: SessionCloseEvent
    kind: Literal["session_close"]
    parents: list[Digest]
    prev_digest: Digest
    seq: Natural
    session: str
    ts: Integer
    turn: None
    v: Literal[1]


class Other(Struct, gc=False, kw_only=True):
    """A kind whose ``ev`` is free or rare: audit, approval, key_rotate, checkpoint."""

    ev: dict[str, Any]
    kind: str
    parents: list[str]
    prev_digest: str
    seq: int
    session: str | None
    ts: int
    turn: int | None


Entry = (
    Decision
    | Outcome
    | Recovery
    | SessionOpen
    | TurnOpen
    | PolicySet
    | TurnClose
    | SessionClose
    | Other
)
