"""The examples inside a policy, decided."""

from typing import Any, NamedTuple

from toolgate.cli.sessions import Sessions
from toolgate.gate.decision import Decision
from toolgate.gate.engine import Gate
from toolgate.gate.policy.examples import Example, examples_of
from toolgate.gate.policy.speaking import speaking


class Decided(NamedTuple):
    """An example and the answer to it.

    Args:
        example: the example.
        decision: the answer.
        spoke: names of the rules that spoke about its calls.
    """

    example: Example
    decision: Decision
    spoke: frozenset[str]

    @property
    def good(self) -> bool:
        """Say whether the answer is the one expected, by the rule expected."""
        wanted = self.example
        return self.decision.state == wanted.expect and wanted.rule in (None, self.decision.rule)


def decide_examples(gate: Gate, body: dict[str, Any], now: int) -> list[Decided]:
    """Decide every example of a policy, each in a session of its own.

    Args:
        gate: the gate under the policy.
        body: the policy's source, without faults.
        now: when calls are made whose example names no day, microseconds UTC.
    """
    return [_decided(gate, example) for example in examples_of(body, now)]


def _decided(gate: Gate, example: Example) -> Decided:
    sessions, spoke = Sessions(), set[str]()
    for call in (*example.after, example.call):
        decision = gate.decide(call, sessions.of(call))
        sessions.add(call, decision, None)
        spoke.update(rule.name for rule in speaking(gate.policy, call, decision))
    return Decided(example, decision, frozenset(spoke))
