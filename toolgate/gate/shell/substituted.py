"""What a substitution prints, where that is plain from its text."""

from toolgate.gate.shell.model import Command


def constant(command: Command) -> str | None:
    """Return what a substitution of one command prints; None where its text does not say."""
    if command.redirects or command.assigns or not all(word.known for word in command.words):
        return None
    arguments = [word.text for word in command.words]
    if arguments == ["pwd"]:
        return command.cwd or None
    if arguments[:1] == ["mktemp"]:
        return _made_by_mktemp(arguments[1:])
    if arguments[:1] == ["echo"] and not any(
        word.glob or _echo_option(word.text) or "\\" in word.text for word in command.words[1:]
    ):
        return " ".join(arguments[1:])
    return None


def _made_by_mktemp(arguments: list[str]) -> str | None:
    """Return a stand-in for the new file's path: where it lies is known, its name is not."""
    template = [text for text in arguments if not text.startswith("-")]
    if "-p" in arguments or any(text.startswith("--") for text in arguments) or len(template) > 1:
        return None
    if not template or "-t" in arguments:
        return "/tmp/made-by-mktemp"
    return template[0]


def _echo_option(text: str) -> bool:
    """Say whether echo takes a word as an option; anything else it prints."""
    return text[:1] == "-" and text != "-" and not text[1:].strip("neE")
