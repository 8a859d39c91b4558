"""What flows between the commands of one text: secrets, downloads, files written then run."""

from typing import NamedTuple

from toolgate.gate.effects import files
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading, Written
from toolgate.gate.effects.stored import MARK
from toolgate.gate.shell.model import Command, Script

_SENDS = frozenset(("net.fetch", "net.send"))


class Carries(NamedTuple):
    """What a command's output may hold.

    Args:
        secret: a secret, or the environment.
        remote: something from the network.
    """

    secret: bool = False
    remote: bool = False


def _producers(command: Command) -> list[int]:
    """Return the indexes of the commands whose output reaches a command directly."""
    words = [*command.words, *(word for _, word in command.assigns)]
    words += [redirect.target for redirect in command.redirects]
    return [*command.stdin, *(index for word in words for index in word.sources)]


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
    sources = [carries[index] for index in set(_producers(command)) if index < len(carries)]
    secret = any(source.secret for source in sources)
    secret = secret or any(_is_secret(effect, reader) for effect in made)
    remote = any(source.remote for source in sources)
    result = [_influenced(effect, secret=secret, remote=remote) for effect in made]
    if secret:
        result += [
            Effect("secret.persist", e.scope, e.resource, True, PROVED, e.program, e.how)
            for e in made
            if e.type == "fs.write"
        ]
    fetched = remote or any(effect.type in _SENDS for effect in made)
    fetched = remote or any(effect.type in _SENDS for effect in made)
    built = any("project" in effect.how.split() for effect in made if effect.type == "exec.code")
    files.note(script, command, made, reader, Written(None, fetched, secret, built))
    return result, Carries(secret or _prints_environment(command), fetched)


def _prints_environment(command: Command) -> bool:
    """Say whether a command prints the environment, where keys and tokens are kept."""
    texts = [word.text for word in command.words]
    return texts in (["env"], ["set"], ["export", "-p"], ["declare", "-p"]) or texts[:1] == [
        "printenv"
    ]


def _is_secret(effect: Effect, reader: Reading) -> bool:
    if MARK in effect.how.split():
        return False  # what flows inside a written file was weighed as it was written
    if effect.type == "secret.read":
        return True
    written = reader.files.get(effect.resource) if effect.type == "fs.read" else None
    return written is not None and written.secret


def _influenced(effect: Effect, *, secret: bool, remote: bool) -> Effect:
    if secret and effect.type in _SENDS and "secret" not in effect.how.split():
        how = f"{effect.how} secret".strip()
        return effect._replace(type="net.send", how=how, reversible=False)
    if remote and effect.type == "exec.code" and effect.how in ("stdin", "unknown"):
        return effect._replace(how="remote", proof=unresolved("remote-code"))
    return effect


def ends(effects: list[Effect]) -> list[Effect]:
    """Return a text's effects once each, with sends that share it with a secret marked."""
    return list(dict.fromkeys(near_secret(effects)))


def near_secret(effects: list[Effect]) -> list[Effect]:
    """Return a text's effects one for one, with sends that share it with a secret marked."""
    if not any(effect.type == "secret.read" for effect in effects):
        return effects
    return [
        effect._replace(how=f"{effect.how} near-secret".strip())
        if effect.type == "net.send" and "secret" not in effect.how.split()
        else effect
        for effect in effects
    ]
