"""Freeze the catalogue: ``python tests/faults/freeze.py`` writes one JSON file a case.

What a case expects is what this verifier says of it today. Freezing refuses a
row whose findings are not those the catalogue names, and a change of any other
detail shows in the files it writes.
"""

import json
import sys
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any

import catalogue
import ledgers
import systems
import vectors
from catalogue import BASES, Fault

from toolgate.ledger.notes import format_note
from toolgate.verify.anchors import NOTHING, Anchors
from toolgate.verify.traces.span import Span

_CACHES = (".cache", ".turn", ".lock", ".salt")


def freeze(folder: Path) -> int:
    """Write every base and case into an empty folder; return the number of cases.

    Raises:
        ValueError: a row's findings are not those its catalogue entry names.
    """
    rows = catalogue.load()
    with TemporaryDirectory() as scratch:
        bases: dict[str, Path] = {}
        for name in sorted({row.base for row in rows}):
            bases[name] = Path(scratch) / "base" / name / vectors.MAIN
            BASES[name](bases[name])
            files = {
                path: vectors.items_of(data, []) for path, data in files_of(bases[name]).items()
            }
            write(folder / "base" / f"{name}.json", {"name": name, "files": files})
        for row in rows:
            work = Path(scratch) / "work"
            copytree(bases[row.base].parent, work)
            case = _case(row, work, files_of(bases[row.base]))
            write(folder / f"{row.id}.json", case)
            rmtree(work)
        family = Path(scratch) / "family"
        systems.build(family)
        bases = {name: files_of(family / name) for name in systems.NAMES}
        for name, files in bases.items():
            items = {path: vectors.items_of(data, []) for path, data in files.items()}
            write(folder / "base" / f"{name}.json", {"name": name, "files": items})
        for row in systems.SYSTEM:
            work = Path(scratch) / "work"
            copytree(family, work)
            write(folder / f"{row.id}.json", _system(row, work, bases))
            rmtree(work)
    return len(rows) + len(systems.SYSTEM)


def _system(row: systems.Fault, work: Path, bases: dict[str, dict[str, bytes]]) -> dict[str, Any]:
    """Return a case of several ledgers; ``args.system`` names those that are given."""
    family = systems.Family(work)
    row.damage(family)
    case: dict[str, Any] = {
        "id": row.id,
        "title": row.id.replace("-", " "),
        "attacker": "R",
        "origin": "systems",
        "beside": None,
        "pin_needed": False,
        "undetectable": False,
        "why": None,
        "ledgers": {
            root.name: ledger_of(
                root, root.name if root.name in bases else "", bases.get(root.name)
            )
            for root in sorted(work.iterdir())
            if root.is_dir()
        },
        "spans": None,
        "traces": {},
        "args": {"system": sorted(root.name for root in family.roots), **_kept(family.anchors)},
    }
    report = vectors.verify_system_case(case, work)
    if {item.code for item in report.findings} != row.expect or report.verdict != row.verdict:
        raise ValueError(f"{row.id}: {report.verdict}, {report.findings}")
    return {**case, "expected": vectors.said_of_system(report, work)}


def _case(row: Fault, work: Path, base: dict[str, bytes]) -> dict[str, Any]:
    kit = ledgers.Kit(work / vectors.MAIN)
    row.damage(kit)
    kept = kit.anchors is not NOTHING
    pin = kit.pin or (kit.head if row.pin and not kept else None)
    spans = None if kit.spans is None else [said_of(span) for span in kit.spans]
    roots = sorted(path for path in work.iterdir() if path.is_dir())
    case: dict[str, Any] = {
        "id": row.id,
        "title": row.title,
        "attacker": row.attacker,
        "origin": row.origin,
        "beside": row.beside,
        "pin_needed": row.pin,
        "undetectable": row.undetectable,
        "why": row.why,
        "ledgers": {root.name: ledger_of(root, row.base, base) for root in roots},
        "spans": spans,
        "traces": {name: vectors.items_of(data, []) for name, data in kit.traces.items()},
        "args": {
            **({"expect_head": f"{pin[0]}:{pin[1]}"} if pin else {}),
            **_kept(kit.anchors),
            **kit.args,
        },
    }
    report, places = vectors.watch_case(case, work)
    found = {item.code for item in report.primary}
    if found != row.expect or report.verdict != row.verdict:
        raise ValueError(
            f"{row.id}: expected {sorted(row.expect)} and {row.verdict}; the verifier says "
            f"{sorted(found)} and {report.verdict}"
        )
    case["expected"] = vectors.expected_of(report)
    if places:
        case["places"] = places
    if row.beside is not None:
        case["report"] = vectors.report_of(report, work)
    return case


def _kept(anchors: Anchors) -> dict[str, Any]:
    """Return what was kept of the log, as the command line takes it."""
    said = {
        "checkpoints": {held.name: format_note(held.note).decode() for held in anchors.held},
        "checkpoint_key": None if anchors.key is None else anchors.key.text,
        "witnesses": [key.text for key in anchors.witnesses],
    }
    return {name: value for name, value in said.items() if value}


def said_of(span: Span) -> dict[str, Any]:
    unsaid = vectors.UNSAID
    return {name: value for name, value in span._asdict().items() if value != unsaid[name]}


def ledger_of(root: Path, name: str, base: dict[str, bytes] | None) -> dict[str, Any]:
    """Return a ledger as its difference from the base, if it has one."""
    base = base or {}
    files: dict[str, Any] = {}
    there = files_of(root)
    for path in sorted({*there, *base}):
        if path not in there:
            files[path] = None
        elif there[path] != base.get(path):
            lines = base.get(path, b"").split(b"\n")[:-1]
            files[path] = vectors.items_of(there[path], lines)
    return {"base": name, "files": files}


def files_of(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix not in _CACHES
    }


def write(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_laid_out(value, 0) + "\n", "ascii")


def _laid_out(value: Any, depth: int) -> str:
    """Return JSON in which an item of a list stands on a line of its own."""
    if type(value) not in (dict, list) or (depth and len(json.dumps(value)) < 100):
        return json.dumps(value)
    if type(value) is dict:
        ends = "{}"
        parts = [f"{json.dumps(key)}: {_laid_out(one, depth + 1)}" for key, one in value.items()]
    else:
        ends = "[]"
        parts = [json.dumps(item) for item in value]
    pad = "\n" + " " * depth
    return ends[0] + ",".join(f"{pad} {part}" for part in parts) + pad + ends[1]


def main() -> None:
    """Write the frozen cases anew."""
    with TemporaryDirectory() as scratch:  # a row that is refused leaves the old files alone
        count = freeze(Path(scratch))
        rmtree(vectors.FOLDER, ignore_errors=True)
        copytree(scratch, vectors.FOLDER)
    print(f"{count} cases in {vectors.FOLDER}", file=sys.stderr)


if __name__ == "__main__":
    main()
