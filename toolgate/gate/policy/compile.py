"""Policy YAML v1 to compiled JSON: strict keys, every fault reported at once."""

from collections.abc import Callable
from typing import Any

from toolgate.canonical import canonical_bytes
from toolgate.errors import PolicyError
from toolgate.gate.effects.settings import Settings
from toolgate.gate.policy.axes_source import compiled_axes
from toolgate.gate.policy.extends import extended
from toolgate.gate.policy.faults import policy_faults
from toolgate.gate.policy.judge_source import compiled_judge
from toolgate.gate.policy.lift import compiled_lift
from toolgate.gate.policy.mcp import compiled_mcp
from toolgate.gate.policy.model import FORMAT
from toolgate.gate.policy.overrides_source import compiled_overrides
from toolgate.gate.policy.people import compiled_composition
from toolgate.gate.policy.yaml_source import read_yaml

Bases = Callable[[dict[str, Any]], bytes]
"""From what ``extends`` says, the source of the policy it means."""


def compile_policy(
    source: bytes,
    catalog_digest: str,
    *,
    name: str = "policy",
    bases: Bases | None = None,
    lexicon: str | None = None,
) -> bytes:
    """Compile policy YAML.

    Args:
        source: the YAML text.
        catalog_digest: digest of the catalogue its decisions rest on.
        name: what to call the source in messages.
        bases: finds the policies that it may extend; None where it may extend none.
        lexicon: digest of the lexicon its readings of a task rest on; None for whichever is there.

    Returns:
        Canonical JSON; its SHA-256 is the policy digest.

    Raises:
        PolicyError: with every fault found.
        UnavailableError: a policy that it extends cannot be read.
    """
    twice: list[str] = []
    body = whole_source(source, name=name, bases=bases, twice=twice)
    faults = [*twice, *policy_faults(body)]
    if faults:
        raise PolicyError(name, faults)
    return canonical_bytes(_compiled(body, catalog_digest, lexicon))


def whole_source(
    source: bytes,
    *,
    name: str = "policy",
    bases: Bases | None = None,
    twice: list[str] | None = None,
) -> Any:
    """Return what a policy's YAML says, together with what it extends. It may have faults.

    Args:
        source: the YAML text.
        name: what to call the source in messages.
        bases: finds the policies that it may extend; None where it may extend none.
        twice: takes what is given twice, as of ``read_yaml``.

    Raises:
        PolicyError: it cannot be read at all, or does not say soundly what it extends.
        UnavailableError: a policy that it extends cannot be read.
    """
    body = read_yaml(source, name, twice)
    try:
        return extended(body, bases, name)
    except PolicyError as error:
        raise PolicyError(name, [*(twice or ()), *error.faults]) from None


def _compiled(body: dict[str, Any], catalog_digest: str, lexicon: str | None) -> dict[str, Any]:
    names = body.get("names") or {}
    rules = {canonical_bytes(rule): rule for rule in body.get("rules") or []}
    return {
        "format": FORMAT,
        "name": body["name"],
        "catalog": catalog_digest,
        "lexicon": lexicon,
        "default": body.get("default", "ask"),
        "fail_mode": body.get("fail_mode", "deny"),
        "unattended": body.get("unattended") or {"modes": [], "ask": "deny"},
        "axes": compiled_axes(body.get("axes") or {}),
        "authored_by": body.get("authored_by"),
        "authors": sorted(set(body.get("authors") or [])),
        "composition": compiled_composition(body.get("composition") or {}),
        "principals": body.get("principals") or {},
        "names": {key: sorted(set(names.get(key) or [])) for key in Settings._fields},
        "mcp": compiled_mcp(body.get("mcp") or {}),
        "facts": body.get("facts") or {},
        **({"lift": compiled_lift(body["lift"])} if body.get("lift") is not None else {}),
        "classes": body.get("classes") or [],
        # Neither order nor repetition carries meaning, so neither is kept.
        "rules": sorted(rules.values(), key=lambda rule: str(rule["rule"])),
        "overrides": compiled_overrides(body.get("overrides") or []),
        **compiled_judge(body),
    }
