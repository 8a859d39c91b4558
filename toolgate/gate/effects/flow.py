"""What flows between the commands of one text: secrets, downloads, files written then run."""

from typing import NamedTuple

from toolgate.gate.effects.model import MARK, PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading, Written
from toolgate.gate.shell.model import HOLE, Command, Script, Word
from toolgate.gate.shell.words import ansi_c, finish

MAX_LINKS = 16
"""How many commands of a pipe a text is followed through; behind them it is not known."""

_CHANGES = frozenset(("fs.write", "fs.link", "fs.delete"))
# What stages, commits, takes back or publishes.
_COMMITS = frozenset(
    ("git add", "git stage", "git commit", "git reset", "git restore", "git rm", "git push")
)
_SENDS = frozenset(("net.fetch", "net.send"))
_REACHES = _SENDS | {"msg.send"}
_LOOKS = frozenset(("inspect", "fs.read"))
_FLOWS = _SENDS | _CHANGES | {"secret.read", "secret.print"}
_TAKES = frozenset(("fs.read", "fs.delete"))
_KNOWN_FLOWS = _FLOWS | _TAKES
SILENT = "probe"
"""Qualifier of a look whether a host answers: nothing that it says is printed."""
_FEEDS = frozenset(("<", "<<", "<<<", "<>"))


class Carries(NamedTuple):
    """What a command's output may hold.

    Args:
        secret: a secret, or the environment.
        remote: something from the network.
    """

    secret: bool = False
    remote: bool = False


_NOTHING = Carries()
_WEIGHS = frozenset(("secret.read", "secret.persist", "infra.destroy", "db.destroy"))


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
    if not carries and _flows_nowhere(command, made, reader):
        return made, _NOTHING
    words = _words(command)
    named = any(word.variables for word in words)
    kinds = {effect.type for effect in made}
    commits = not {effect.program for effect in made}.isdisjoint(_COMMITS)
    producers = [i for i in _producers(command, words) if i in carries] if carries else []
    written = reader.files.written
    before = [written[e.resource] for e in made if e.resource in written and _takes(e)]
    given = any(
        carries[index].secret and not _only_asks(made, command, index) for index in producers
    )
    if named:
        from toolgate.gate.effects.environment import used

        made, shown = used(made, command, words)
        given = given or shown
    counts = measures(made)
    secret = not counts and (given or any(_is_secret(effect, reader) for effect in made))
    remote = any(carries[index].remote for index in producers) or any(one.remote for one in before)
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
    fetched = remote or any(e.type in _SENDS and e.how != SILENT for e in made)
    if commits:
        from toolgate.gate.effects import commits as versions

        result = versions.followed(result, reader)
    if not kinds.isdisjoint(_CHANGES):
        from toolgate.gate.effects import files

        built = any(e.type == "exec.code" and "project" in e.how.split() for e in made)
        files.note(script, command, made, reader, Written(None, fetched, secret, built))
    return result, Carries(secret, fetched)


def within(made: list[Effect], reader: Reading) -> list[Effect]:
    """Return the effects of one program, with what it reads taken into account.

    As of a command that runs it: what a program reads of a secret may be in all that it sends
    and writes.
    """
    if measures(made) or not any(_is_secret(effect, reader) for effect in made):
        return made
    result = [_influenced(effect, secret=True, remote=False) for effect in made]
    return result + [
        Effect("secret.persist", e.scope, e.resource, True, PROVED, e.program, e.how)
        for e in made
        if e.type == "fs.write"
    ]


def _flows_nowhere(command: Command, made: list[Effect], reader: Reading) -> bool:
    """Say whether a command's effects stand as they are, and nothing goes on from it."""
    wanted = _KNOWN_FLOWS if reader.files.may_know else _FLOWS
    for effect in made:
        if effect.type in wanted or effect.program in _COMMITS:
            return False
    for word in command.words:
        if word.variables:
            return False
    if command.assigns or command.redirects:
        return not any(word.variables for word in _words(command))
    return True


def _takes(effect: Effect) -> bool:
    """Say whether an effect takes what a file holds, to show it or to put it elsewhere."""
    return effect.type == "fs.read" or (effect.type == "fs.delete" and "move" in effect.how.split())


def any_weighs(judged: list[list[Effect]]) -> bool:
    """Say whether the whole text may make other effects of its commands' effects."""
    for made in judged:
        for effect in made:
            if effect.type in _WEIGHS or "measured" in effect.how:
                return True
    return False


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


def has_standard_input(command: Command) -> bool:
    """Say whether something is fed into a command."""
    if command.stdin or not command.redirects:
        return bool(command.stdin)
    return any(
        redirect.op in _FEEDS or (redirect.op == "<&" and redirect.target.text != "-")
        for redirect in command.redirects
    )


def input_file(script: Script, command: Command) -> Word | None:
    """Return the one file whose content is a command's standard input, if there is one."""
    for redirect in reversed(command.redirects):
        if redirect.op in ("<", "<<", "<<<"):
            return redirect.target if redirect.op == "<" and _is_file(redirect.target) else None
    if len(command.stdin) != 1:
        return None
    words = script.commands[command.stdin[0]].words
    named = len(words) == 2 and words[0].text == "cat" and _is_file(words[1])
    return words[1] if named else None


