"""What can be wrong with a ledger: one closed table of codes, and what each brings with it.

One damaged byte shows in many places. Which fault explains which others, where both
lie in one neighbourhood, is part of the table.
"""

from collections.abc import Mapping
from typing import NamedTuple

PASS, FAIL, INCOMPLETE, CONDITIONAL = "PASS", "FAIL", "INCOMPLETE", "CONDITIONAL"

MEANING: Mapping[str, str] = {
    PASS: "Every check holds, and the ledger ends where the pin says.",
    FAIL: "At least one entry, link or execution is not as it must be.",
    INCOMPLETE: "Nothing contradicts the ledger, but part of it is not there yet.",
    CONDITIONAL: "Every check holds, but not everything could be checked:",
}


class Fault(NamedTuple):
    """One row of the table.

    Args:
        code: stable name; what stands before the dot is the layer.
        verdict: ``FAIL`` or ``INCOMPLETE``.
        meaning: the fault, in one sentence.
    """

    code: str
    verdict: str
    meaning: str

    @property
    def layer(self) -> str:
        """Return the layer that reports it."""
        return self.code.partition(".")[0]


FAULTS: tuple[Fault, ...] = (
    # What is packed.
    Fault("log.segment", FAIL, "A sealed segment is not what its manifest says."),
    # The bytes of a line.
    Fault("entries.parse", FAIL, "A line is not JSON text, or is longer than 64 KiB."),
    Fault("entries.profile", FAIL, "A value lies outside the ledger's profile of JSON."),
    Fault("entries.noncanonical", FAIL, "A line is not the canonical form of what it says."),
    Fault("entries.version", FAIL, "A line has another format version."),
    Fault("entries.schema", FAIL, "A line breaks the closed schema of its kind."),
    # What a line binds.
    Fault("entries.action_ref", FAIL, "An action_ref is not the digest of its intent."),
    Fault("entries.decision_id", FAIL, "A decision_id is not the digest of what it covers."),
    Fault("entries.scope", FAIL, "An intent's scope is not the strictest of its effects."),
    Fault(
        "entries.policy_altered", FAIL, "A policy's text does not have the digest it is kept by."
    ),
    Fault("entries.policy_unknown", FAIL, "A decision names a policy the ledger does not hold."),
    Fault("entries.class", FAIL, "A class is not the first of its policy that applies."),
    Fault("entries.action_ref_reused", FAIL, "Two unrelated decisions share one action_ref."),
    Fault("entries.intent_differs", FAIL, "A decision that replaces another has another intent."),
    Fault("entries.basis_other_action", FAIL, "A decision rests on an answer to another action."),
    Fault("entries.swapped_outcome", FAIL, "An outcome commits to the decision of another action."),
    # Who approved, and who says what is to be approved.
    Fault("entries.approval_signature", FAIL, "An approval's signature does not verify."),
    Fault(
        "entries.approval_key", FAIL, "An approval or a new key is not signed with its owner's key."
    ),
    Fault("entries.approval_other", FAIL, "A decision rests on an approval of something else."),
    Fault("entries.approval_refused", FAIL, "A decision rests on what was refused or taken back."),
    Fault("entries.approval_expired", FAIL, "A decision rests on an approval that had expired."),
    Fault("entries.approval_reused", FAIL, "An approval is used a second time."),
    Fault("entries.approval_lift", FAIL, "A call was let through that no signature may lift."),
    Fault("entries.approver_twice", FAIL, "A decision counts one principal's approval twice."),
    Fault("entries.approval_order", FAIL, "Approvals do not stand in the order they must."),
    Fault("entries.ask_twice", FAIL, "An ask is answered twice."),
    Fault(
        "entries.composition_denied", FAIL, "A call was denied although its approvals were there."
    ),
    Fault("entries.authority_edge", FAIL, "A policy's claim on who wrote it does not recompute."),
    Fault("entries.authority_loop", FAIL, "A loop of policy authors does not recompute."),
    Fault("entries.authority_self", FAIL, "Only the principal a policy governs has written it."),
    Fault("entries.authority_unrooted", FAIL, "A policy's authority reaches no pinned root."),
    # The chain.
    Fault("log.head", FAIL, "The ledger does not hold the head that was pinned."),
    Fault("log.equivocation", FAIL, "The ledger was shown with another history."),
    Fault("log.spine_broken", FAIL, "A spine entry does not follow the one before it."),
    Fault("log.fork", FAIL, "Two spine entries name the same one before them."),
    Fault("log.key_rotation", FAIL, "A key of the log was not brought in by the key before it."),
    Fault("log.checkpoint", FAIL, "A checkpoint is not the log's, or not signed as it must be."),
    Fault("log.head_digest", FAIL, "A close records another ledger head than the chain names."),
    Fault("log.session_unknown", FAIL, "Entries belong to a session that was never opened."),
    Fault("log.session_mismatch", FAIL, "An entry of one session lies in another one's file."),
    Fault("log.session_link", FAIL, "A session's part does not continue the part before it."),
    Fault("log.shape", FAIL, "An entry lies where its session's shape does not allow it."),
    Fault("log.turn_gap", FAIL, "A session's turns are not numbered without a gap."),
    Fault("log.not_open", FAIL, "An entry belongs to a session or turn that is not open."),
    Fault("log.turn_not_closed", FAIL, "A turn was followed by another without being closed."),
    Fault("log.file_missing", FAIL, "A session's file is not there, and its turns had entries."),
    # The graph of a turn.
    Fault("log.duplicate_entry", FAIL, "The same entry stands in a session twice."),
    Fault("log.turn_order", FAIL, "An entry of an earlier turn stands behind a later one."),
    Fault("log.parent_unknown", FAIL, "An entry names a parent that no entry before it is."),
    Fault("log.parent_foreign", FAIL, "An entry names a parent it has no business with."),
    Fault("log.outcome_parent", FAIL, "An outcome does not name its decision's entry as parent."),
    Fault("log.fact_unknown", FAIL, "A fact rests on an entry that is not an earlier one."),
    Fault("log.clock_backwards", FAIL, "An entry is older than the one it names."),
    Fault("log.false_recovery", FAIL, "A recovery entry covers bytes that are not a fragment."),
    Fault("log.turn_limit", FAIL, "A turn holds more entries than one may."),
    # What is missing, seen from what is there.
    Fault("entries.basis_unknown", FAIL, "A decision rests on an entry that is not there."),
    Fault("entries.approval_unbound", FAIL, "An approval names a decision that nobody holds."),
    Fault("entries.composition_unmet", FAIL, "A call was allowed without the approvals it needs."),
    Fault("entries.outcome_unbound", FAIL, "An outcome commits to no decision of its session."),
    Fault("log.two_outcomes", FAIL, "A decision has more than one outcome that stands."),
    Fault("log.count", FAIL, "A turn holds another number of entries than its close says."),
    Fault("log.root", FAIL, "The root over a turn's frontier is not the one its close says."),
    Fault("log.orphan_allow", FAIL, "A call was allowed and nothing says what became of it."),
    # What ran.
    Fault("execution.unmatched", FAIL, "A call ran that no decision was waiting for."),
    Fault("execution.after_deny", FAIL, "A call ran although it was denied."),
    Fault("execution.rejected", FAIL, "A call ran although the host says it was rejected."),
    Fault("execution.ask_unanswered", FAIL, "A call ran on an ask that nothing answered."),
    Fault("execution.in_run", FAIL, "A call ran in a session that executes nothing."),
    Fault("execution.no_decision", FAIL, "The trace shows a call that has no decision."),
    Fault("execution.span_reused", FAIL, "The trace shows one decided call twice."),
    Fault("execution.other_decision", FAIL, "A span names the decision of another call."),
    Fault("execution.args_differ", FAIL, "A call ran with other arguments than were decided."),
    Fault("execution.result_differs", FAIL, "A span's result is not the one that was recorded."),
    Fault("execution.state_differs", FAIL, "Trace and ledger disagree on how a call ended."),
    Fault("execution.no_span", FAIL, "The ledger shows a call that the trace does not."),
    # Several ledgers as one.
    Fault("log.spawn_denied", FAIL, "An agent was started by a decision that did not allow it."),
    # What is not there yet.
    Fault("log.ledger_missing", INCOMPLETE, "A ledger of the audit is not there or not readable."),
    Fault("log.spawn_unknown", INCOMPLETE, "The decision that started an agent is in no ledger."),
    Fault("log.fragment", INCOMPLETE, "A file ends in a torn line that no recovery covers yet."),
    Fault("log.turn_open", INCOMPLETE, "A turn is still open."),
    Fault("log.session_open", INCOMPLETE, "A session is still open."),
    Fault("execution.trace_missing", INCOMPLETE, "No trace was given for a session that ran."),
    Fault(
        "execution.trace_ends", INCOMPLETE, "The trace ends before the session, or is not whole."
    ),
)
"""Every finding the verifier can make, the likelier cause first."""

