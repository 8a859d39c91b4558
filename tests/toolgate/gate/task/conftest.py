"""One way to ask what a task makes of a call, for the tests of this folder."""

import pytest

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.open import default_gate
from toolgate.gate.task.task import Prompt, Task

CWD, HOME = "/home/dev/app", "/home/dev"


@pytest.fixture(scope="session")
def weighed():
    """Return what decides a command with prompts, oldest first."""
    gate = default_gate()

    def decide(command, *prompts, tool="Bash", tool_input=None, whole=True) -> Decision:
        call = ToolCall(
            host="test",
            session="s",
            key=None,
            call="c",
            agent=("main",),
            principal="user:dev",
            auth_mode="user",
            tool=tool,
            input={"command": command} if tool_input is None else tool_input,
            place=Place(CWD, (CWD,), HOME),
            mode="default",
            task=None,
            ts=0,
        )
        task = Task(tuple(Prompt(text) for text in prompts), whole=whole)
        return gate.decide(call, task=task)

    return decide
