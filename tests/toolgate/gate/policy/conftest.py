"""Gates under policies that a test writes out."""

from typing import Any

import pytest

from toolgate.errors import PolicyError
from toolgate.gate.bases import bases_beside
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import shipped
from toolgate.gate.engine import Gate
from toolgate.gate.open import second_opinion
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.model import Policy

CWD, HOME = "/home/dev/app", "/home/dev"
HEAD = "version: 1\nname: test\n"


def _call(command: str = "", *, tool: str = "Bash", tool_input: Any = None, **more) -> ToolCall:
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
    return call._replace(**more)


def _policy(text: str) -> Policy:
    source = (HEAD + text).encode()
    return Policy(compile_policy(source, shipped().digest, bases=bases_beside("/nowhere/p.yaml")))


@pytest.fixture(scope="session")
def make_call():
    """Return what makes a call: a command, or a tool and its input, and fields to change."""
    return _call


@pytest.fixture(scope="session")
def policy_of():
    """Return what compiles the text of a policy, without its version and name."""
    return _policy


@pytest.fixture(scope="session")
def gate_of():
    """Return what makes a gate under the text of a policy, without its version and name."""
    made: dict[str, Gate] = {}

    def make(text: str) -> Gate:
        if text not in made:
            made[text] = Gate(_policy(text), shipped(), second_opinion)
        return made[text]

    return make


@pytest.fixture(scope="session")
def faults_of():
    """Return what compiles the text of a policy that has faults, and returns them."""

    def find(text: str) -> list[str]:
        with pytest.raises(PolicyError) as caught:
            _policy(text)
        return caught.value.faults

    return find
