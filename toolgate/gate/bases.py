"""Where the policies lie that others extend: shipped with this program, or files."""

from collections.abc import Callable
from os import path
from typing import Any

from toolgate.errors import PolicyError, UnavailableError

MAX_POLICY_BYTES = 4 * 1024 * 1024
DEFAULTS = path.join(path.dirname(path.abspath(__file__)), "policy", "defaults")


def bases_beside(file: str) -> Callable[[dict[str, Any]], bytes]:
    """Return what finds the policies that a policy file may extend.

    Args:
        file: the policy file; a relative name in it is taken from its folder.
    """

    def find(said: dict[str, Any]) -> bytes:
        if "policy" in said:
            return shipped_source(said["policy"])
        return policy_source(path.join(path.dirname(path.abspath(file)), said["file"]))

    return find


def shipped_source(name: str) -> bytes:
    """Return the YAML of a shipped policy.

    Raises:
        UnavailableError: the package does not hold it.
    """
    return policy_source(path.join(DEFAULTS, name + ".yaml"))


def policy_source(file: str) -> bytes:
    """Return the bytes of a policy file.

    Raises:
        PolicyError: it is larger than a policy may be.
        UnavailableError: it cannot be read.
    """
    try:
        with open(file, "rb") as handle:
            source = handle.read(MAX_POLICY_BYTES + 1)
    except OSError as error:
        raise UnavailableError(f"policy {file} cannot be read: {error.strerror}") from None
    if len(source) > MAX_POLICY_BYTES:
        raise PolicyError(file, [f"larger than {MAX_POLICY_BYTES} bytes"])
    return source
