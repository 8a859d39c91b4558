"""What a judge said of a recorded decision, read again from the ledger and the kept answers."""

from typing import Any

from toolgate.gate.judge.cache import Cache, users_cache
from toolgate.gate.judge.failure import JudgeError
from toolgate.gate.judge.judgement import Judgement
from toolgate.gate.judge.record import ACTION, FACT, details_of, judgement_of
from toolgate.gate.policy.model import Policy
from toolgate.verify.read import Line
from toolgate.verify.reader import Reader
from toolgate.verify.shapes import Decision, Other

NO_ENTRY = "the ledger does not hold what its judge said"
NO_ANSWER = "its judge's answer is no longer kept"
NO_JUDGE = "its policy names no judge, but one was asked"
OTHERWISE = "its judge's answer reads otherwise than it did"


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
