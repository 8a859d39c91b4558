"""One gate and one way to ask it, for the tests of this folder."""

import pytest

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.engine import Gate
from toolgate.gate.open import default_gate

CWD, HOME = "/home/dev/app", "/home/dev"


@pytest.fixture(scope="session")
def gate() -> Gate:
    return default_gate()


def call(command="", *, tool="Bash", tool_input=None, mode="default", cwd=CWD) -> ToolCall:
    return ToolCall(
        host="test",
        session="s",
        key=None,
        call="c",
        agent=("main",),
        principal="user:dev",
        auth_mode="user",
        tool=tool,
        input={"command": command} if tool_input is None else tool_input,
        place=Place(cwd, (cwd,), HOME),
        mode=mode,
        task=None,
        ts=0,
    )


@pytest.fixture(scope="session")
def decide(gate):
    def decide_one(command="", **kwargs) -> Decision:
        return gate.decide(call(command, **kwargs))

    return decide_one
