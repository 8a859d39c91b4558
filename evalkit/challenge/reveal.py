"""Showing one case of a frozen set, provably, without showing the rest. Pure.

A manifest binds every case by a salted leaf under a Merkle root. A revealed case carries its
own salt and the audit path, so whoever holds the root can tell that the case was in the set
when it was frozen; the other cases, and their salts, stay closed.
"""

from typing import Any

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.manifest import case_salt, leaf_data
from evalkit.errors import EvidenceError, UsageError
from toolgate.canonical import canonical_bytes
from toolgate.ledger.merkle import inclusion_path, leaf_hash, root_of_inclusion
from toolgate.records import is_digest

SCHEMA = "evalkit/revealed-case/1"
_FIELDS = {"schema", "set_digest", "merkle_root", "index", "size", "path", "salt", "case"}
_DIGEST = "sha256:"
_MOST_PATH = 64


def reveal(made: ChallengeSet, manifest: dict[str, Any], case_id: str) -> dict[str, Any]:
    """Return one case with what proves that it belongs to a set.

    Args:
        made: the set.
        manifest: its manifest.
        case_id: the case.

    Raises:
        UsageError: the set has no such case.
    """
    ids = [case.id for case in made.cases]
    if case_id not in ids:
        raise UsageError(f"case {case_id}: expected one of {made.name}, got no such case")
    index = ids.index(case_id)
    leaves = [leaf_data(case, manifest["salt"]) for case in made.cases]
    return {
        "schema": SCHEMA,
        "set_digest": manifest["canonical_digest"],
        "merkle_root": manifest["merkle_root"],
        "index": index,
        "size": len(leaves),
        "path": [_DIGEST + node.hex() for node in inclusion_path(leaves, index)],
        "salt": case_salt(manifest["salt"], case_id).hex(),
        "case": made.cases[index].source,
    }


def check_reveal(body: Any, root: str) -> dict[str, Any]:
    """Return the case that was revealed, if it is in the tree with this root.

    Args:
        body: a revealed case, as parsed JSON.
        root: the Merkle root of the set's manifest, ``sha256:`` and hex.

    Raises:
        UsageError: the value is no revealed case, or the root no digest.
        EvidenceError: the case is not in the tree.
    """
    if not is_digest(root):
        raise UsageError(f"root: expected sha256: and 64 hex digits, got {root!r:.90}")
    if type(body) is not dict or body.keys() != _FIELDS or body["schema"] != SCHEMA:
        raise UsageError(f"expected a revealed case of {SCHEMA}, got something else")
    index, size, path, case = (body[name] for name in ("index", "size", "path", "case"))
    nodes = [_hash(node) for node in path] if type(path) is list else [None]
    sound = type(index) is int and type(size) is int and 0 <= index < size
    if not sound or None in nodes or len(nodes) > _MOST_PATH or type(case) is not dict:
        raise UsageError("expected index, size, path and case of a revealed case, got other values")
    leaf = leaf_hash(canonical_bytes({"case": case, "salt": body["salt"]}))
    found = root_of_inclusion(leaf, index, size, [node for node in nodes if node is not None])
    if found is None or _DIGEST + found.hex() != root:
        raise EvidenceError(
            f"case {case.get('id')!r:.100}: it is not in the set with root {root}; "
            "the case, its salt or its path was changed, or the root is another set's"
        )
    return case


def _hash(text: Any) -> bytes | None:
    return bytes.fromhex(text[len(_DIGEST) :]) if is_digest(text) else None
