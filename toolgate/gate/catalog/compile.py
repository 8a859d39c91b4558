"""From the YAML families to the compiled catalogue."""

from os import listdir, path
from typing import Any

from toolgate.canonical import canonical_bytes, digest
from toolgate.errors import PolicyError
from toolgate.gate.catalog.schema import example_faults, faults_of
from toolgate.gate.catalog.source import read_family

FAMILIES = path.join(path.dirname(path.abspath(__file__)), "families")
_FAMILY_KEYS = frozenset(("family", "about", "programs", "aliases", "groups", "examples"))


def compile_families(folder: str = FAMILIES) -> tuple[bytes, dict[str, bytes]]:
    """Compile every family file of a folder; as ``compile_sources``."""
    return compile_sources(sources_of(folder))


def sources_of(folder: str = FAMILIES) -> dict[str, bytes]:
    """Return the family files of a folder, by name."""
    made: dict[str, bytes] = {}
    for name in sorted(listdir(folder)):
        if name.endswith(".yaml"):
            with open(path.join(folder, name), "rb") as file:
                made[name] = file.read()
    return made


def compile_sources(sources: dict[str, bytes]) -> tuple[bytes, dict[str, bytes]]:
    """Compile family files.

    Args:
        sources: file name to content.

    Returns:
        The index (canonical JSON, program name to entry digest) and the
        entries by digest. Examples are checked and left out: no call needs them.

    Raises:
        PolicyError: with every fault of every file.
    """
    entries: dict[str, Any] = {}
    faults: list[str] = []
    for name, data in sources.items():
        family, wrong = read_family(name, data)
        faults += wrong
        described = programs_of(name, family, faults)
        for program, entry in described:
            if program in entries:
                faults.append(f"{name}: program {program} is described twice")
            entries[program] = entry
        names = {program for program, _ in described}
        faults += example_faults(name, family.get("examples", {}), names)
    entries = {name: _typed(entry, name, faults) for name, entry in entries.items()}
    for program, entry in entries.items():
        faults += faults_of(program, entry)
    if faults:
        raise PolicyError("catalogue", faults)
    blobs: dict[str, bytes] = {}
    index: dict[str, str] = {}
    for program, entry in entries.items():
        data = canonical_bytes(entry)
        index[program] = digest(data)
        blobs[index[program]] = data
    return canonical_bytes(index), blobs


def read_families(folder: str = FAMILIES) -> list[tuple[str, Any]]:
    """Return every family of a folder as it was written, by file name; faults are left out."""
    return [(name, read_family(name, data)[0]) for name, data in sources_of(folder).items()]


def programs_of(file: str, family: Any, faults: list[str]) -> list[tuple[str, Any]]:
    """Return a family's programs; names that share an entry share the same object."""
    if not isinstance(family, dict) or not set(family) <= _FAMILY_KEYS:
        faults.append(f"{file}: expected the keys {', '.join(sorted(_FAMILY_KEYS))}")
        return []
    programs = {name: entry or {} for name, entry in (family.get("programs") or {}).items()}
    made = list(programs.items())
    for group in family.get("groups") or []:
        made += [(name, group["entry"]) for name in group["names"]]
    for alias, target in (family.get("aliases") or {}).items():
        if target in programs:
            made.append((alias, programs[target]))
        else:
            faults.append(
                f"{file}: alias {alias} names {target}, which this file does not describe"
            )
    return made


def _typed(entry: Any, where: str, faults: list[str]) -> Any:
    """Give an entry's flags and numbers their types, all through its subcommands."""
    if entry in ("", None):
        return {}
    if not isinstance(entry, dict):
        return entry
    made: dict[str, Any] = {}
    for key, value in entry.items():
        if key in ("stop", "whole", "assigns", "inspect", "bare"):
            made[key] = value == "true"
            if value not in ("true", "false"):
                faults.append(f"{where}: {key} is {value!r}; expected true or false")
        elif key == "wraps" and isinstance(value, str):
            made[key] = int(value) if value.isdecimal() else 0
            if not value.isdecimal():
                faults.append(f"{where}: wraps is {value!r}; expected a number")
        elif key == "subcommands" and isinstance(value, dict):
            made[key] = {
                word: _typed(below, f"{where} {word}", faults) for word, below in value.items()
            }
        elif key == "other":
            made[key] = _typed(value, where, faults)
        elif key == "when" and isinstance(value, list):
            made[key] = [_typed(clause, where, faults) for clause in value]
        else:
            made[key] = value
    return made
