"""Freezing a set file and holding it to its manifest."""

import contextlib
import os
import re
import secrets
import uuid
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from evalkit.challenge.case import ChallengeSet
from evalkit.challenge.manifest import SCHEMA, build, differences
from evalkit.challenge.read import load_set, read_bytes
from evalkit.errors import RefusedError
from toolgate.canonical import canonical_bytes, digest, parse
from toolgate.errors import CanonicalizationError
from toolgate.records import is_digest

_TEXTS = ("name", "form", "author", "frozen", "frozen_at", "canary", "salt")
_FIELDS = {
    "schema", *_TEXTS, "raw_digest", "canonical_digest", "leaves", "merkle_root", "counts",
    "lineage",
}  # fmt: skip


class Frozen(NamedTuple):
    """A set that is what its manifest says.

    Args:
        path: the set file.
        label: the file's name without ``.json``; what people call the set.
        set: the set.
        manifest: its manifest.
    """

    path: str
    label: str
    set: ChallengeSet
    manifest: dict[str, Any]

    @property
    def digest(self) -> str:
        """Return the canonical digest, which identifies the set."""
        return str(self.manifest["canonical_digest"])

    @property
    def manifest_digest(self) -> str:
        """Return the digest of the manifest's canonical bytes.

        Nothing recomputes ``frozen_at`` and ``canary``; a claim that names this
        digest makes a later edit of them visible.
        """
        return digest(canonical_bytes(self.manifest))


def manifest_path(path: str) -> str:
    """Return where the manifest of a set file lies: beside it."""
    return label_of(path, keep_directory=True) + ".manifest.json"


def label_of(path: str, *, keep_directory: bool = False) -> str:
    """Return a set file's name without its ending."""
    name = path if keep_directory else os.path.basename(path)
    return name.removesuffix(".json")


def freeze(path: str) -> tuple[Frozen, bool]:
    """Write the manifest of a set file beside it.

    Args:
        path: the set file.

    Returns:
        The frozen set, and whether the manifest is new; freezing an unchanged
        set again changes nothing.

    Raises:
        UsageError, SetError: the file cannot be read as a set.
        RefusedError: a manifest exists and the set is not what it says, or it
            cannot be written.
    """
    raw, made = load_set(path)
    place = manifest_path(path)
    if os.path.lexists(place):
        manifest = _load_manifest(place)
        _hold(path, manifest, made, raw)
        return Frozen(path, label_of(path), made, manifest), False
    manifest = build(
        made,
        raw,
        salt=secrets.token_hex(32),
        canary=str(uuid.uuid4()),
        frozen_at=datetime.now(UTC).date().isoformat(),
    )
    _write_new(place, canonical_bytes(manifest) + b"\n")
    return Frozen(path, label_of(path), made, manifest), True


def load_frozen(path: str) -> Frozen:
    """Read a set file and hold it to its manifest.

    Args:
        path: the set file.

    Raises:
        UsageError, SetError: the file cannot be read as a set.
        RefusedError: the set is not frozen, or not what its manifest says.
    """
    raw, made = load_set(path)
    place = manifest_path(path)
    if not os.path.lexists(place):
        raise RefusedError(
            f"{path}: expected a frozen set, got no {os.path.basename(place)} beside it; "
            f"freeze it first: evalkit set freeze {path}"
        )
    manifest = _load_manifest(place)
    _hold(path, manifest, made, raw)
    return Frozen(path, label_of(path), made, manifest)


def _hold(path: str, manifest: dict[str, Any], made: ChallengeSet, raw: bytes) -> None:
    found = differences(manifest, made, raw)
    if found:
        raise RefusedError(
            f"{path}: a frozen set never changes, but this one differs from its manifest: "
            + "; ".join(found)
            + ". Restore the file, or publish the change as a new set that supersedes it"
        )


def _load_manifest(place: str) -> dict[str, Any]:
    data = read_bytes(place, "manifest")
    try:
        body = parse(data)
    except CanonicalizationError as error:
        raise RefusedError(f"{place}: expected a manifest, got: {error}") from None
    wrong = _manifest_faults(body)
    if wrong:
        raise RefusedError(f"{place}: expected a manifest of {SCHEMA}, got: {wrong}")
    if canonical_bytes(body) + b"\n" != data:
        raise RefusedError(f"{place}: expected canonical JSON and a line feed, got other bytes")
    return dict(body)


def _manifest_faults(body: Any) -> str:
    if type(body) is not dict or body.get("schema") != SCHEMA:
        return "another or no schema"
    if body.keys() - {"provenance"} != _FIELDS:
        return f"fields {sorted((body.keys() ^ _FIELDS) - {'provenance'})} unknown or missing"
    checks = {
        "text fields": all(type(body[name]) is str for name in _TEXTS),
        "salt": re.fullmatch(r"[0-9a-f]{64}", str(body["salt"])) is not None,
        "digests": all(
            is_digest(body[name]) for name in ("raw_digest", "canonical_digest", "merkle_root")
        ),
        "frozen_at (a date as YYYY-MM-DD)": _is_date(body["frozen_at"]),
        "canary (a UUID)": _is_uuid(body["canary"]),
        "leaves": type(body["leaves"]) is list and all(map(_is_leaf, body["leaves"])),
        "lineage": type(body["lineage"]) is dict and body["lineage"].keys() == {"supersedes"},
    }
    return ", ".join(f"{name} of the wrong form" for name, good in checks.items() if not good)


def _is_date(text: Any) -> bool:
    try:
        return type(text) is str and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_uuid(text: Any) -> bool:
    """Say whether a text is a random UUID as ``freeze`` writes it."""
    try:
        return type(text) is str and str(uuid.UUID(text, version=4)) == text
    except ValueError:
        return False


def _is_leaf(row: Any) -> bool:
    return (
        type(row) is dict
        and row.keys() == {"id", "leaf"}
        and type(row["id"]) is str
        and is_digest(row["leaf"])
    )


def _write_new(place: str, data: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all."""
    draft = f"{place}.{os.getpid()}.new"
    try:
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, place)
    except OSError as error:
        raise RefusedError(f"{place}: the manifest cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