BY_CODE: Mapping[str, Fault] = {fault.code: fault for fault in FAULTS}
RANK: Mapping[str, int] = {fault.code: rank for rank, fault in enumerate(FAULTS)}
"""Where each code stands in the table."""

_UNUSABLE = (
    "entries.parse",
    "entries.profile",
    "entries.noncanonical",
    "entries.version",
    "entries.schema",
)
_GAPS = frozenset(
    (
        "entries.action_ref_reused",
        "entries.approval_key",
        "entries.approval_order",
        "entries.approval_unbound",
        "entries.basis_unknown",
        "entries.composition_unmet",
        "entries.outcome_unbound",
        "entries.policy_unknown",
        "log.spine_broken",
        "log.session_unknown",
        "log.session_link",
        "log.not_open",
        "log.turn_gap",
        "log.turn_not_closed",
        "log.parent_unknown",
        "log.parent_foreign",
        "log.outcome_parent",
        "log.fact_unknown",
        "log.false_recovery",
        "log.count",
        "log.root",
        "log.orphan_allow",
        "log.turn_open",
        "log.session_open",
        "log.fragment",
        "log.key_rotation",
        "log.checkpoint",
        "execution.ask_unanswered",
        "execution.no_decision",
        "execution.no_span",
        "execution.other_decision",
        "execution.trace_missing",
    )
)
"""What a missing or unreadable entry brings with it in its neighbourhood."""

