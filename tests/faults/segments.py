"""Faults of sealed segments, on a ledger whose sessions are all packed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ledgers
from catalogue import BASES, fault, legal

from toolgate.canonical import digest, profile_bytes
from toolgate.ledger import seal
from toolgate.verify.directory import session_name

_DAY = 86_400_000_000


def build(root: Path) -> None:
    """Write the sound ledger and seal it, without the twin and uncompressed: readable here."""
    ledgers.build(root)
    with patch.object(seal, "_LEVEL", 0):
        seal.seal(str(root), ts=ledgers.START + 30 * _DAY, with_twin=False)


BASES["sealed"] = build


def _folder(kit: Any) -> Path:
    return next(path for path in (kit.root / "segments").iterdir() if path.is_dir())


def _file(kit: Any, name: str) -> Path:
    return next(path for path in _folder(kit).iterdir() if path.name.startswith(name))


def _manifest(kit: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Edit the manifest and leave it canonical."""
    path = _file(kit, "manifest")
    body = json.loads(path.read_bytes())
    change(body)
    path.write_bytes(profile_bytes(body) + b"\n")


def _unpack_one(kit: Any) -> Path:
    """Give one session its file back, and leave the others to the segment; return the file."""
    seal.unpack(str(kit.root), keep=True)
    for name in ("alpha", session_name("Beta_2")):
        (kit.root / "sessions" / f"{name}.jsonl").unlink()
    path: Path = kit.root / "sessions" / "run-1.jsonl"
    return path


@legal("sealed-sessions", beside="pack-altered", base="sealed")
def _(kit: Any) -> None:
    """Sessions are read from their segment."""


@legal("sealed-and-still-there", beside="copy-differs-from-its-segment", base="sealed")
def _(kit: Any) -> None:
    """A session lies in its file and in a segment, alike."""
    _unpack_one(kit)


@fault("pack-altered", "B", "log.segment", base="sealed")
def _(kit: Any) -> None:
    path = _file(kit, "sessions")
    path.write_bytes(path.read_bytes().replace(b'"alice"', b'"malic"', 1))


@fault("pack-missing", "B", "log.segment", base="sealed")
def _(kit: Any) -> None:
    _file(kit, "sessions").unlink()


@fault("pack-cut", "B", "log.segment", base="sealed")
def _(kit: Any) -> None:
    path = _file(kit, "sessions")
    path.write_bytes(path.read_bytes()[:-100])


@fault("manifest-names-another-pack", "N", "log.segment", base="sealed")
def _(kit: Any) -> None:
    _manifest(kit, lambda body: body["pack"].update(digest=digest(b"another")))


@fault("manifest-says-another-session", "N", "log.segment", base="sealed")
def _(kit: Any) -> None:
    _manifest(kit, lambda body: body["sessions"][0].update(session="mallory"))


@fault("manifest-that-is-none", "B", "log.segment", base="sealed")
def _(kit: Any) -> None:
    _file(kit, "manifest").write_bytes(b"{}\n")


@fault("manifest-missing", "B", "log.segment", base="sealed")
def _(kit: Any) -> None:
    _file(kit, "manifest").unlink()


@fault("copy-differs-from-its-segment", "N", "log.segment", base="sealed")
def _(kit: Any) -> None:
    path = _unpack_one(kit)
    path.write_bytes(path.read_bytes().replace(b'"alice"', b'"malic"', 1))
