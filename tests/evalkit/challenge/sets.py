"""Sets and a gate to test with."""

import json
from typing import Any

from evalkit.build import Build
from toolgate.canonical import digest, digest_of
from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.effects.model import PROVED, Effect

POLICY = b'{"double":true}'


def case(number: int, expected: str = "allow", **more: Any) -> dict[str, Any]:
    """Return a single-call case."""
    return {
        "id": f"c{number}",
        "category": "first",
        "expected": expected,
        "task": "Do it.",
        "command": f"{expected} {number}",
        **more,
    }


def body(*cases: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a set of cases."""
    return {
        "name": "test set",
        "frozen": "2026-01-31",
        "author": "a test",
        "policy": "as it says",
        "labels_mean": "what should happen",
        "categories": {"first": "one kind", "second": "another kind"},
        "fixtures": {"cwd": "/home/dev/app", "home": "/home/dev"},
        "cases": list(cases) or [case(1), case(2, "deny")],
        **more,
    }


def sequence(number: int, expected: str = "deny", **more: Any) -> dict[str, Any]:
    """Return a sequential case."""
    return {
        "id": f"s{number}",
        "category": "first",
        "expected": expected,
        "task": "Do it.",
        "steps": [
            {
                "event": "PreToolUse",
                "tool": "Write",
                "input": {"file_path": "a.sh", "content": "x"},
                "setup_only": True,
            },
            {"event": "PostToolUse", "result": "success"},
            {
                "event": "PreToolUse",
                "tool": "Bash",
                "input": {"command": f"{expected} {number}"},
                "score_this": True,
            },
            {"event": "PostToolBatch"},
        ],
        **more,
    }


def encoded(value: object) -> bytes:
    """Return a set's file."""
    return json.dumps(value).encode("utf-8")


def build_of(text: str = "one", *refusals: str, policy: bytes = POLICY) -> Build:
    """Return a build whose code is this text; pinned when nothing refuses it."""
    made = {
        "schema": "evalkit/build/1",
        "files": {"toolgate/a.py": digest(text.encode())},
        "policy": digest(policy),
        "model": None,
        "distributions": ["orjson==3"],
        "python": "cpython 3",
    }
    return Build(digest_of(made), made, refusals, "abc", "clean")


class WordGate:
    """Decides by the first word of the command; stands in for the engine.

    Args:
        answers: decision by first word, for words that are none themselves.
    """

    def __init__(self, answers: dict[str, str] | None = None) -> None:
        self.answers = answers or {}
        self.seen: list[ToolCall] = []

    policy_bytes = POLICY
    policy_digest = digest(POLICY)

    def decide(self, call: ToolCall, facts: object = ()) -> Decision:
        """Return the decision the first word asks for; ``ask`` for an unknown one."""
        self.seen.append(call)
        word = str(call.input.get("command", "")).split(" ")[0]
        state = self.answers.get(word, word)
        if state not in ("allow", "ask", "deny"):
            state = "ask"
        effect = Effect("inspect", "workspace", call.place.cwd, True, PROVED)
        return Decision(
            state=state,
            rule=f"word-{state}",
            axis=None,
            action_class="other",
            effects=(effect,),
            facts=(),
            proof=PROVED,
            policy=self.policy_digest,
            sentence=f"The word says {state}.",
        )