def _is_file(word: Word) -> bool:
    """Say whether a word names one file, and no stream."""
    plain = word.known and not word.process and not word.glob
    return plain and not word.text.startswith(("-", "/dev/", "/proc/"))


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
    return content(script, script.commands[command.stdin[0]], links + 1)


def fed_files(script: Script, command: Command) -> list[tuple[Word, Command]]:
    """Return the files whose content is all that a command is fed; none where more is.

    Args:
        script: the whole text.
        command: the command.

    Returns:
        Each file as the word that names it, and the command that word belongs to.
    """
    for redirect in reversed(command.redirects):
        if redirect.op == "<":
            return [(redirect.target, command)]
        if redirect.op in ("<<", "<<<", "<>"):
            return []
    return printed_files(script, command.stdin)


def printed_files(script: Script, sources: tuple[int, ...]) -> list[tuple[Word, Command]]:
    """Return the files that one command prints as they are; none where it prints more.

    Args:
        script: the whole text.
        sources: indexes of the commands whose output is meant.
    """
    for _ in range(MAX_LINKS):
        if len(sources) != 1 or sources[0] >= len(script.commands):
            return []
        command = script.commands[sources[0]]
        words = command.words
        if not words and [redirect.op for redirect in command.redirects] == ["<"]:
            return [(command.redirects[0].target, command)]  # $(< file)
        if not words or words[0].text.rpartition("/")[2] not in ("cat", "tee"):
            return []
        operands = [word for word in words[1:] if not word.text.startswith("-")]
        if words[0].text.endswith("cat") and operands:
            return [(word, command) for word in operands]
        for redirect in reversed(command.redirects):
            if redirect.op == "<":
                return [(redirect.target, command)]
            if redirect.op in ("<<", "<<<"):
                return []
        sources = command.stdin
    return []


def read_on_the_way(script: Script, command: Command) -> list[tuple[Word, Command]]:
    """Return the words that may name files from which a command's text is made.

    Args:
        script: the whole text.
        command: the command.

    Returns:
        Each word, and the command it belongs to.
    """
    found: list[tuple[Word, Command]] = []
    waiting, seen = [command], 0
    while waiting and seen < MAX_LINKS:
        here = waiting.pop()
        seen += 1
        words = _words(here)
        if here is not command:
            found += [(word, here) for word in words if word.known and word.text[:1] != "-"]
        indexes = _producers(here, words)
        waiting += [script.commands[at] for at in sorted(indexes) if at < len(script.commands)]
    return found


def content(script: Script, command: Command, links: int = 0) -> str | None:
    """Return what a command prints, where its text says so.

    Args:
        script: the whole text.
        command: the command.
        links: how many commands it was followed through already.
    """
    words = command.words
    if not words:
        return standard_input(script, command, links) if command.redirects else None
    name = words[0].text
    if name in ("cat", "tee") and all(
        word.text.startswith("-") or name == "tee" for word in words[1:]
    ):
        return standard_input(script, command, links)
    return printed(command)


def printed(command: Command) -> str | None:
    """Return what an echo or printf prints, where its words say so."""
    words = command.words
    name = words[0].text
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
    """Return what printf prints; None where a conversion is not followed."""
    if not arguments:
        return ""
    pieces = _conversions(arguments[0])
    if pieces is None:
        return None
    values = arguments[1:]
    text = ""
    while True:
        for piece in pieces:
            if len(piece) != 2 or piece[0] != "%":
                text += finish(ansi_c(piece))
            elif piece == "%%":
                text += "%"
            else:
                made = _converted(piece[1], values.pop(0) if values else "")
                if made is None or made.endswith(HOLE):
                    return None if made is None else text + made[:-1]
                text += made
        if not values or not any(piece in _TAKES_VALUE for piece in pieces):
            return text


_TAKES_VALUE = frozenset(("%s", "%b", "%d", "%i", "%c"))


def _conversions(pattern: str) -> list[str] | None:
    """Cut a format of printf into literal parts and conversions; None for one not followed."""
    pieces = pattern.split("%")
    made = [pieces[0]] if pieces[0] else []
    position = 1
    while position < len(pieces):
        piece = pieces[position]
        if not piece and position + 1 < len(pieces):
            made += ["%%", *pieces[position + 1 : position + 2]]
            position += 2
            continue
        if "%" + piece[:1] not in _TAKES_VALUE:
            return None
        made += ["%" + piece[0], piece[1:]] if len(piece) > 1 else ["%" + piece[0]]
        position += 1
    return made


def _converted(kind: str, value: str) -> str | None:
    """Return one value as a conversion prints it; a hole at its end where printing stops."""
    if kind == "s":
        return value
    if kind == "c":
        return value[:1]
    if kind in "di":
        number = value.lstrip("+-")
        return (
            str(int(value)) if number.isascii() and number.isdigit() and number[0] != "0" else None
        )
    # Of %b only the common escapes are followed: which quotes lose their backslash is a matter
    # of the shell.
    if any(mark in value for mark in ("\\\\", "\\'", '\\"', "\\?")):
        return None
    before, stop, _ = value.partition("\\c")
    made = finish(ansi_c(before.replace("\\0", "\\")))
    if HOLE in made:
        return None
    return made + HOLE if stop else made
