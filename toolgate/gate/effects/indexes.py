"""Indexes of packages that a call names: who says what is in the packages it installs."""

from toolgate.gate.effects.hosts import host_of, scope_of
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE

VARIABLES = frozenset(
    (
        *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX", "UV_INDEX_URL"),
        *("UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "npm_config_registry"),
        *("NPM_CONFIG_REGISTRY", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "GOPROXY"),
        *("BUN_CONFIG_REGISTRY", "PIPENV_PYPI_MIRROR"),
    )
)
"""Variables in which package managers look for an index."""
_NO_INDEX = frozenset(("off", "direct"))


def named(reading: Reading, text: str, program: str) -> list[Effect]:
    """Return what it says of an install that a call names the index.

    What stands in an index is installed and runs, so one that is neither trusted by
    the policy nor on this machine is an install from outside the project. An index a package
    manager uses by itself needs no naming; where a project names it, the policy trusts it.

    Args:
        reading: knows the hosts the policy trusts.
        text: one or several addresses, each perhaps behind a name and ``=``.
        program: the package manager.
    """
    made: list[Effect] = []
    for one in text.replace(",", " ").replace("|", " ").split():
        before, mark, _ = one.partition("://")
        name, equals, behind = before.partition("=")
        address = one[len(name) + 1 :] if equals and behind.isalnum() else one
        if one in _NO_INDEX or (not mark and HOLE not in one):
            continue  # a folder, or the name of an index that the project's own settings describe
        made.append(reading.net("net.fetch", address, program))
        host = host_of(address)
        scope = scope_of(host, reading.settings)
        if scope != "workspace":
            proof = unresolved("host-not-known") if scope == "unknown" else PROVED
            made.append(Effect("pkg.install", scope, host, True, proof, program, "index"))
    return made
