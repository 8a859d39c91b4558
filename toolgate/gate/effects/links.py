"""Links and folders that earlier calls have made: what lies behind the one, or in the other."""

from posixpath import dirname

from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import TOUCHES, Files, Reading, part_of
from toolgate.gate.facts.artifacts import FOLDER, LINK
from toolgate.gate.facts.session import DEFINED_EARLIER

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
        for note, entry in artifact.holds if artifact is not None else ():
            kind, _, scope = note.partition("@")
            if kind == LINK:
                files.rest_on(DEFINED_EARLIER, entry)
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


def brought(reader: Reading, path: str, program: str) -> list[Effect]:
    """Return that running a file is running what an earlier call has unpacked or cloned."""
    folder = dirname(path)
    for _ in range(MAX_FOLDERS):
        if folder in reader.place.roots or folder in ("/", ""):
            break
        written = reader.files.get(folder)
        artifact = written.artifact if written is not None else None
        if artifact is not None and artifact.entry_of(FOLDER):
            return reader.run_known(folder, program) or []
        folder = dirname(folder)
    return []