_TURN_SUMS = frozenset(("log.count", "log.root"))

FOLLOWS: Mapping[str, frozenset[str]] = {
    "log.segment": _GAPS | frozenset(_UNUSABLE) | {"log.file_missing"},
    **dict.fromkeys(_UNUSABLE, _GAPS),
    "entries.action_ref": frozenset(("entries.intent_differs", "entries.swapped_outcome")),
    "entries.policy_unknown": frozenset(("entries.class",)),
    "entries.policy_altered": frozenset(("entries.class", "entries.policy_unknown")),
    "entries.swapped_outcome": frozenset(
        ("log.outcome_parent", "log.parent_foreign", "log.two_outcomes")
    ),
    **dict.fromkeys(
        (
            "entries.approval_signature",
            "entries.approval_key",
            "entries.approval_other",
            "entries.approval_refused",
            "entries.approval_expired",
            "entries.approval_reused",
            "entries.approver_twice",
            "entries.approval_order",
            "entries.basis_unknown",
        ),
        frozenset(("entries.composition_unmet",)),
    ),
    "entries.authority_edge": frozenset(("entries.authority_unrooted",)),
    "entries.authority_loop": frozenset(("entries.authority_unrooted",)),
    "entries.outcome_unbound": _GAPS,
    "log.equivocation": frozenset(("log.key_rotation", "log.checkpoint")),
    "log.spine_broken": _GAPS | {"log.head_digest"},
    "log.key_rotation": frozenset(("log.checkpoint",)),
    "log.fork": _GAPS,
    "log.session_unknown": _GAPS,
    "log.session_mismatch": _GAPS,
    "log.session_link": _GAPS,
    "log.shape": _GAPS | {"log.file_missing"},
    "log.not_open": _GAPS,
    "log.turn_gap": _GAPS,
    "log.turn_not_closed": _GAPS,
    "log.file_missing": _GAPS | {"log.count"},
    "log.duplicate_entry": _TURN_SUMS | {"entries.action_ref_reused", "log.two_outcomes"},
    "log.turn_order": _GAPS,
    "log.parent_unknown": _GAPS,
    "log.parent_foreign": _TURN_SUMS,
    "log.outcome_parent": frozenset(("log.parent_unknown", "log.parent_foreign", "log.root")),
    "log.count": frozenset(("log.root", "log.orphan_allow")),
    "log.root": frozenset(("log.count", "log.orphan_allow")),
    "log.orphan_allow": frozenset(("execution.no_span",)),
    "log.fragment": _GAPS,
    "log.turn_open": frozenset(("log.session_open",)),
    "execution.other_decision": frozenset(("execution.no_span",)),
    "execution.no_decision": frozenset(("execution.no_span",)),
}
"""Which findings a finding explains when both lie in one neighbourhood."""
