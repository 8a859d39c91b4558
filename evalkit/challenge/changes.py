"""What is different between two sets, case by case. Pure."""

from typing import Any

from evalkit.challenge.case import ChallengeSet
from evalkit.errors import RefusedError
from toolgate.canonical import digest_of

_SET_FIELDS = ("name", "form", "author", "policy", "labels_mean", "supersedes")


def changes(before: ChallengeSet, after: ChallengeSet) -> dict[str, Any]:
    """Return how a set differs from another.

    Args:
        before: one set.
        after: the other.

    Returns:
        ``added`` and ``removed`` case ids, ``changed`` (``case``, ``fields`` and, where the
        label changed, ``expected`` as before and after), ``same`` (how many), and ``set``
        (fields of the set itself that differ, fixtures and categories included).
    """
    old = {case.id: case for case in before.cases}
    new = {case.id: case for case in after.cases}
    changed = [
        _change(old[case].source, new[case].source, case)
        for case in new
        if case in old and old[case].source != new[case].source
    ]
    fields = [name for name in _SET_FIELDS if getattr(before, name) != getattr(after, name)]
    fields += [
        name
        for name, one, other in (
            ("fixtures", before.fixtures, after.fixtures),
            ("categories", before.categories, after.categories),
            ("loss", before.loss, after.loss),
            ("provenance", before.provenance, after.provenance),
        )
        if one != other
    ]
    return {
        "before": {"name": before.name, "digest": digest_of(before.source)},
        "after": {"name": after.name, "digest": digest_of(after.source)},
        "added": [case for case in new if case not in old],
        "removed": [case for case in old if case not in new],
        "changed": changed,
        "same": len([case for case in new if case in old]) - len(changed),
        "set": fields,
    }


def refuse_other_lineage(before: ChallengeSet, after: ChallengeSet, label: str) -> None:
    """Refuse a set that does not say that it replaces another.

    Args:
        before: the set that is replaced.
        after: the set that replaces it.
        label: file name of the replaced set, without ending.

    Raises:
        RefusedError: ``supersedes`` names neither its name, its file nor its digest.
    """
    names = (before.name, label, digest_of(before.source))
    if after.supersedes not in names:
        raise RefusedError(
            f"{after.name}: expected supersedes to be one of {', '.join(map(repr, names))}, "
            f"got {after.supersedes!r}"
        )


def _change(before: dict[str, Any], after: dict[str, Any], case: str) -> dict[str, Any]:
    fields = [
        name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)
    ]
    row: dict[str, Any] = {"case": case, "fields": fields}
    if "expected" in fields:
        row["expected"] = [before.get("expected"), after.get("expected")]
    return row
