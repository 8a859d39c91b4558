"""Whether what a call destroys is production, by the names that the call itself uses."""

from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import Command, Script, Word

DESTROYS = ("infra.destroy", "db.destroy")
MARK = "production"
_NAMES = frozenset(("prod", "production", "live"))
# Words that choose what later commands act on: workspaces, contexts, stacks, accounts.
_CHOOSES = frozenset(
    ("select", "use", "use-context", "set-context", "set", "switch", "activate", "target", "link")
)
_CHOOSERS = frozenset(("kubectx", "kubens", "awsume", "assume"))
_EXPORTS = frozenset(("export", "declare", "typeset", "setenv"))
# Names that hosting services have people give to the remote that they build and run from.
_DEPLOYING = frozenset(("heroku", "dokku", "piku", "scalingo", "gigalixir", "clever", "deploy"))
# What these delete is no database, instance or stack: labels, runs, caches, repositories.
_FORGES = ("gh", "glab", "hub", "tea")
# A text with one of these is code, whose own reader has judged it.
_CODE_MARKS = frozenset(";|&$()'\"<>\n")
_SQL = frozenset(("drop", "delete", "truncate", "alter", "select", "update", "insert", "with"))


def names_production(text: str) -> bool:
    """Say whether ``prod``, ``production`` or ``live`` stands in a text as a word of its own."""
    folded = text.lower()
    if not any(name in folded for name in ("prod", "live")):
        return False
    word = ""
    for char in folded + " ":
        if char.isalnum():
            word += char
        elif word in _NAMES:
            return True
        else:
            word = ""
    return False


def deploys(remote: str) -> bool:
    """Say whether a push to a remote of this name starts a deployment."""
    return remote.lower() in _DEPLOYING or names_production(remote)


def marked(script: Script, judged: list[list[Effect]], reader: Reading) -> list[list[Effect]]:
    """Return the effects of each command, what destroys production marked as that.

    Args:
        script: the text.
        judged: the effects of each of its commands.
        reader: knows where the text began.
    """
    chosen: dict[str, bool] = {}
    exported: dict[str, bool] = {}
    result: list[list[Effect]] = []
    for command, made in zip(script.commands, judged, strict=True):
        if any(effect.type in DESTROYS for effect in made) and (
            any(chosen.values()) or any(exported.values()) or _named(command, reader)
        ):
            result.append([_marked(effect) for effect in made])
        else:
            result.append(made)
        _follow(command, chosen, exported)
    return result


def _marked(effect: Effect) -> Effect:
    program = effect.program.partition(" ")[0]
    if effect.type not in DESTROYS or program in _FORGES or MARK in effect.how.split():
        return effect
    return effect._replace(how=f"{effect.how} {MARK}".strip())


def _named(command: Command, reader: Reading) -> bool:
    """Say whether a command's own words, variables or folder name production."""
    words = [*command.words, *(word for _, word in command.assigns)]
    if any(_word_names(word) for word in words):
        return True
    start = reader.place.cwd
    entered = command.cwd.removeprefix(start) if start else command.cwd
    return names_production(entered)


def _word_names(word: Word) -> bool:
    if any(names_production(name) for name in word.variables):
        return True
    text = word.text
    if " " in text and not _CODE_MARKS.isdisjoint(text):
        return False
    if text.split(" ", 1)[0].lower() in _SQL:
        return False
    return names_production(text)


def _follow(command: Command, chosen: dict[str, bool], exported: dict[str, bool]) -> None:
    """Note what a command chooses for those after it."""
    name = command.words[0].text if command.words else ""
    texts = [word.text for word in command.words[1:]]
    if name in _EXPORTS:
        exported.update({key: names_production(word.text) for key, word in command.assigns})
        for text in texts:
            key, equals, value = text.partition("=")
            if equals:
                exported[key] = names_production(value)
    elif name in _CHOOSERS or (name != "git" and not _CHOOSES.isdisjoint(texts)):
        chosen[name] = any(_word_names(word) for word in command.words[1:])
