"""What a judge said of a recorded decision, read again from the ledger and the kept answers."""

from typing import Any

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision as Answer
from toolgate.gate.engine import Gate
from toolgate.gate.facts.session import Session
from toolgate.gate.judge.backends import backend_of
from toolgate.gate.judge.cache import Cache, users_cache
from toolgate.gate.judge.consult import with_judgement
from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.judgement import Judgement, request_digest
from toolgate.gate.judge.record import ACTION, FACT, details_of, judgement_of
from toolgate.gate.judge.request import request_of
from toolgate.gate.judge.when import not_asked
from toolgate.gate.policy.model import Policy
from toolgate.gate.task.task import NO_TASK
from toolgate.verify.read import Line
from toolgate.verify.reader import Reader
from toolgate.verify.shapes import Decision, Other

NO_ENTRY = "the ledger does not hold what its judge said"
NO_ANSWER = "its judge's answer is no longer kept"
NO_JUDGE = "its policy names no judge, but one was asked"
OTHERWISE = "its judge's answer reads otherwise than it did"
ASKED_OTHERWISE = "this build would ask its judge something else"


class AskedOtherwiseError(Exception):
    """The kept answer is no answer to what would be asked now."""


class Rejudge:
    """Finds judgements again.

    A model need not say the same twice, so nobody is asked: without the kept answer there is
    no judgement.

    Args:
        directory: the ledger.
        cache: the kept answers; the user's by default.
    """

    def __init__(self, directory: Reader, cache: Cache | None = None) -> None:
        self._directory = directory
        self._cache = cache or users_cache()
        self._said: dict[str, tuple[str, dict[str, Any]]] | None = None

    def judgement(self, entry: Decision, policy: Policy) -> Judgement | str | None:
        """Return what a judge said of a decision, None if none was asked, or why it is not known.

        Args:
            entry: the decision.
            policy: the policy it was made under.
        """
        named = next((fact.entry for fact in entry.facts if fact.code == FACT), None)
        if named is None:
            return None
        said = self._entries().get(named)
        if said is None:
            return NO_ENTRY
        if policy.judge is None:
            return NO_JUDGE
        request, details = said
        try:
            data = None
            if details["answer"] is not None:
                data = self._cache.answer(request, details["answer"])
                if data is None:
                    return NO_ANSWER
            made = judgement_of(request, details, data, policy.judge, policy.axes)
            again = details_of(
                made,
                call=details["call"],
                tool=details["tool"],
                args_digest=details["args_digest"],
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            return NO_ENTRY
        except JudgeError:
            return OTHERWISE
        return made if again == details else OTHERWISE

    def decision(
        self, gate: Gate, call: ToolCall, session: Session, judgement: Judgement | None
    ) -> Answer:
        """Return what a gate decides on a call, with what a judge said of it.

        Args:
            gate: the gate.
            call: the call, with its task.
            session: what was known of the session before it.
            judgement: what was said; None if nobody was asked.

        Raises:
            AskedOtherwiseError: it was said to another question than this build would ask.
        """
        found = gate.decide(call, session)
        if judgement is None:
            return found
        if self._asked(gate.policy, call, found) != judgement.request:
            raise AskedOtherwiseError
        return with_judgement(
            gate.policy,
            call,
            found,
            judgement,
            lambda readings: gate.decide(call, session, readings=readings),
        )

    def _asked(self, policy: Policy, call: ToolCall, found: Answer) -> str | None:
        """Return the digest of what a policy's judge is asked about a call; None if nothing."""
        task = call.task or NO_TASK
        if policy.judge is None or not_asked(found, task):
            return None
        request = request_of(call, task, found, policy, policy.judge)
        return request_digest(backend_of(policy.judge).encode(request, policy.judge))

    def _entries(self) -> dict[str, tuple[str, dict[str, Any]]]:
        if self._said is None:
            self._said = {
                item.digest: (str(item.entry.ev["target"]), item.entry.ev["details"])
                for item in self._directory.read_spine()
                if isinstance(item, Line)
                and isinstance(item.entry, Other)
                and item.entry.kind == "audit"
                and item.entry.ev["action"] == ACTION
            }
        return self._said
