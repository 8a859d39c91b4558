"""What a case's earlier calls say to the gate: their recorded decisions and the case's outcomes."""

from evalkit.challenge.case import OUTCOMES
from toolgate.canonical import digest
from toolgate.gate.facts.history import Decided, History
from toolgate.gate.recorded import resource_ref
from toolgate.ledger.index import decision_digest_of
from toolgate.records import DecisionFields

_ENDINGS = dict(zip(OUTCOMES, ("ok", "error", "refused"), strict=True))


class Earlier:
    """The calls of one case before the scored one.

    Whatever the gate answered to one of them, what became of it is what the case
    says; where that says nothing, the outcome is not known yet.

    Args:
        salt: the ledger's salt.

    Attributes:
        session: what is known of the session so far.
    """

    def __init__(self, salt: bytes) -> None:
        self.session = History(lambda path: resource_ref(path, salt))

    def decided(self, fields: DecisionFields, line: bytes) -> None:
        """Add a call's decision.

        Args:
            fields: the decision as the ledger keeps it.
            line: its entry in the run's ledger.
        """
        self.session.decided(
            Decided(
                entry=digest(line),
                digest=decision_digest_of(line),
                call=fields.intent.call,
                tool=fields.intent.action_type,
                state="allowed",
                turn=1,
                effects=fields.effects,
            )
        )

    def ended(self, result: str | None) -> None:
        """Add the outcome of the last call."""
        if result is not None:
            self.session.ended(_ENDINGS[result])
