"""From a call to a decision. Pure: the same call and policy give the same decision."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolgate.errors import InputError, PolicyError
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import Catalog
from toolgate.gate.decision import ALLOW, COMPOSITION, DENY, Decision, Fact
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.paths import Paths, region
from toolgate.gate.effects.shell import Reader
from toolgate.gate.effects.tools import SHELL_TOOLS, effects_of_tool, text_field
from toolgate.gate.policy.evaluate import Verdict, evaluate, unattended
from toolgate.gate.policy.model import Policy
from toolgate.gate.shell.model import HOLE

if TYPE_CHECKING:
    from toolgate.gate.shell.opinion import Names

Second = Callable[[str], "Names | str"]
MAX_SECOND_READINGS = 4
_SENTENCE_RESOURCE = 160
_MAX_PLACES = 32
GATE_FAULT = "gate-fault"
"""Rule name of a deny because reading the call failed inside the gate."""


def _none(text: str) -> "Names | str":
    return "second-reader-missing"


class Gate:
    """Decides calls under one policy.

    Args:
        policy: the compiled policy.
        catalog: the catalogue it was compiled with.
        second: another parser's reading of a shell text, or why there is none. It
            is asked where the answer would be allow and the text has a form that
            the grammar is known to misread in silence.

    Raises:
        PolicyError: the policy was compiled with another catalogue.
    """

    def __init__(self, policy: Policy, catalog: Catalog, second: Second = _none) -> None:
        if policy.catalog != catalog.digest:
            raise PolicyError(
                policy.name,
                [f"compiled with catalogue {policy.catalog}, but this one is {catalog.digest}"],
            )
        self.policy = policy
        self.catalog = catalog
        self._second = second
        self._paths: dict[tuple[object, ...], Paths] = {}

    @property
    def policy_digest(self) -> str:
        """Return the digest every decision carries."""
        return self.policy.digest

    @property
    def policy_bytes(self) -> bytes:
        """Return the compiled policy."""
        return self.policy.data

    def effects(self, call: ToolCall) -> tuple[Effect, ...]:
        """Return what a call would do.

        Raises:
            InputError: the tool's input lacks a field the tool cannot do without.
        """
        readers: list[Reader] = []

        def reader() -> Reader:
            readers.append(self._reader(call.place))
            return readers[-1]

        if call.tool in SHELL_TOOLS:
            effects = tuple(reader().effects(text_field(call, "command")))
        else:
            settings, mcp = self.policy.settings, self.policy.mcp
            effects = tuple(effects_of_tool(call, settings, mcp, reader))
        doubtful = [one for one in readers if one.doubtful]
        if doubtful and evaluate(self.policy, call.tool, effects).rule.decide == ALLOW:
            effects += tuple(made for one in doubtful for made in self._doubts(one))
        return effects

    def _doubts(self, reader: Reader) -> list[Effect]:
        """Return an effect for each doubtful text that a second parser reads otherwise, or not."""
        from toolgate.gate.shell.opinion import difference

        made: list[Effect] = []
        for text, script in dict(reader.doubtful[:MAX_SECOND_READINGS]).items():
            theirs = self._second(text)
            if isinstance(theirs, str):
                made.append(reader.unknown(theirs, "shell"))
            elif readings := difference(script, theirs):
                made.append(reader.unknown("readings-differ", "shell", readings))
        if len(reader.doubtful) > MAX_SECOND_READINGS:
            made.append(reader.unknown("second-reader-too-long", "shell"))
        return made

    def _reader(self, place: Place) -> Reader:
        """Return a reader of shell text that would run at a place."""
        paths = self._paths_at(place)
        return Reader(place, self.policy.settings, self.catalog, paths=paths)

    def _paths_at(self, place: Place) -> Paths:
        """Return the reading of paths at a place; calls of one workspace share it."""
        key = region(place)
        found = self._paths.get(key)
        if found is None:
            if len(self._paths) >= _MAX_PLACES:
                self._paths.clear()
            found = self._paths[key] = Paths(place, self.policy.settings)
        return found

    def decide(self, call: ToolCall, facts: tuple[Fact, ...] = ()) -> Decision:
        """Return the decision on a call. A call that cannot be read is denied."""
        try:
            effects = self.effects(call)
        except InputError as error:
            return self.refusal("input", str(error))
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            # A fault of ours in reading a call; denied and recorded like any other answer.
            name = type(error).__name__
            return self.refusal(GATE_FAULT, f"Denied: the gate failed to read the call ({name}).")
        verdict = evaluate(self.policy, call.tool, effects)
        if verdict.rule.decide != DENY and verdict.action_class in self.policy.composition:
            return self._composed(call, verdict, effects, facts)
        state = unattended(self.policy, verdict.rule.decide, call.mode)
        return Decision(
            state=state,
            rule=verdict.rule.name,
            axis=verdict.rule.axis,
            action_class=verdict.action_class,
            effects=effects,
            facts=facts,
            proof=next((e.proof for e in effects if e.proof != PROVED), PROVED),
            policy=self.policy.digest,
            sentence=_sentence(call, verdict, state),
        )

    def _composed(
        self,
        call: ToolCall,
        verdict: Verdict,
        effects: tuple[Effect, ...],
        facts: tuple[Fact, ...],
    ) -> Decision:
        """Return the deny of an action that needs approvals, as long as none are cited.

        Whoever holds the approvals (the hook, from the ledger) lifts it.
        """
        action_class = verdict.action_class
        who = self.policy.approvers(action_class).phrase()
        what = _phrase(verdict.effect) if verdict.effect is not None else call.tool
        return Decision(
            state=DENY,
            rule=COMPOSITION,
            axis=verdict.rule.axis,
            action_class=action_class,
            effects=effects,
            facts=facts,
            proof=next((e.proof for e in effects if e.proof != PROVED), PROVED),
            policy=self.policy.digest,
            sentence=f"Denied: {what}; {who} actions of class {action_class} (rule {COMPOSITION}).",
        )

    def refusal(self, rule: str, sentence: str) -> Decision:
        """Return a deny for a call that could not be judged."""
        return Decision(
            DENY,
            rule,
            None,
            "other",
            (),
            (),
            "unresolved(not-judged)",
            self.policy.digest,
            sentence,
        )


def _sentence(call: ToolCall, verdict: Verdict, state: str) -> str:
    rule, effect = verdict.rule, verdict.effect
    answer = {"allow": "Allowed", "ask": "Asking first", "deny": "Denied"}[state]
    what = _phrase(effect) if effect is not None else call.tool
    text = f"{answer}: {what}; {rule.because} (rule {rule.name})."
    if state not in (rule.decide, ALLOW):
        text += f" In permission mode {call.mode} nobody can be asked."
    return text


def _phrase(effect: Effect) -> str:
    resource = effect.resource.replace(HOLE, "…")
    if len(resource) > _SENTENCE_RESOURCE:
        resource = resource[:_SENTENCE_RESOURCE] + "…"
    program = f"{effect.program}: " if effect.program and effect.program != resource else ""
    reason = "" if effect.proof == PROVED else f", {effect.proof}"
    return f"{program}{effect.type} {resource} ({effect.scope}{reason})"
