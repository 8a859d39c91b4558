"""Policies with a judge, calls to ask it about, and a server that answers as a test says."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from judges import Server

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.catalog.load import shipped
from toolgate.gate.engine import Gate
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.model import Policy

CWD, HOME = "/home/dev/app", "/home/dev"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    if made.is_open:
        made.close()


def policy_with(judge: dict[str, Any], **more: Any) -> Policy:
    body = {
        "version": 1,
        "name": "judged",
        "rules": [
            {
                "rule": "work",
                "decide": "allow",
                "because": "it is daily work",
                "effects": [{"type": ["fs.write"], "scope": ["workspace"]}],
            },
            {
                "rule": "push",
                "decide": "ask",
                "axis": "destructive",
                "because": "others see it",
                "effects": [{"type": ["vcs.publish"]}],
            },
            {
                "rule": "system",
                "decide": "deny",
                "because": "it is not ours",
                "effects": [{"type": ["fs.delete"], "scope": ["system", "outside"]}],
            },
        ],
        "judge": judge,
        **more,
    }
    return Policy(compile_policy(json.dumps(body).encode(), shipped().digest))


@pytest.fixture
def policy_of() -> Callable[..., Policy]:
    return policy_with


@pytest.fixture
def gate_of() -> Callable[..., Gate]:
    return lambda judge, **more: Gate(policy_with(judge, **more), shipped())


def make_call(command: str = "", *, tool: str = "Bash", tool_input: Any = None) -> ToolCall:
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
        place=Place(CWD, (CWD,), HOME),
        mode="default",
        task=None,
        ts=0,
    )


@pytest.fixture
def call() -> Callable[..., ToolCall]:
    return make_call
