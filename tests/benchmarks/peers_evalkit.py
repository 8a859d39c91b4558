"""A set run by evalkit with the two-regex gate instead of ours: SET DIRECTORY. By ``peers.py``."""

import json
import sys
from typing import Any

from peers_gate import answer

import evalkit.build
from evalkit.challenge.sealing import Watch
from evalkit.gates.choice import Choice
from evalkit.runs import Request, start
from toolgate.canonical import digest
from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.effects.model import PROVED


class Gate:
    """The two-regex gate."""

    policy_bytes = b'{"gate":"two regular expressions"}'
    policy_digest = digest(policy_bytes)

    def decide(self, call: ToolCall, session: object = ()) -> Decision:
        """Return the answer as a decision."""
        state = answer(call.input["command"])
        return Decision(
            state=state, rule=state, axis=None, action_class="other", effects=(), facts=(),
            proof=PROVED, policy=self.policy_digest, sentence=state,
        )  # fmt: skip


def main() -> None:
    """Run the set and print how many cases were scored and how many match."""
    place, gate = sys.argv[2], Gate()
    request = Request(
        sys.argv[1], Choice(), "development", None, None, f"{place}/ledger", f"{place}/reports"
    )
    scores: dict[str, Any] = start(
        request, gate, evalkit.build.current(gate.policy_digest), Watch()
    ).context["scores"]
    scored = scores["cases"] - scores["unscored"]
    print(json.dumps({"cases": scored, "accuracy": scores["match"] / scores["cases"]}))


if __name__ == "__main__":
    main()
