"""PowerShell and cmd: their text, wherever it is given, read for effects."""

from binascii import Error, a2b_base64

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.catalog.styles import path
from toolgate.gate.effects import flow
from toolgate.gate.effects.model import Effect, unresolved
from toolgate.gate.effects.powershell import Call, read_powershell
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE, Command, Word
from toolgate.gate.shell.work import CODE

MAX_TEXT = 65_536
_CMDLETS = {
    "%": "foreach-object",
    "?": "where-object",
    "ac": "add-content",
    "cat": "get-content",
    "cd": "set-location",
    "chdir": "set-location",
    "clc": "clear-content",
    "cls": "clear-host",
    "copy": "copy-item",
    "cp": "copy-item",
    "cpi": "copy-item",
    "curl": "invoke-webrequest",
    "del": "remove-item",
    "dir": "get-childitem",
    "echo": "write-output",
    "erase": "remove-item",
    "fl": "format-list",
    "foreach": "foreach-object",
    "ft": "format-table",
    "gc": "get-content",
    "gci": "get-childitem",
    "gi": "get-item",
    "gp": "get-itemproperty",
    "gps": "get-process",
    "gsv": "get-service",
    "icm": "invoke-command",
    "iex": "invoke-expression",
    "ii": "invoke-item",
    "irm": "invoke-restmethod",
    "iwr": "invoke-webrequest",
    "kill": "stop-process",
    "ls": "get-childitem",
    "md": "new-item",
    "measure": "measure-object",
    "mi": "move-item",
    "mkdir": "new-item",
    "move": "move-item",
    "mv": "move-item",
    "ni": "new-item",
    "ps": "get-process",
    "pwd": "get-location",
    "rd": "remove-item",
    "ren": "rename-item",
    "ri": "remove-item",
    "rm": "remove-item",
    "rmdir": "remove-item",
    "rni": "rename-item",
    "rp": "remove-itemproperty",
    "saps": "start-process",
    "sc": "set-content",
    "select": "select-object",
    "set": "set-variable",
    "sl": "set-location",
    "sleep": "start-sleep",
    "sls": "select-string",
    "sort": "sort-object",
    "sp": "set-itemproperty",
    "spps": "stop-process",
    "start": "start-process",
    "tee": "tee-object",
    "type": "get-content",
    "wget": "invoke-webrequest",
    "where": "where-object",
}
# Words of cmd that other systems use for another program.
_DOS = {
    "date": "ver",
    "find": "findstr",
    "mkdir": "md",
    "rmdir": "rd",
    "set": "echo",
    "sort": "more",
    "time": "ver",
    "type": "more",
}
_FETCHES = ("downloadstring", "downloaddata", "downloadfile", "openread", "getstringasync")
_TAKES_TEXT = ("-command", "-c")
_TAKES_FILE = ("-file", "-f")
_ENCODED = ("-encodedcommand", "-ec", "-e", "-en", "-enc")
_VALUED = (
    "-executionpolicy",
    "-ep",
    "-ex",
    "-exec",
    "-windowstyle",
    "-w",
    "-workingdirectory",
    "-wd",
    "-inputformat",
    "-outputformat",
    "-version",
    "-configurationname",
    "-settingsfile",
    "-psconsolefile",
)


