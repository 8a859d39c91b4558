"""A gate under the policy in use and the rules of the project that a call is made in."""

import os
import stat
from os import path

from toolgate.canonical import digest
from toolgate.errors import PolicyError, UnavailableError
from toolgate.gate.engine import Gate
from toolgate.gate.kept_files import keep, read_kept
from toolgate.gate.open import build_digest, cache_folder, second_opinion
from toolgate.gate.policy.model import Policy

MAX_BYTES = 64 * 1024


def gate_in_project(gate: Gate, file: str) -> Gate:
    """Return a gate that the rules of a project tighten.

    Args:
        gate: the gate without them.
        file: the project's policy.

    Raises:
        PolicyError: it is no sound policy, or could loosen; nothing is decided then.
        UnavailableError: it cannot be read.
    """
    source = _source(file)
    # One look-up for both texts and this build, as for a user's policy.
    name = digest(gate.policy_bytes + source)[7:39]
    kept = path.join(cache_folder(), f"{name}-{build_digest()[7:23]}.json")
    data = read_kept(kept)
    if data is None:
        from toolgate.gate.policy.project import tightened

        data = tightened(gate.policy_bytes, source, file)
        keep(kept, data)
    return Gate(Policy(data), gate.catalog, second_opinion)


def _source(file: str) -> bytes:
    """Return a project's policy; only a file of the project itself counts.

    A link could lead to a file of the user's, and what is wrong with that would be told to
    the agent.
    """
    folder = path.dirname(file)
    try:
        if path.islink(folder):
            raise PolicyError(file, ["its folder is a link; expected one of the project's own"])
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UnavailableError(f"policy {file} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise PolicyError(file, ["is no ordinary file of its own"])
        if status.st_size > MAX_BYTES:
            raise PolicyError(file, [f"larger than {MAX_BYTES} bytes"])
        return os.read(handle, MAX_BYTES)
    finally:
        os.close(handle)
