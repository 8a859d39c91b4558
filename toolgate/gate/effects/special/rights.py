"""Programs that give files to other users: chown and setfacl."""

from posixpath import basename

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.files import opened
from toolgate.gate.shell.model import HOLE, Command, Word

_OWN_VARIABLES = frozenset(("USER", "LOGNAME", "UID", "EUID", "GID", "GROUPS"))
_TELL_WHO = frozenset(("id", "whoami", "logname"))
_RULES = ("-m", "--modify", "--set")
_FILES = ("-M", "--modify-file", "--set-file", "--restore")


def owner(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whose files change hands: another user's they are only by privilege, and not back."""
    words = list(parsed.operands)
    marks = list(how)
    as_another = parsed.has(["--reference"]) or not words or _is_another(words.pop(0), reader)
    if as_another:
        marks.append("owner")
    made: list[Effect] = []
    for word in words:
        made += reader.touch("fs.permission", word, command, name, tuple(marks))
    return made


def _is_another(word: Word, reader: Reading) -> bool:
    """Say whether an owner may be somebody else than the user; a group alone is none."""
    if reader.inside:
        return False  # users over there are not those of this machine
    user = word.text.partition(":")[0]
    if HOLE not in user:
        return user not in ("", basename(reader.place.home))
    if word.variables and len(word.variables) == word.text.count(HOLE):
        return not _OWN_VARIABLES.issuperset(word.variables)
    programs = {
        reader.script.commands[index].words[0].text
        for index in word.sources
        if reader.script.commands[index].words
    }
    return not programs or not programs <= _TELL_WHO


def grants(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what an access list lets others do: write, or read what is secret.

    Source: setfacl(1), ACL entries: ``[d:]u:NAME:rwx``, ``g:``, ``o:``; an empty name is the owner.
    """
    rules = [value for option, value in parsed.options if option in _RULES and value]
    unknown = any(option in _FILES for option, _ in parsed.options)
    unknown = unknown or any(not rule.known for rule in rules)
    given = "rwx" if unknown else "".join(_given(rule.text) for rule in rules)
    marks = (*how, "world-writable") if "w" in given else how
    made: list[Effect] = []
    for word in parsed.operands:
        made += reader.touch("fs.permission", word, command, name, marks)
    return [opened(effect, reader) for effect in made] if "r" in given else made


def _given(text: str) -> str:
    """Return the rights that entries give to others than the owner."""
    given = ""
    for entry in text.split(","):
        kind, *fields = entry.removeprefix("d:").removeprefix("default:").split(":")
        to_owner = kind in ("u", "user") and fields[:1] == [""]
        if kind not in ("m", "mask") and not to_owner and fields:
            rights = fields[-1]
            digit = int(rights) if rights in tuple("01234567") else 0
            given += "r" * bool("r" in rights or digit & 4) + "w" * bool("w" in rights or digit & 2)
    return given
