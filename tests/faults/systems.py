"""Faults between ledgers: a family of agents in three ledgers, and how it can be damaged.

A row's damage may change the ledgers' folders, which ledgers are given, and what was
kept outside; ``expect`` are the codes between the ledgers, not those inside one.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import checkpoints
from ledgers import SPINE, Kit, Writer

from toolgate.canonical import digest
from toolgate.verify.anchors import NOTHING, Anchors

NAMES = ("parent", "child", "other")


class Family:
    """Three ledgers: an agent in ``parent`` started one in ``child``, and that one another.

    Attributes:
        roots: the ledgers that are given to the verifier.
        anchors: what was kept outside.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.roots = [folder / name for name in NAMES]
        self.anchors = NOTHING

    def kit(self, name: str) -> Kit:
        return Kit(self.folder / name)


def build(folder: Path) -> None:
    """Write the family, without a fault."""
    parent = Writer(folder / "parent", "boss")
    started = parent.decide("t1", tool="Task")
    denied = parent.decide("t2", "denied", tool="Task")
    parent.outcome("t1", tool="Task")
    parent.decide("t3", tool="Agent")
    parent.outcome("t3", tool="Agent")
    parent.close()
    assert denied
    child = Writer(folder / "child", "worker")
    child.ts += 1  # no two ledgers begin alike
    child.ledger.session_open("worker", ts=child.tick(), spawned_by=started)
    again = child.decide("t4", tool="Task")
    child.outcome("t4", tool="Task")
    child.close()
    # A session that is resumed is started by nobody anew.
    child.decide("c1", "denied")
    child.close()
    other = Writer(folder / "other", "helper", spawned_by=again, shape="linear")
    other.ts += 2
    other.decide("o1", "denied")
    other.close()
    alone = Writer(folder / "other", "alone")
    alone.ts += 3
    alone.decide("x1", "denied")
    alone.close()


class Fault(NamedTuple):
    """One row; see ``catalogue.Fault``."""

    id: str
    damage: Callable[[Family], None]
    expect: frozenset[str]
    verdict: str


SYSTEM: list[Fault] = []


def fault(
    name: str, *codes: str, verdict: str
) -> Callable[[Callable[[Family], None]], Callable[[Family], None]]:
    def add(damage: Callable[[Family], None]) -> Callable[[Family], None]:
        SYSTEM.append(Fault(name, damage, frozenset(codes), verdict))
        return damage

    return add


def spawned_by(family: Family, name: str, session: str, value: Any) -> None:
    """Rewrite who started a session."""
    kit = family.kit(name)
    kit.find("session_open", session).body["ev"]["spawned_by"] = value
    kit.rehash()


@fault("child-ledger-not-there", "log.ledger_missing", "log.spawn_unknown", verdict="INCOMPLETE")
def _(family: Family) -> None:
    shutil.rmtree(family.folder / "child")


@fault("ledger-without-an-entry", "log.ledger_missing", verdict="INCOMPLETE")
def _(family: Family) -> None:
    (family.folder / "empty").mkdir()
    (family.folder / "empty" / "spine-000000000001.jsonl").write_bytes(b"")
    family.roots.append(family.folder / "empty")


@fault("no-ledger-but-a-file", "log.ledger_missing", verdict="INCOMPLETE")
def _(family: Family) -> None:
    (family.folder / "file").write_bytes(b"")
    family.roots.append(family.folder / "file")


@fault("parent-ledger-not-given", "log.spawn_unknown", verdict="INCOMPLETE")
def _(family: Family) -> None:
    family.roots.remove(family.folder / "parent")


@fault("spawned-by-nobody", "log.spawn_unknown", verdict="INCOMPLETE")
def _(family: Family) -> None:
    spawned_by(family, "child", "worker", digest(b"nobody"))


@fault("spawned-by-an-entry-that-is-no-decision", "log.spawn_unknown", verdict="INCOMPLETE")
def _(family: Family) -> None:
    spawned_by(family, "child", "worker", family.kit("parent").decision("t1").old)


