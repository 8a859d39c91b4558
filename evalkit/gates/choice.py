"""Which gate a run is about: ours in this process, a hook command, or an HTTP hook."""

import math
import os
import shlex
from typing import Any, NamedTuple

from evalkit.errors import UsageError
from evalkit.gates.inprocess import Gate
from evalkit.gates.outside import Command, OutsideGate
from evalkit.gates.protocols import protocol

AnyGate = Gate | OutsideGate
COMMAND, HTTP = "command:", "http:"
MOST_JOBS = 64


class Choice(NamedTuple):
    """What was asked for.

    Args:
        policy: a policy file for our gate, or None for the shipped policy.
        gate: ``command:WORDS`` or ``http:URL``; None for our gate.
        protocol: the host protocol a gate that is not ours is asked in.
        seconds: how long one answer of it may take.
        environ: names of variables a command gets from this process's environment.
        jobs: how many cases are asked about at the same time; None for one, or with our gate
            and a large set for as many as there are processors.
    """

    policy: str | None = None
    gate: str | None = None
    protocol: str = "claude-code"
    seconds: float = 10.0
    environ: tuple[str, ...] = ()
    jobs: int | None = None


def chosen(value: dict[str, Any]) -> Choice:
    """Return a choice as ``run.json`` keeps it."""
    return Choice(
        **{**value, "environ": tuple(value["environ"]), "seconds": float(value["seconds"])}
    )


def kept(choice: Choice) -> dict[str, Any]:
    """Return a choice as ``run.json`` keeps it: no value of any variable."""
    policy = choice.policy and os.path.abspath(choice.policy)
    return {
        **choice._asdict(),
        "policy": policy,
        "environ": list(choice.environ),
        "seconds": repr(choice.seconds),
    }


def open_gate(choice: Choice) -> Gate | OutsideGate:
    """Return the gate that was asked for.

    Raises:
        UsageError: the options make no sense together, or there is no such program.
        PolicyError, UnavailableError: our gate's policy is refused or cannot be read.
    """
    if choice.jobs is not None and not 1 <= choice.jobs <= MOST_JOBS:
        raise UsageError(f"--jobs: expected 1 to {MOST_JOBS}, got {choice.jobs}")
    if choice.gate is None:
        return _ours(choice)
    if choice.policy is not None:
        raise UsageError("--policy: expected it for our own gate only, got it beside --gate")
    if not math.isfinite(choice.seconds) or choice.seconds <= 0:
        raise UsageError(f"--gate-seconds: expected a number above 0, got {choice.seconds:g}")
    asked_in = protocol(choice.protocol)
    if choice.gate.startswith(COMMAND):
        command = Command(_words(choice.gate), asked_in, choice.seconds, _environ(choice.environ))
        return OutsideGate(command, command.described(), asked_in)
    if choice.gate.startswith(HTTP):
        from evalkit.gates.http import Http, checked_url

        if choice.environ:
            raise UsageError("--gate-env: expected it beside --gate command: only")
        reached = Http(checked_url(_url(choice.gate)), asked_in, choice.seconds)
        return OutsideGate(reached, reached.described(), asked_in)
    raise UsageError(f"--gate: expected command:'...' or http:URL, got {choice.gate!r:.100}")


def _ours(choice: Choice) -> Gate:
    from toolgate.gate.open import default_gate, gate_from

    for name, given in (
        ("--gate-env", bool(choice.environ)),
        ("--gate-protocol", choice.protocol != Choice().protocol),
    ):
        if given:
            raise UsageError(
                f"{name}: expected --gate beside it; our own gate runs in this process"
            )
    if choice.policy is None:
        return default_gate()
    gate = gate_from(choice.policy)
    if gate.policy.judge is not None:
        raise UsageError(
            f"--policy: {gate.policy.name} names a judge, which a run in this process does not "
            "ask; run the hook instead (--gate command:'toolgate-hook' --gate-env "
            "TOOLGATE_POLICY_FILE)"
        )
    return gate


def _url(gate: str) -> str:
    """Return the URL of ``http:URL``; ``http://...`` itself is one too."""
    return gate if gate.startswith("http://") else gate.removeprefix(HTTP)


def _words(gate: str) -> tuple[str, ...]:
    text = gate.removeprefix(COMMAND)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--gate command: {error} in {text!r:.100}") from None
    if not words:
        raise UsageError("--gate command: expected a program and its arguments, got nothing")
    return words


def _environ(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise UsageError(f"--gate-env: expected variables that are set, got {', '.join(missing)}")
    return tuple((name, os.environ[name]) for name in sorted(set(names)))
