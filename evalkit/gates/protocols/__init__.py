"""Hook protocols: how a host asks a hook about a call, and what it takes an answer for.

Each module has ``before(shown)``, ``after(shown, result)`` (bytes of the two payloads; empty
where the protocol has no such event) and ``hear(output)``. Facts of the protocols are those of
the hosts' documentation, read 2026-08; no host was run.
"""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from evalkit.errors import UsageError
from evalkit.gates.heard import Heard, Output, Shown

NAMES = ("claude-code", "codex", "copilot", "cursor", "gemini")


class HookProtocol(NamedTuple):
    """One host's protocol.

    Args:
        name: one of ``NAMES``.
        before: the payload that asks about a call.
        after: the payload that tells what became of it, one of ``success`` and ``failure``.
        hear: the answer a process gave; raises ``NoAnswerError`` when it is none.
    """

    name: str
    before: Callable[[Shown], bytes]
    after: Callable[[Shown, str], bytes]
    hear: Callable[[Output], Heard]


def protocol(name: str) -> HookProtocol:
    """Return a protocol.

    Raises:
        UsageError: nobody knows it.
    """
    if name not in NAMES:
        raise UsageError(f"protocol {name!r}: expected one of {', '.join(NAMES)}")
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    return HookProtocol(name, module.before, module.after, module.hear)