@fault("spawned-by-a-denied-decision", "log.spawn_denied", verdict="FAIL")
def _(family: Family) -> None:
    spawned_by(family, "child", "worker", family.kit("parent").decision("t2").old_event)


@fault("spawned-by-an-ask", "log.spawn_denied", verdict="FAIL")
def _(family: Family) -> None:
    writer = Writer(family.folder / "parent", "boss")
    writer.ts += 10**8
    asked = writer.decide("t9", "asked", tool="Task")
    writer.close()
    spawned_by(family, "child", "worker", asked)


@fault("spawned-by-itself", "log.spawn_denied", verdict="FAIL")
def _(family: Family) -> None:
    spawned_by(family, "child", "worker", family.kit("child").decision("t4").old_event)


@fault("spawned-by-its-own-child", "log.spawn_denied", verdict="FAIL")
def _(family: Family) -> None:
    spawned_by(family, "parent", "boss", family.kit("child").decision("t4").old_event)


@fault("kept-checkpoint-of-no-ledger-here", "log.ledger_missing", verdict="INCOMPLETE")
def _(family: Family) -> None:
    kept = checkpoints.checkpointed(family.kit("child"))
    family.roots.remove(family.folder / "child")
    family.anchors = Anchors((checkpoints.held(kept),))
    spawned_by(family, "other", "helper", None)


@fault("pinned-key-of-no-ledger-here", "log.ledger_missing", verdict="INCOMPLETE")
def _(family: Family) -> None:
    family.anchors = Anchors((), checkpoints.public("example.com/none", checkpoints.FIRST))


@fault("fault-inside-one-ledger", verdict="FAIL")
def _(family: Family) -> None:
    kit = family.kit("other")
    kit.decision("o1").body["ev"]["principal"] = "mallory"
    kit.write()


@fault("kept-checkpoint-that-a-ledger-does-not-hold", verdict="FAIL")
def _(family: Family) -> None:
    kit = family.kit("child")
    checkpoints.checkpointed(kit)
    kept = checkpoints.checkpointed(kit)
    checkpoints.cut_behind(kit, len(kit.spine) - 2)
    family.anchors = Anchors((checkpoints.held(kept),))


@fault("copy-that-goes-on-differently", "log.equivocation", verdict="FAIL")
def _(family: Family) -> None:
    shutil.copytree(family.folder / "child", family.folder / "copy")
    for name in ("child", "copy"):
        writer = Writer(family.folder / name, "worker")
        writer.ts += 10**8
        writer.decide(f"after in {name}", "denied")
        writer.close()
    family.roots.append(family.folder / "copy")


@fault("copy-whose-history-was-rewritten", "log.equivocation", verdict="FAIL")
def _(family: Family) -> None:
    shutil.copytree(family.folder / "other", family.folder / "copy")
    family.roots.append(family.folder / "copy")
    kit = family.kit("copy")
    kit.decision("x1").body["rule"] = "another"
    kit.rehash()


@fault("three-copies-that-part-twice", "log.equivocation", verdict="FAIL")
def _(family: Family) -> None:
    for name in ("copy", "third"):
        shutil.copytree(family.folder / "child", family.folder / name)
        family.roots.append(family.folder / name)
        writer = Writer(family.folder / name, "worker")
        writer.ts += 10**8
        writer.decide("after", "denied")
        writer.close()
        writer.decide(f"later in {name}", "denied")
        writer.ts += len(name)
        writer.close()
    writer = Writer(family.folder / "child", "worker")
    writer.ts += 10**8
    writer.decide("after in child", "denied")
    writer.close()


@fault("copy-that-ends-earlier", verdict="INCOMPLETE")
def _(family: Family) -> None:
    shutil.copytree(family.folder / "other", family.folder / "copy")
    spine = family.folder / "copy" / SPINE
    lines = spine.read_bytes().splitlines(keepends=True)
    spine.write_bytes(b"".join(lines[:-1]))
    family.roots.append(family.folder / "copy")


@fault("session-still-open", verdict="INCOMPLETE")
def _(family: Family) -> None:
    Writer(family.folder / "other", "late").decide("z", "denied")
