"""What a file would do when run, in the short notation that the ledger keeps of it."""

from collections.abc import Iterable

from toolgate.gate.effects.model import IRREVERSIBLE, MARK, OPENING, PROVED, Effect, unresolved
from toolgate.gate.facts.artifacts import UNREAD

HARMLESS = "inspect"
RUNS_FILES = "runs"
"""Note of a file that runs others; which ones, as paths, is the effect's qualifier."""

MAX_NOTES = 12
_GUARD = ("secret", "remote", "refused", "recursive")
_OWN = frozenset(("workspace", "temp"))


def effect(note: str, scope: str, path: str, how: str = "") -> Effect:
    """Return the effect that says what a written file holds."""
    return Effect(f"{OPENING}{note})", scope, path, True, PROVED, "", how)


def notes_of(effects: Iterable[Effect]) -> list[str]:
    """Return effects in short notation, once each, ``inspect`` when nothing is of note.

    Beyond ``MAX_NOTES`` kinds the rest counts as unread.
    """
    found = list(dict.fromkeys(_note(one) for one in effects if _is_of_note(one)))
    if len(found) > MAX_NOTES:
        found.sort(key=lambda note: not any(word in note for word in _GUARD))
        found[MAX_NOTES - 1 :] = [UNREAD]
    return found or [HARMLESS]


def _is_of_note(one: Effect) -> bool:
    if one.type == "inspect":
        return False
    marks = one.how.split()
    if one.type in ("fs.read", "fs.write") and one.scope in _OWN:
        return "gitdir" in marks
    # The run itself is told by who runs the file, a file it runs by its own key.
    return not (one.type == "exec.code" and one.scope in _OWN and {"inline", "file"} & set(marks))


def _note(one: Effect) -> str:
    marks = "".join(f":{mark}" for mark in one.how.split() if mark != MARK)
    proof = "" if one.proof == PROVED else "?" + one.proof[len("unresolved(") : -1]
    return f"{one.type}{marks}@{one.scope}{proof}"


def effect_of(note: str, path: str, program: str) -> Effect:
    """Return the effect a note stands for, in a call that runs the file.

    Args:
        note: the short notation.
        path: the file that is run.
        program: what runs it.
    """
    head, _, reason = note.partition("?")
    kinds, _, scope = head.partition("@")
    kind, *marks = kinds.split(":")
    proof = unresolved(reason) if reason else PROVED
    reversible = kind not in IRREVERSIBLE
    return Effect(kind, scope, path, reversible, proof, program, " ".join((*marks, MARK)))
