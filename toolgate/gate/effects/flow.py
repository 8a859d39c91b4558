"""What flows between the commands of one text: secrets, downloads, files written then run."""

from typing import NamedTuple

from toolgate.gate.effects import commits, files
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading, Written
from toolgate.gate.effects.stored import MARK
from toolgate.gate.shell.model import Command, Script, Word

_SENDS = frozenset(("net.fetch", "net.send"))
_REACHES = _SENDS | {"msg.send"}
_LOOKS = frozenset(("inspect", "fs.read"))


class Carries(NamedTuple):
    """What a command's output may hold.

    Args:
        secret: a secret, or the environment.
        remote: something from the network.
    """

    secret: bool = False
    remote: bool = False


def _words(command: Command) -> list[Word]:
    words = [*command.words, *(word for _, word in command.assigns)]
    return words + [redirect.target for redirect in command.redirects]


def _producers(command: Command, words: list[Word]) -> set[int]:
    """Return the indexes of the commands whose output reaches a command directly."""
    return {*command.stdin, *(index for word in words for index in word.sources)}


def _only_asks(made: list[Effect], command: Command, index: int) -> bool:
    """Say whether a command's output reaches a request as who is asking, and not as content."""
    if not any(effect.type in _REACHES for effect in made):
        return False
    from toolgate.gate.effects.environment import credentials

    asking = credentials(command)
    words = [word for word in _words(command) if index in word.sources]
    return index not in command.stdin and all(id(word) in asking for word in words)


def carried(
    script: Script,
    carries: list[Carries],
    made: list[Effect],
    command: Command,
    reader: Reading,
) -> tuple[list[Effect], Carries]:
    """Return a command's effects with what reaches it taken into account, and what it carries on.

    Args:
        script: the whole text.
        carries: what the commands before this one carry, by index.
        made: the command's own effects.
        command: the command.
        reader: keeps the files written so far.
    """
    words = _words(command)
    producers = [index for index in _producers(command, words) if index < len(carries)]
    given = any(
        carries[index].secret and not _only_asks(made, command, index) for index in producers
    )
    if any(word.variables for word in words):
        from toolgate.gate.effects.environment import used

        made, shown = used(made, command, words)
        given = given or shown
    counts = measures(made)
    secret = not counts and (given or any(_is_secret(effect, reader) for effect in made))
    remote = any(carries[index].remote for index in producers)
    result = [_influenced(effect, secret=secret, remote=remote) for effect in made]
    if given:
        # What runs on another machine is given what is fed into it and stands in its text.
        result += [
            Effect("net.send", e.scope, e.resource, False, PROVED, e.program, "secret")
            for e in made
            if e.type == "exec.code" and e.how == "remote-host"
        ]
    if secret:
        result += [
            Effect("secret.persist", e.scope, e.resource, True, PROVED, e.program, e.how)
            for e in made
            if e.type == "fs.write"
        ]
    fetched = remote or any(effect.type in _SENDS for effect in made)
    built = any("project" in effect.how.split() for effect in made if effect.type == "exec.code")
    result = commits.followed(result, reader)
    files.note(script, command, made, reader, Written(None, fetched, secret, built))
    return result, Carries(secret, fetched)


def measures(made: list[Effect]) -> bool:
    """Say whether a command counts, compares or digests what it reads and shows none of it."""
    return any("measured" in effect.how for effect in made)


def measured(script: Script, judged: list[list[Effect]]) -> list[list[Effect]]:
    """Return the effects of each command, secrets that are only counted marked as such.

    Args:
        script: the text.
        judged: the effects of each of its commands.
    """
    counted = [measures(made) for made in judged]
    if not any(counted):
        return judged
    judged = list(judged)
    readers: dict[int, list[int]] = {}
    for index, command in enumerate(script.commands):
        for source in command.stdin:
            readers.setdefault(source, []).append(index)
    for index in range(len(judged) - 1, -1, -1):
        onward = readers.get(index, [])
        passes = bool(onward) and all(counted[reader] for reader in onward)
        if counted[index] or passes:
            judged[index] = [_measured(effect) for effect in judged[index]]
            counted[index] = all(effect.type in _LOOKS for effect in judged[index])
    return judged


def _measured(effect: Effect) -> Effect:
    if effect.type == "secret.read" and effect.how != "credential":
        return effect._replace(type="fs.read", how=f"{effect.how} measured".strip())
    if effect.type == "secret.print" and effect.how in ("environment", "variable"):
        return Effect("inspect", "inspect-only", effect.program, True, PROVED, effect.program)
    return effect


def _is_secret(effect: Effect, reader: Reading) -> bool:
    if MARK in effect.how.split():
        return False  # what flows inside a written file was weighed as it was written
    if effect.type in ("secret.read", "secret.print"):
        return effect.how != "credential"
    written = reader.files.get(effect.resource) if effect.type == "fs.read" else None
    return written is not None and written.secret


def _influenced(effect: Effect, *, secret: bool, remote: bool) -> Effect:
    if secret and effect.type in _SENDS and "secret" not in effect.how.split():
        how = f"{effect.how} secret".strip()
        return effect._replace(type="net.send", how=how, reversible=False)
    if secret and effect.type == "msg.send":
        return effect._replace(how=f"{effect.how} secret".strip())
    if remote and effect.type == "exec.code" and effect.how in ("stdin", "unknown"):
        return effect._replace(how="remote", proof=unresolved("remote-code"))
    return effect


def settled(judged: list[list[Effect]]) -> list[list[Effect]]:
    """Return a text's effects one for one, with what is sent marked by what is near it.

    A send that shares its text with a secret is near it; a push takes along
    the secret that the same text has put under version control.
    """
    every = [effect for made in judged for effect in made]
    near = any(effect.type == "secret.read" for effect in every)
    staged = any(effect.type == "secret.persist" and effect.how == "staged" for effect in every)
    if not near and not staged:
        return judged
    return [[_told(effect, near=near, staged=staged) for effect in made] for made in judged]


def _told(effect: Effect, *, near: bool, staged: bool) -> Effect:
    if near and effect.type == "net.send" and "secret" not in effect.how.split():
        return effect._replace(how=f"{effect.how} near-secret".strip())
    if staged and effect.type == "vcs.publish" and "secret" not in effect.how.split():
        return effect._replace(how=f"{effect.how} secret".strip())
    return effect


def came_from_elsewhere(path: str, written: dict[str, Written]) -> bool:
    """Say whether a file lies where this text has put an archive's or a repository's content."""
    folder = path.rpartition("/")[0]
    while folder:
        if folder in written and written[folder].folder:
            return True
        folder = folder.rpartition("/")[0]
    return False
