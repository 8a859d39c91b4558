"""Opening a gate: the shipped policy, or one from a file."""

import json
import os
from collections.abc import Mapping
from os import path
from typing import TYPE_CHECKING

from toolgate.canonical import digest
from toolgate.errors import UnavailableError
from toolgate.gate.catalog.load import read_compiled, shipped
from toolgate.gate.engine import Gate
from toolgate.gate.policy.model import Policy

if TYPE_CHECKING:
    from toolgate.gate.shell.opinion import Names

MAX_SIGNATURE_BYTES = 4096
PROJECT_FOLDER = "/.toolgate"
PROJECT_POLICY = PROJECT_FOLDER + "/policy.yaml"


def second_opinion(text: str) -> "Names | str":
    """Return another parser's reading of a shell text; loaded for the few that need one."""
    from toolgate.gate.second import second_reading

    return second_reading(text)


def default_gate() -> Gate:
    """Return a gate under the shipped default policy.

    Raises:
        UnavailableError: the package was not built.
    """
    return Gate(Policy(read_compiled("balanced.json")), shipped(), second_opinion)


def user_policy(variables: Mapping[str, str]) -> str:
    """Return the user's policy file, "" for the shipped policy. Never a file of the project.

    Args:
        variables: the process environment.
    """
    named = variables.get("TOOLGATE_POLICY_FILE")
    if named:
        return named
    usual = usual_policy(variables)
    return usual if path.lexists(usual) else ""


def usual_policy(variables: Mapping[str, str]) -> str:
    """Return where the user's policy lies if no other place is named."""
    home = (variables.get("HOME") or "").rstrip("/")
    return (variables.get("XDG_CONFIG_HOME") or home + "/.config") + "/toolgate/policy.yaml"


def project_policy(roots: tuple[str, ...]) -> str:
    """Return the policy file of the project a call is made in, "" where it has none.

    Args:
        roots: the workspace's roots, the checkout as it is named first.
    """
    file = roots[0] + PROJECT_POLICY if roots else ""
    return file if file and path.lexists(file) else ""


def policy_signature(variables: Mapping[str, str]) -> bytes | None:
    """Return the author's signature that lies beside the user's policy file, if one does.

    Raises:
        UnavailableError: it is there and cannot be read.
    """
    file = user_policy(variables) + ".sig"
    if file == ".sig":
        return None
    try:
        with open(file, "rb") as handle:
            return handle.read(MAX_SIGNATURE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnavailableError(f"{file} cannot be read: {error.strerror}") from None


def gate_for(variables: Mapping[str, str], file: str | None = None) -> Gate:
    """Return the gate the hook would use, or one under a policy file that is named.

    Raises:
        UnavailableError: the file cannot be read.
        PolicyError: the policy is refused.
    """
    chosen = file or user_policy(variables)
    return gate_from(chosen) if chosen else default_gate()


def gate_from(file: str) -> Gate:
    """Return a gate under a policy file.

    A compiled policy is used as it is; YAML is compiled, which takes a moment,
    so its result is kept beside the ledger's folder under the digest of the
    YAML and of this build.

    Raises:
        UnavailableError: the file cannot be read.
        PolicyError: the policy is refused.
    """
    from toolgate.gate.bases import bases_beside, policy_source
    from toolgate.gate.kept_files import keep, read_kept

    source = policy_source(file)
    catalog = shipped()
    if source.lstrip().startswith(b"{"):
        return Gate(Policy(source.strip(), file), catalog, second_opinion)
    lexicon = lexicon_digest()
    # What comes of a source depends on the compiler, the catalogue, the lexicon and the policies
    # it extends: on this build, for files are extended by their digest.
    kept = path.join(cache_folder(), digest(source)[7:39] + "-" + build_digest()[7:23] + ".json")
    data = read_kept(kept)
    if data is None:
        from toolgate.gate.policy.compile import compile_policy

        data = compile_policy(
            source, catalog.digest, name=file, bases=bases_beside(file), lexicon=lexicon
        )
        keep(kept, data)
    return Gate(Policy(data), catalog, second_opinion)


def lexicon_digest() -> str:
    """Return the digest of the lexicon this package was built with.

    Raises:
        UnavailableError: the package was not built.
    """
    return digest(read_compiled("lexicon.json"))


def cache_folder() -> str:
    """Return the folder of compiled user policies; only its owner may write there."""
    base = os.environ.get("XDG_CACHE_HOME") or path.join(path.expanduser("~"), ".cache")
    return path.join(base, "toolgate", "policies")


def build_digest() -> str:
    """Return the digest the build stamped this package with.

    Raises:
        UnavailableError: the package was not built.
    """
    return str(json.loads(read_compiled("build.json"))["digest"])