def pwsh(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of a start of PowerShell: a command, a file, or what it is fed."""
    words = list(command.words[_after(command, name) :])
    while words:
        option = words[0].text.lower().replace("/", "-", 1)
        if option in _ENCODED:
            return _encoded(reader, words[1:2], name, command)
        if option in _TAKES_TEXT:
            return _text(reader, words[1:], name, command)
        if option in _TAKES_FILE:
            return reader.run_file(words[1], command, name) if words[1:] else []
        if not option.startswith("-") or option == "-":
            break
        words = words[2:] if option in _VALUED else words[1:]
    if words and words[0].text.lower().endswith(".ps1"):
        return reader.run_file(words[0], command, name)
    if words and words[0].text != "-":
        return _text(reader, words, name, command)
    if flow.has_standard_input(command) or reader.fed:
        text = flow.standard_input(reader.script, command)
        if text is not None:
            return powershell_effects(reader, text, name, command)
        return [reader.unknown("stdin", name)._replace(how="stdin")]
    return []


def _after(command: Command, name: str) -> int:
    """Return where the arguments begin, in a command that wrappers may stand before."""
    for index, word in enumerate(command.words):
        if word.text.rpartition("/")[2].lower() == name.rpartition("/")[2].lower():
            return index + 1
    return len(command.words)


def _text(reader: Reading, words: list[Word], name: str, command: Command) -> list[Effect]:
    if not all(word.known for word in words):
        return [reader.code_not_known(name)]
    return powershell_effects(reader, " ".join(word.text for word in words), name, command)


def _encoded(reader: Reading, words: list[Word], name: str, command: Command) -> list[Effect]:
    try:
        text = a2b_base64(words[0].text.encode("ascii"), strict_mode=True).decode("utf-16-le")
    except (IndexError, Error, UnicodeError):
        return [reader.code_not_known(name)]
    return powershell_effects(reader, text, name, command)


def powershell_effects(reader: Reading, text: str, name: str, command: Command) -> list[Effect]:
    """Return the effects of PowerShell text."""
    if len(text) > MAX_TEXT or HOLE in text:
        return [reader.code_not_known(name)]
    return reader.work.within(CODE, lambda: _script(reader, text, name, command)) or [
        reader.unknown("code-too-long", name)
    ]


def _script(reader: Reading, text: str, name: str, command: Command) -> list[Effect]:
    reader.work.spend(2 * len(text))
    read = read_powershell(text, reader.place.home)
    made = [reader.unknown(fault, name) for fault in read.faults]
    fetched = False
    for method, argument in read.methods:
        if method in _FETCHES:
            fetched = True
            made.append(reader.net("net.fetch", argument, name))
        else:
            made.append(reader.unknown("method", name, method))
    for call in read.calls:
        made += _call(reader, call, name, command, fetched=fetched)
        fetched = fetched or any(effect.type.startswith("net.") for effect in made)
    return made or [reader.inspect(name)]


def _call(
    reader: Reading, call: Call, name: str, command: Command, *, fetched: bool
) -> list[Effect]:
    made: list[Effect] = []
    for op, target in call.writes:
        marks = ("append",) if op == ">>" else ("truncate",)
        word = target._replace(text=path(target.text))
        made += reader.touch("fs.write", word, command, name, marks)
    if not call.words:
        return made
    program = call.words[0].text.lower().removesuffix(".exe")
    program = program if "/" in program or "\\" in program else _CMDLETS.get(program, program)
    arguments = call.words[1:]
    here = command._replace(redirects=(), assigns=(), stdin=())
    if program == "invoke-expression":
        return made + _expression(reader, arguments, program, here, fetched=fetched)
    if call.sourced and (not call.words[0].known or program.endswith(".ps1")):
        if not call.words[0].known:
            return [*made, reader.code_not_known(name)]
        script = call.words[0]._replace(text=path(call.words[0].text))
        return made + reader.run_file(script, here, name)
    by_path = "/" in program or "\\" in program
    plain = call.words[0]._replace(text=path(call.words[0].text) if by_path else program)
    words = (plain, *(word._replace(text=_slashed(word.text)) for word in arguments))
    return made + reader.invoke(words, here._replace(words=words))


def _slashed(text: str) -> str:
    return text if "://" in text else path(text)


def _expression(
    reader: Reading, arguments: tuple[Word, ...], name: str, command: Command, *, fetched: bool
) -> list[Effect]:
    words = [word for word in arguments if not word.text.lower().startswith("-c")]
    if words and all(word.known for word in words):
        return powershell_effects(reader, " ".join(word.text for word in words), name, command)
    if fetched:
        proof = unresolved("remote-code")
        return [Effect("exec.code", "unknown", name, True, proof, name, "remote")]
    return [reader.code_not_known(name)]


def iex(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of ``Invoke-Expression`` where it is typed in another shell."""
    words = (*parsed.operands, *(value for _, value in parsed.options if value is not None))
    return _expression(reader, words, name, command, fetched=False)


def cmd(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of the command that ``cmd /c`` runs."""
    words = list(command.words[_after(command, name) :])
    while words and words[0].text.lower() not in ("/c", "/k", "/r", "//c", "//k"):
        words = words[1:]
    if not words:
        fed = flow.has_standard_input(command) or reader.fed
        return [reader.unknown("stdin", name)._replace(how="stdin")] if fed else []
    if not all(word.known for word in words):
        return [reader.code_not_known(name)]
    made: list[Effect] = []
    for part in _dos_commands(" ".join(word.text for word in words[1:])):
        made += _dos_call(reader, part, name, command)
    return made or [reader.inspect(name)]


def _dos_call(reader: Reading, words: list[str], name: str, command: Command) -> list[Effect]:
    made: list[Effect] = []
    kept: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word in (">", ">>"):
            target = Word(path("".join(words[position + 1 : position + 2])))
            if target.text.lower() != "nul":
                marks = ("append",) if word == ">>" else ("truncate",)
                made += reader.touch("fs.write", target, command, name, marks)
            position += 2
            continue
        kept.append(word)
        position += 1
    if not kept:
        return made
    program = kept[0].lower().removeprefix("@").removesuffix(".exe")
    program = path(_DOS.get(program, program))
    given = (
        Word(program),
        *(Word(one if "://" in one else one.replace("\\", "/")) for one in kept[1:]),
    )
    here = command._replace(words=given, redirects=(), assigns=(), stdin=())
    return made + reader.invoke(given, here)


def _dos_commands(text: str) -> list[list[str]]:
    """Split the text of cmd into commands and these into words; ``%NAME%`` is not known."""
    found: list[list[str]] = [[]]
    word, quoted, started = "", False, False
    position = 0
    while position < len(text):
        char = text[position]
        if char == '"':
            quoted, started = not quoted, True
        elif char == "^" and not quoted and position + 1 < len(text):
            position += 1
            word += text[position]
        elif char == "%" and (end := text.find("%", position + 1)) >= 0:
            position = end
            word += HOLE
        elif quoted or char not in " \t\n&|()<>;,=":
            word += char
        else:
            if word or started:
                found[-1].append(word)
            word, started = "", False
            if char in "&|\n()":
                found.append([])
            elif char == ">":
                double = text[position + 1 : position + 2] == ">"
                position += double
                found[-1].append(">>" if double else ">")
        position += 1
    if word or started:
        found[-1].append(word)
    return [words for words in found if words]
