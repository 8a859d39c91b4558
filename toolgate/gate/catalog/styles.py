"""Options and paths as Windows shells write them, in the spelling of the catalogue."""

from typing import Any

from toolgate.gate.shell.model import Word

_LONGEST_SWITCH = 24


def unfolded(arguments: tuple[Word, ...], entry: dict[str, Any]) -> tuple[Word, ...]:
    """Return arguments with options in full, in lower case behind ``-``, and paths with ``/``.

    Args:
        arguments: the words after the program.
        entry: its entry, whose ``style`` is ``powershell`` or ``dos``.
    """
    spelled = _spelled(entry)
    change = _powershell if entry["style"] == "powershell" else _dos
    return tuple(word._replace(text=change(word.text, spelled)) for word in arguments)


def _spelled(entry: dict[str, Any]) -> list[str]:
    found = [*entry.get("values", {}), *entry.get("dry", ())]
    for clause in entry.get("when", ()):
        found += [*clause.get("any", ()), *clause.get("none", ()), *clause.get("value", {})]
    return found


def _powershell(text: str, spelled: list[str]) -> str:
    if len(text) < 2 or text[0] != "-" or not text[1].isalpha():
        return path(text)
    name, colon, value = text.partition(":")
    name = name.lower()
    if name not in spelled:
        # Any beginning of a parameter that means only it will do.
        name = next((one for one in spelled if one.startswith(name)), name)
    return f"{name}={path(value)}" if colon else name


def _dos(text: str, spelled: list[str]) -> str:
    if text[:1] != "/" or len(text) > _LONGEST_SWITCH or "/" in text[1:] or len(text) < 2:
        return path(text)
    name, colon, value = text[1:].partition(":")
    return f"-{name.lower()}={value}" if colon else f"-{name.lower()}"


def path(text: str) -> str:
    """Return a path with ``/`` between its parts, and one on a drive as absolute."""
    plain = text.replace("\\", "/")
    drive, colon, rest = plain.partition(":")
    if not colon or rest.startswith("//") or not drive.isalpha():
        return plain
    if len(drive) > 1:
        # The registry, variables and certificates are reached like drives.
        return f"/{drive}/{rest.strip(':/')}" if drive.isupper() or rest[:1] == "/" else plain
    whole = rest.strip("/")
    return f"/{drive}:/{whole}" if whole.strip("*.") else f"/{whole}"
