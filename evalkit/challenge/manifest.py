"""The manifest that freezes a set: what it holds, and how it is compared. Pure.

A set never changes. Its manifest says which bytes it was, binds every case by
a salted leaf under a Merkle root, and names what it replaces.
"""

from hmac import digest as hmac_digest
from typing import Any

from evalkit.challenge.case import LABELS, Case, ChallengeSet
from toolgate.canonical import canonical_bytes, digest, digest_of
from toolgate.ledger.merkle import leaf_hash, tree_root

SCHEMA = "evalkit/challenge-set-manifest/1"
MEASURED = (
    "schema",
    "name",
    "form",
    "raw_digest",
    "canonical_digest",
    "merkle_root",
    "counts",
    "author",
    "frozen",
    "lineage",
    "provenance",
)
"""The fields that follow from the file and the salt, leaves apart; the rest is chosen once."""


def counts(cases: tuple[Case, ...]) -> dict[str, Any]:
    """Return how many cases there are, by label and by category, and how many pairs.

    Cases that state a mechanism are counted where there are any, and all by severity where one
    has another than 1.
    """
    expected = dict.fromkeys(LABELS, 0)
    category: dict[str, int] = {}
    for case in cases:
        expected[case.expected] += 1
        category[case.category] = category.get(case.category, 0) + 1
    pairs = len({case.pair for case in cases if case.pair is not None})
    made: dict[str, Any] = {
        "cases": len(cases), "pairs": pairs, "expected": expected, "category": category,
    }  # fmt: skip
    stated = sum(case.mechanism is not None for case in cases)
    if stated:
        made["mechanism"] = stated
    severity: dict[str, int] = {}
    for case in cases:
        severity[str(case.severity)] = severity.get(str(case.severity), 0) + 1
    return {**made, "severity": severity} if severity.keys() - {"1"} else made


def case_salt(salt: str, case_id: str) -> bytes:
    """Return the salt of one case: HMAC-SHA256 of its id under the set's salt.

    Args:
        salt: the set's salt, hex.
        case_id: the case's id.
    """
    return hmac_digest(bytes.fromhex(salt), case_id.encode("utf-8"), "sha256")


def leaf_data(case: Case, salt: str) -> bytes:
    """Return what a case's leaf is the hash of.

    It is the canonical JSON of ``{case, salt}``, ``case`` being the object of
    the file and ``salt`` the hex of ``case_salt``.
    """
    return canonical_bytes({"case": case.source, "salt": case_salt(salt, case.id).hex()})


def build(
    made: ChallengeSet, raw: bytes, *, salt: str, canary: str, frozen_at: str
) -> dict[str, Any]:
    """Return the manifest of a set.

    Args:
        made: the set.
        raw: the bytes it was read from.
        salt: 32 random bytes, hex.
        canary: a UUID that marks text derived from this set.
        frozen_at: the date of freezing, ``YYYY-MM-DD``, UTC.
    """
    leaves = [leaf_data(case, salt) for case in made.cases]
    stated = made.provenance.as_json()
    return {
        "schema": SCHEMA,
        "name": made.name,
        "form": made.form,
        "raw_digest": digest(raw),
        "canonical_digest": digest_of(made.source),
        "salt": salt,
        "leaves": [
            {"id": case.id, "leaf": "sha256:" + leaf_hash(data).hex()}
            for case, data in zip(made.cases, leaves, strict=True)
        ],
        "merkle_root": "sha256:" + tree_root(leaves).hex(),
        "counts": counts(made.cases),
        "author": made.author,
        "frozen": made.frozen,
        "frozen_at": frozen_at,
        "canary": canary,
        "lineage": {"supersedes": made.supersedes},
        **({"provenance": stated} if stated else {}),
    }


def differences(manifest: dict[str, Any], made: ChallengeSet, raw: bytes) -> list[str]:
    """Return how a set differs from its manifest, one sentence a field; none when it does not.

    Args:
        manifest: the manifest as read.
        made: the set as read now.
        raw: the bytes it was read from.
    """
    again = build(
        made,
        raw,
        salt=manifest["salt"],
        canary=manifest["canary"],
        frozen_at=manifest["frozen_at"],
    )
    found = [
        _difference(name, manifest.get(name), again.get(name))
        for name in MEASURED
        if manifest.get(name) != again.get(name)
    ]
    if manifest["leaves"] != again["leaves"]:
        found += _changed_cases(manifest["leaves"], again["leaves"]) or ["order of the cases"]
    return found


def _difference(name: str, frozen: object, now: object) -> str:
    if type(frozen) is str and type(now) is str:
        return f"{name}: frozen as {frozen}, is {now}"
    return f"{name}: differs from what was frozen"


def _changed_cases(frozen: list[dict[str, str]], now: list[dict[str, str]]) -> list[str]:
    before = {row["id"]: row["leaf"] for row in frozen}
    after = {row["id"]: row["leaf"] for row in now}
    changed = [name for name in before if name in after and before[name] != after[name]]
    rows = [
        ("cases changed", changed),
        ("cases removed", [name for name in before if name not in after]),
        ("cases added", [name for name in after if name not in before]),
    ]
    return [f"{what}: {', '.join(names)}" for what, names in rows if names]
