"""Policy files as the commands read and write them."""

import os
from typing import TYPE_CHECKING

from toolgate.errors import UnavailableError

if TYPE_CHECKING:
    from toolgate.gate.engine import Gate


def compiled(file: str) -> bytes:
    """Return what a policy's YAML compiles to.

    Raises:
        PolicyError: with every fault found.
        UnavailableError: it cannot be read.
    """
    from toolgate.gate.bases import bases_beside, policy_source
    from toolgate.gate.catalog.load import shipped
    from toolgate.gate.open import lexicon_digest
    from toolgate.gate.policy.compile import compile_policy

    source = policy_source(file)
    return compile_policy(
        source,
        shipped().digest,
        name=file,
        bases=bases_beside(file),
        lexicon=lexicon_digest(),
    )


def as_used(file: str) -> bytes:
    """Return the compiled policy a file stands for, as the hook reads it.

    Raises:
        PolicyError: the policy is refused.
        UnavailableError: it cannot be read.
    """
    from toolgate.gate.bases import policy_source
    from toolgate.gate.policy.model import Policy

    source = policy_source(file).strip()
    return Policy(source, file).data if source.startswith(b"{") else compiled(file)


def gate_named(named: str) -> "Gate":
    """Return a gate under a policy file, or under a shipped policy by its name.

    Raises:
        PolicyError: the policy is refused.
        UnavailableError: it cannot be read.
    """
    from toolgate.gate.catalog.load import read_compiled, shipped
    from toolgate.gate.engine import Gate
    from toolgate.gate.open import second_opinion
    from toolgate.gate.policy.extends import SHIPPED
    from toolgate.gate.policy.model import Policy

    data = read_compiled(named + ".json") if named in SHIPPED else as_used(named)
    return Gate(Policy(data, named), shipped(), second_opinion)


def gate_in(file: str) -> "Gate":
    """Return a gate under the hook's policy and a project's rules.

    Raises:
        PolicyError: one of them is refused.
        UnavailableError: one of them cannot be read.
    """
    from toolgate.gate.open import gate_for
    from toolgate.gate.project import gate_in_project

    return gate_in_project(gate_for(os.environ), os.path.abspath(file))


def write_new(path: str, data: bytes) -> None:
    """Write a file that is not there yet.

    Raises:
        UnavailableError: it is there, or cannot be written.
    """
    try:
        with open(path, "xb") as handle:
            handle.write(data)
    except FileExistsError:
        raise UnavailableError(f"{path} is there already; nothing was written") from None
    except OSError as error:
        raise UnavailableError(f"{path} cannot be written: {error.strerror}") from None


def write(path: str, data: bytes) -> None:
    """Write a file, whether it is there or not.

    Raises:
        UnavailableError: it cannot be written.
    """
    try:
        with open(path, "wb") as handle:
            handle.write(data)
    except OSError as error:
        raise UnavailableError(f"{path} cannot be written: {error.strerror}") from None
