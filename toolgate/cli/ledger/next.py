"""What to do about a finding, one line each, and what a verdict is worth."""

from collections.abc import Mapping

NEXT: Mapping[str, str] = {
    # Entries.
    "entries": "compare the entry with a copy of the ledger",
    "entries.parse": "compare this line with a copy of the ledger; it was damaged or edited",
    "entries.profile": "compare this line with a copy of the ledger; no writer makes such a value",
    "entries.noncanonical": "compare this line with a copy of the ledger; it was edited",
    "entries.version": "verify with a release of this program that reads this version",
    "entries.schema": "compare this line with a copy of the ledger; no writer makes such an entry",
    "entries.action_ref": "treat the call as unproved: its intent was changed afterwards",
    "entries.decision_id": "treat the decision as unproved: what it says was changed",
    "entries.scope": "treat the decision as unproved: its effects or its scope were changed",
    "entries.policy_altered": "get the policy's true text from its author and compare",
    "entries.policy_unknown": "get the policy of this digest from its author",
    "entries.class": "read the policy's classes: the call was put into another one",
    "entries.action_ref_reused": "read both decisions with `toolgate ledger show`; one is a copy",
    "entries.intent_differs": "read both decisions: the second is about another action",
    "entries.basis_other_action": "read the decision: it rests on the answer to another action",
    "entries.swapped_outcome": "read both calls: a result was moved from one to the other",
    "entries.basis_unknown": "look for the missing entry in a copy of the ledger",
    "entries.outcome_unbound": "look for the missing decision in a copy of the ledger",
    "entries.approval": "ask the named principal whether they approved this call",
    "entries.approver": "ask for the approval that is missing: one person counts once",
    "entries.ask": "read the ask and what answered it: one question takes one answer",
    "entries.composition": "read the class's rule in the policy and the approvals it asks for",
    "entries.authority": "ask who may write this policy; pin that root with --root",
    # Log.
    "log": "compare this part of the ledger with a copy",
    "log.head": "stop and keep both: the ledger and the pin tell different histories",
    "log.spine_broken": "look in a copy for the entry that was removed, moved or changed here",
    "log.fork": "keep both branches and ask which writer made which; one history is false",
    "log.head_digest": "compare the close with a copy of the ledger",
    "log.session": "compare the session's file and the spine with a copy of the ledger",
    "log.session_open": "wait for the session's end, or close it with `toolgate ledger recover`",
    "log.shape": "compare with a copy: the entry was moved to another file",
    "log.turn_gap": "look in a copy for the missing turn",
    "log.not_open": "look in a copy for the missing opening",
    "log.turn_not_closed": "look in a copy for the missing close",
    "log.file_missing": "get the session's file back from a copy; its calls cannot be judged",
    "log.duplicate_entry": "compare with a copy: an entry was written in a second time",
    "log.turn_order": "compare with a copy: an entry was moved behind a later turn",
    "log.parent": "look in a copy for the entry that is named and is not there",
    "log.outcome_parent": "read the call: its result does not name the decision it belongs to",
    "log.fact_unknown": "look in a copy for the earlier entry the decision relied on",
    "log.clock_backwards": "ask whether the clock was set back; if not, times were changed",
    "log.false_recovery": "compare with a copy: a recovery claims bytes that were no torn line",
    "log.turn_limit": "compare with a copy: entries were added to a turn",
    "log.two_outcomes": "read the call: two reports contradict each other, and one is false",
    "log.count": "look in a copy for what was added to the turn or removed from it",
    "log.root": "look in a copy for what was changed in the turn",
    "log.orphan_allow": "ask the host's own log what became of the call",
    "log.fragment": "run `toolgate ledger recover`, then verify again",
    "log.turn_open": "wait for the turn's end, or close it with `toolgate ledger recover`",
    "log.key_rotation": "ask the owner of the old key whether they handed over to the new one",
    "log.checkpoint": "compare with the checkpoint that was published",
    "log.equivocation": "stop and keep both: two people were shown different histories",
    "log.spawn": "add the ledger that holds the starting decision, or ask who started the agent",
    "log.ledger_missing": "add the missing ledger to --system",
    "log.segment": "get the segment back from a copy",
    # Execution.
    "execution": "compare the call with the host's own log",
    "execution.unmatched": "find out how the call got past the gate; the host's log shows what ran",
    "execution.after_deny": "find out why the host ran what was denied; treat it as an incident",
    "execution.ask_unanswered": "ask the user whether they approved it; nothing recorded says so",
    "execution.in_run": "find out what ran: a measuring run must execute nothing",
    "execution.no_decision": "find out how the call got past the gate, or where its record went",
    "execution.span_reused": "read the trace: one decision was used for two runs",
    "execution.other_decision": "read the span: it claims the decision of another call",
    "execution.args_differ": "compare what ran with what was decided; ask which hook changed it",
    "execution.result_differs": "compare both results: the ledger's or the trace's was changed",
    "execution.state_differs": "read the call in both: one of them says another end",
    "execution.no_span": "ask for the complete trace; if it is complete, the outcome is made up",
    "execution.rejected": "ask the user: telemetry says that they refused the call that ran",
    "execution.trace_missing": "verify again with --spans and the trace of this session",
    "execution.trace_ends": "get the rest of the trace and verify again",
}
"""What to do next, by finding code or by what a code begins with; a layer's name comes last."""

WORTH: Mapping[str, str] = {
    "PASS": (
        "You may rely on it: no record was changed, dropped or added up to the pinned entry, and "
        "what ran is what was allowed, as far as the list of what was not checked leaves it."
    ),
    "CONDITIONAL": (
        "You may rely on it except for the points above: nothing contradicts the ledger, and "
        "nothing shows that these points are in order."
    ),
    "INCOMPLETE": (
        "Do not rely on it yet: nothing is wrong, but a part is missing. See what to do next, "
        "and verify again."
    ),
    "FAIL": (
        "Do not rely on it: read each finding and what to do next, and keep this ledger as it is."
    ),
}
"""What a verdict is worth to somebody who has to rely on the ledger."""


def next_step(code: str) -> str:
    """Return what to do about a finding.

    Args:
        code: its code; the longest entry of ``NEXT`` that it begins with counts.
    """
    at = code
    while at not in NEXT:
        at = at[: max(at.rfind("_"), at.rfind("."))]
    return NEXT[at]
