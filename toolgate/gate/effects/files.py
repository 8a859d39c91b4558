"""Files that a text writes and runs: what goes into them, what running them does."""

import json
from posixpath import basename, dirname, join

from toolgate.gate.effects import code, stored
from toolgate.gate.effects.content import language_of
from toolgate.gate.effects.entrypoints import EVERY
from toolgate.gate.effects.flow import content
from toolgate.gate.effects.jobs import image_copies, image_runs, is_compose, is_image
from toolgate.gate.effects.loads import loaded
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import TOUCHES, Reading, Written, part_of
from toolgate.gate.facts.artifacts import FOLDER, LINK, RUNS, UNREAD, Artifact, joined
from toolgate.gate.facts.session import COPIES, EXECUTES, PENDING_WRITE, SECRET, UNREAD_ARTIFACT
from toolgate.gate.shell.model import HOLE, Command, Script, Word

_COPIES = frozenset(("cp", "mv", "ln", "install"))
_FILTERS = frozenset(("sed", "perl", "ruby"))
_SETTER = "npm pkg set"
_UNPACKS = frozenset(("unzip", "7z", "7za", "7zz", "unar", "unrar", "bsdtar"))
_ARCHIVES = (
    *(".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".tar", ".zip"),
    *(".7z", ".rar", ".whl", ".jar"),
)
_GIVES = _COPIES | _FILTERS | {"tee", "dd", _SETTER}
# A plan that a program writes down, to be carried out by a later call.
_PLANS = {
    "plans-destroy": "infra.destroy@outside",
    "plans-change": "infra.mutate@outside",
}
# Notes that are no effect of running the file.
_SAY_NO_EFFECT = (UNREAD, SECRET, FOLDER, stored.HARMLESS)
_TOUCHED = ("fs.read", "secret.read", "fs.delete")


def note(
    script: Script, command: Command, made: list[Effect], reader: Reading, base: Written
) -> None:
    """Keep what a command puts into the files it writes.

    Args:
        script: the whole text.
        command: the command.
        made: its own effects.
        reader: keeps the files.
        base: what holds for each of them: where it comes from, and whether a secret went in.
    """
    puts: dict[str, Written] = {}
    # What a program given on the command line writes is known to be written, but not what.
    inline = any(e.type == "exec.code" and "inline" in e.how.split() for e in made)
    printed = content(script, command)
    for effect in made:
        if effect.type in ("fs.write", "fs.link"):
            marks = effect.how.split()
            if "patched" in marks:
                continue  # whoever reads the patch has kept what it puts there
            part = bool({"append", "in-place"} & set(marks)) or effect.program == _SETTER
            piped = effect.program == "shell" and ("append" in marks or "truncate" in marks)
            base = base._replace(
                scope=effect.scope,
                said=inline or piped or effect.program in _GIVES,
                folder=bool({"extract", "clone"} & set(marks)) or effect.program in _UNPACKS,
            )
            if base.folder:
                puts.update(_unpacked(effect, made, command, reader, base))
                continue
            for path, one in _put(effect, made, command, reader, base, printed).items():
                before = reader.files.get(path) if part else None
                puts[path] = one._replace(part=part, before=before, appended="append" in marks)
    for effect in made:
        marks = effect.how.split()
        if effect.type == "fs.delete" and not {"recursive", "glob"} & set(marks):
            reader.files.drop(effect.resource)
    for path, one in puts.items():
        reader.files.put(path, one)


def _unpacked(
    effect: Effect, made: list[Effect], command: Command, reader: Reading, base: Written
) -> dict[str, Written]:
    """Return the folder into which something is unpacked.

    Into a workspace or a temporary folder itself, an archive usually puts one folder of its name.
    """
    path = effect.resource
    shared = "anchor" in effect.how.split() or path in reader.place.temp
    if path.startswith("/") and not shared:
        return {path: base._replace(said=True)}
    found = {path: base._replace(said=False, remote=False)}
    archives = [e.resource for e in made if e.type == "fs.read" and e.program == effect.program]
    into = path if path.startswith("/") else command.cwd
    for archive in archives[:1]:
        name = basename(archive)
        stem = next((name[: -len(end)] for end in _ARCHIVES if name.endswith(end)), "")
        if stem and into:
            found[join(into, stem)] = base._replace(said=True)
    return found


def _put(
    effect: Effect,
    made: list[Effect],
    command: Command,
    reader: Reading,
    base: Written,
    printed: str | None,
) -> dict[str, Written]:
    """Return what one write puts where."""
    program, path = effect.program, effect.resource
    plans = next((note for mark, note in _PLANS.items() if mark in effect.how.split()), "")
    if plans:
        return {path: base._replace(plans=plans, said=True)}
    if program in _COPIES:
        found = [e for e in made if e.type in _TOUCHED and e.program == program]
        alone = len({source.resource for source in found}) == 1
        link = program == "ln" or effect.type == "fs.link"
        puts = {}
        symbolic = link and _is_symbolic(command)
        for source in found:
            for name in (join(path, basename(source.resource)), *((path,) if alone else ())):
                seen = _seen_from(source, name, command, reader) if symbolic else source
                puts[name] = _copy(seen, name, reader, base, link=link)
        return puts or {path: base}
    if program == _SETTER:
        file = reader.paths.resolve(path, command.cwd)
        return {file: base._replace(text=_set(command))}
    if "in-place" in effect.how.split() and program in _FILTERS:
        return {path: base._replace(text=_inserted(command, program))}
    if program == "shell" and printed is None and command.words:
        shown = [e for e in made if e.type in _TOUCHED and e.program == "cat"]
        if command.words[0].text == "cat" and shown and not command.stdin:
            shown_so_far: Written | None = None
            for source in shown:
                copy = _copy(source, path, reader, base, link=False)
                shown_so_far = copy._replace(before=shown_so_far)
            return {path: shown_so_far or base}
    if program in ("dd", "curl"):
        # curl copies a file that file:// names.
        found = [e for e in made if e.type in _TOUCHED and e.program == program]
        if len(found) == 1 and not any(e.type.startswith("net.") for e in made):
            return {path: _copy(found[0], path, reader, base, link=False)}
    return {path: base._replace(text=printed)}


def _is_symbolic(command: Command) -> bool:
    words = [word.text for word in command.words]
    return any(
        text == "--symbolic" or (text[:1] == "-" and text[:2] != "--" and "s" in text)
        for text in words[1:]
    )


def _seen_from(source: Effect, link: str, command: Command, reader: Reading) -> Effect:
    """Return what a symbolic link leads to: a relative target counts from the link's folder."""
    for word in command.words[1:]:
        relative = word.text and not word.text.startswith(("/", "~", "-", HOLE))
        if relative and reader.paths.resolve(word.text, command.cwd) == source.resource:
            target = reader.paths.resolve(word.text, dirname(link))
            return source._replace(resource=target, scope=reader.paths.scope(target))
    return source


def _copy(source: Effect, path: str, reader: Reading, base: Written, *, link: bool) -> Written:
    """Return what a copy or a link of a file holds: what that file is known to hold."""
    known = reader.files.get(source.resource)
    parts = reader.files.get(part_of(source.resource, EVERY)) if known is not None else None
    if known is not None and parts is not None:
        both = [one.artifact for one in (known, parts) if one.artifact is not None]
        known = known._replace(artifact=joined(both))
    secret = base.secret or source.scope == "secret" or (known is not None and known.secret)
    if known is None or link:
        # What belongs to the system is guarded as such, whatever else lies there.
        leads = link and source.scope != "system" and reader.paths.leads_to_gate(source.resource)
        copies = (source.resource, "gate" if leads else source.scope)
        return base._replace(secret=secret, copies=copies, link=link)
    if known.artifact is not None:
        reader.files.rest_on(COPIES, *known.artifact.entries)
    return known._replace(secret=secret, scope=base.scope, part=False, said=True)


def _set(command: Command) -> str:
    """Return the scripts that ``npm pkg set`` puts into the package, as lines of its file."""
    lines: list[str] = []
    for word in command.words:
        key, equals, value = word.text.partition("=")
        if equals and key.startswith("scripts."):
            lines.append(f"{json.dumps(key.removeprefix('scripts.'))}: {json.dumps(value)}")
    return "\n".join(lines)


def _inserted(command: Command, program: str) -> str | None:
    """Return the text that an edit in place puts into its file, None when that is not known."""
    from toolgate.gate.effects.inline.sed import inserted

    texts: list[str] = []
    for word in command.words[1:]:
        if word.text.startswith("-"):
            continue
        if not word.known:
            return None
        if program != "sed" and word.text[:2] not in ("s/", "s|", "s#", "s,", "s!", "s{"):
            continue
        texts += inserted(word.text)
    return "\n".join(texts) + "\n"


def continues_a_line(written: Written, path: str, program: str) -> bool:
    """Say whether shell text that is appended may go on with a line that was there before.

    Then it does not do what its pieces do: ``rm -rf`` and ``~`` are harmless each by itself.
    """
    one: Written | None = written
    while one is not None and one.before is not None:
        text, before = one.text, one.before
        if one.appended and text is not None and not text.startswith("\n"):
            ended = before.text is not None and before.text.endswith("\n")
            if not ended and language_of(text, path, program) in ("shell", ""):
                return True
        one = before
    return False


def executed(written: Written, path: str, program: str, reader: Reading) -> list[Effect]:
    """Return the effects of running a file that this text or the session has written."""
    made: list[Effect] = []
    if written.appended and continues_a_line(written, path, program):
        made.append(reader.unknown("pieces-of-a-line", program, path))
    if written.before is not None:
        made += executed(written.before, path, program, reader)
    if written.artifact is not None:
        return made + _joined(written.artifact, path, program, reader)
    if written.copies is not None:
        origin, scope = written.copies
        known = reader.files.get(origin) if written.link else None
        if known is not None and not known.link:
            return made + executed(known, origin, program, reader)
        return [*made, Effect("exec.code", scope, origin, True, PROVED, program, "file")]
    if written.plans:
        return [*made, stored.effect_of(written.plans, part_of(path, TOUCHES), program)]
    if written.remote:
        proof = unresolved("remote-code")
        return [*made, Effect("exec.code", "outside", path, True, proof, program, "remote")]
    if written.built:
        return made  # running what the project's build made is running project code
    if written.text is None:
        return [*made, reader.unknown("written-in-this-text", program, path)]
    if is_image(path):
        from toolgate.gate.effects.special.containers import reaches_out

        built = reader.inner(image_runs(written.text), inside="container")
        made += _taken_in(image_copies(written.text), path, program, reader)
        return made + [effect for effect in built if reaches_out(effect)]
    if is_compose(path):
        from toolgate.gate.effects.compose import started

        return made + reader.inner(started(written.text), cwd=dirname(path))
    language = language_of(written.text, path, program)
    if language == "shell":
        return made + reader.inner(written.text)
    made += code.effects(
        language, written.text, reader, Command((), (), (), reader.place.cwd), program
    )
    for other in loaded(language, written.text, dirname(path)):
        if other != path:
            made += reader.run_known(other, program) or []
    return made


def _taken_in(copied: list[str], path: str, program: str, reader: Reading) -> list[Effect]:
    """Return that secrets are put into an image, for everybody who has it."""
    here = Command((), (), (), dirname(path))
    return [
        effect._replace(type="secret.persist", how="image")
        for name in copied
        for effect in reader.touch("fs.read", Word(name), here, program)
        if effect.type == "secret.read"
    ]


def _joined(artifact: Artifact, path: str, program: str, reader: Reading) -> list[Effect]:
    """Return what running a file does that earlier calls have written, and keep why."""
    known = reader.files
    known.rest_on(EXECUTES, *artifact.entries)
    known.rest_on(PENDING_WRITE, *artifact.pending)
    known.rest_on(UNREAD_ARTIFACT, artifact.entry_of(UNREAD))
    made = [
        stored.effect_of(said, part_of(path, TOUCHES), program)
        for said, _ in artifact.holds
        if said not in _SAY_NO_EFFECT and not said.startswith((RUNS, LINK + "@"))
    ]
    if artifact.entry_of(UNREAD):
        made.append(reader.unknown("unread-artifact", program, path))
    if artifact.pending:
        made.append(reader.unknown("pending-write", program, path))
    if not artifact.readable:
        made.append(reader.unknown("session-not-readable", program, path))
    return made
