"""The sessions of a recorded log, so that a call is decided on what went before it."""

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import LEDGER_STATE, Decision
from toolgate.gate.effects.tools import leaves_out_content
from toolgate.gate.facts.history import Decided, History
from toolgate.gate.recorded import effects_json, resource_ref

_SALT = b"a log is no ledger: nothing of it is kept"
_ENDINGS = {
    "error": "error",
    "interrupted": "cancelled",
    "rejected_by_user": "refused",
    "blocked_by_hook": "refused",
    "blocked_by_host": "refused",
}


class Sessions:
    """What is known of each session of a log so far.

    A log says of a call that it was made, so it counts as run unless the log says
    otherwise, whatever the gate answers now. A write whose content the log leaves
    out says nothing: it is not followed, but counted.

    Attributes:
        unfollowed: writes of which the log does not say what was written.
    """

    def __init__(self) -> None:
        self.unfollowed = 0
        self._sessions: dict[str, History] = {}
        self._count = 0

    def of(self, call: ToolCall) -> History:
        """Return what is known of a call's session before it."""
        return self._sessions.setdefault(
            call.session, History(lambda path: resource_ref(path, _SALT))
        )

    def add(self, call: ToolCall, decision: Decision, outcome: str | None) -> None:
        """Add a call that was decided.

        Args:
            call: the call.
            decision: the answer to it.
            outcome: what the log says became of it, if anything.
        """
        if leaves_out_content(call):
            self.unfollowed += 1
            return
        self._count += 1
        known = self.of(call)
        name = f"call {self._count}"
        known.decided(
            Decided(
                entry=name,
                digest=name,
                call=name,
                tool=call.tool,
                state=LEDGER_STATE[decision.state],
                turn=1,
                effects=effects_json(decision.effects, _SALT),
            )
        )
        known.ended(_ENDINGS.get(outcome or "", "ok"))
