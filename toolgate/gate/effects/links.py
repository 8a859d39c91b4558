"""Links that earlier calls have made: what is done to them reaches the file or folder behind."""

from posixpath import dirname

from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import TOUCHES, Files, part_of
from toolgate.gate.facts.artifacts import LINK

_THROUGH = frozenset(("fs.read", "fs.write", "fs.permission"))
MAX_FOLDERS = 16


def through(effect: Effect, files: Files, roots: tuple[str, ...]) -> list[Effect]:
    """Return what an access reaches behind links on its way, by the scope of what lies there.

    Args:
        effect: the access.
        files: knows the links.
        roots: folders above which links are not the session's.
    """
    if effect.type not in _THROUGH:
        return []
    made: list[Effect] = []
    path = effect.resource
    for _ in range(MAX_FOLDERS):
        written = files.get(path)
        artifact = written.artifact if written is not None else None
        for note, _ in artifact.holds if artifact is not None else ():
            kind, _, scope = note.partition("@")
            if kind == LINK:
                made += _behind(effect, scope)
        path = dirname(path)
        if path in roots or path in ("/", ""):
            break
    return made


def _behind(effect: Effect, scope: str) -> list[Effect]:
    where = part_of(effect.resource, TOUCHES)
    kind = effect.type
    if scope == "secret" and kind == "fs.read":
        kind = "secret.read"
    made = [Effect(kind, scope, where, True, PROVED, effect.program, effect.how)]
    if scope == "gate" and kind != "fs.read":
        made.append(Effect("gate.tamper", scope, where, True, PROVED, effect.program, effect.how))
    return made
