"""What a command is fed and what it prints, where its text says so."""

from toolgate.gate.shell.model import Command, Script, Word
from toolgate.gate.shell.words import ansi_c, finish

MAX_LINKS = 16
"""How many commands of a pipe a text is followed through; behind them it is not known."""


def has_standard_input(command: Command) -> bool:
    """Say whether something is fed into a command."""
    return bool(command.stdin) or any(r.op in ("<", "<<", "<<<", "<>") for r in command.redirects)


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
