"""What flows between the commands of one text: secrets, downloads, files written then run."""

from typing import NamedTuple

from toolgate.gate.effects import code
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading, Written
from toolgate.gate.shell.model import Command, Script
from toolgate.gate.shell.words import ansi_c, finish

MAX_LINKS = 16
"""How many commands of a pipe a text is followed through; behind them it is not known."""

_SENDS = frozenset(("net.fetch", "net.send"))
_FLOWS = _SENDS.union(("secret.read", "fs.write"))
_FEEDS = frozenset(("<", "<<", "<<<", "<>"))
_PRINTING = frozenset(("env", "set", "export", "declare", "printenv"))
_LANGUAGES = {
    "python": "python",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
}
_SUFFIXES = {"py": "python", "js": "javascript", "mjs": "javascript", "rb": "ruby", "pl": "perl"}


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
    carries: dict[int, Carries],
    made: list[Effect],
    command: Command,
    reader: Reading,
) -> tuple[list[Effect], Carries]:
    """Return a command's effects with what reaches it taken into account, and what it carries on.

    Args:
        script: the whole text.
        carries: the commands before this one that carry something, by index.
        made: the command's own effects.
        command: the command.
        reader: keeps the files written so far.
    """
    kinds = {effect.type for effect in made}
    if not carries and kinds.isdisjoint(_FLOWS) and not (reader.files and "fs.read" in kinds):
        return made, Carries(_prints_environment(command))
    sources = [carries[i] for i in _producers(command) if i in carries] if carries else []
    secret = any(source.secret for source in sources)
    secret = secret or any(_is_secret(effect, reader) for effect in made)
    remote = any(source.remote for source in sources)
    fetched = remote or not kinds.isdisjoint(_SENDS)
    written = [effect for effect in made if effect.type == "fs.write"]
    if secret or remote:
        made = [_influenced(effect, secret=secret, remote=remote) for effect in made]
    if secret:
        made += [
            Effect("secret.persist", e.scope, e.resource, True, PROVED, e.program, e.how)
            for e in written
        ]
    if written:
        content = _content(script, command)
        built = any(e.type == "exec.code" and "project" in e.how.split() for e in made)
        for effect in written:
            reader.files[effect.resource] = Written(content, fetched, secret, built)
    return made, Carries(secret or _prints_environment(command), fetched)


def _prints_environment(command: Command) -> bool:
    """Say whether a command prints the environment, where keys and tokens are kept."""
    if not command.words or command.words[0].text not in _PRINTING:
        return False
    texts = [word.text for word in command.words]
    return texts in (["env"], ["set"], ["export", "-p"], ["declare", "-p"]) or texts[:1] == [
        "printenv"
    ]


def _is_secret(effect: Effect, reader: Reading) -> bool:
    if effect.type == "secret.read":
        return True
    written = reader.files.get(effect.resource) if effect.type == "fs.read" else None
    return written is not None and written.secret


def _influenced(effect: Effect, *, secret: bool, remote: bool) -> Effect:
    if secret and effect.type in _SENDS:
        how = f"{effect.how} secret".strip()
        return effect._replace(type="net.send", how=how, reversible=False)
    if remote and effect.type == "exec.code" and effect.how in ("stdin", "unknown"):
        return effect._replace(how="remote", proof=unresolved("remote-code"))
    return effect


def ends(effects: list[Effect]) -> list[Effect]:
    """Return a text's effects once each, with sends that share it with a secret marked."""
    return list(dict.fromkeys(near_secret(effects))) if len(effects) > 1 else effects


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


def executed(written: Written, path: str, program: str, reader: Reading) -> list[Effect]:
    """Return the effects of running a file that this text has written."""
    if written.remote:
        return [
            Effect("exec.code", "outside", path, True, unresolved("remote-code"), program, "remote")
        ]
    if written.built:
        return []  # running what the project's build made is running project code
    if written.text is None:
        return [reader.unknown("written-in-this-text", program, path)]
    language = _language(written.text, path, program)
    if language == "shell":
        return reader.inner(written.text)
    return code.effects(
        language, written.text, reader, Command((), (), (), reader.place.cwd), program
    )


def _language(text: str, path: str, program: str) -> str:
    first = text.split("\n", 1)[0]
    for hint in (program, first if first.startswith("#!") else ""):
        for name, language in _LANGUAGES.items():
            if name in hint:
                return language
    return _SUFFIXES.get(path.rpartition(".")[2], "shell")


def has_standard_input(command: Command) -> bool:
    """Say whether something is fed into a command."""
    if command.stdin:
        return True
    return any(redirect.op in _FEEDS for redirect in command.redirects)


def standard_input(script: Script, command: Command, links: int = 0) -> str | None:
    """Return the text on a command's standard input, if it is known.

    Args:
        script: the whole text.
        command: the command.
        links: how many commands it was followed through already.
    """
    for redirect in reversed(command.redirects):
        if redirect.op in ("<<", "<<<"):
            return redirect.target.text if redirect.target.known else None
        if redirect.op == "<":
            return None
    if len(command.stdin) != 1 or links == MAX_LINKS:
        return None
    return _content(script, script.commands[command.stdin[0]], links + 1)


def _content(script: Script, command: Command, links: int = 0) -> str | None:
    """Return what a command prints, where its text says so."""
    words = command.words
    if not words:
        return standard_input(script, command, links) if command.redirects else None
    name = words[0].text
    if name in ("cat", "tee") and all(
        word.text.startswith("-") or name == "tee" for word in words[1:]
    ):
        return standard_input(script, command, links)
    if name not in ("echo", "printf") or any(w.glob or not w.known for w in words[1:]):
        return None
    arguments = [word.text for word in words[1:]]
    if name == "printf":
        return _printf(arguments)
    escapes = False
    while arguments and arguments[0] in ("-n", "-e", "-ne", "-en", "-E"):
        escapes = escapes or "e" in arguments[0]
        arguments = arguments[1:]
    text = " ".join(arguments) + "\n"
    return finish(ansi_c(text)) if escapes else text


def _printf(arguments: list[str]) -> str | None:
    if not arguments:
        return ""
    pattern = finish(ansi_c(arguments[0]))
    pieces = pattern.replace("%%", "\x01").split("%s")
    if any("%" in piece for piece in pieces) or "%b" in pattern:
        return None
    values = arguments[1:]
    if len(pieces) == 1:
        return pattern.replace("\x01", "%")
    text = ""
    while True:
        for index, piece in enumerate(pieces):
            text += piece
            if index < len(pieces) - 1:
                text += values.pop(0) if values else ""
        if not values:
            return text.replace("\x01", "%")
