"""SQL text read for whether it looks, changes or destroys."""

from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE

_LOOKS = frozenset(
    (
        "SELECT",
        "SHOW",
        "EXPLAIN",
        "DESCRIBE",
        "DESC",
        "VALUES",
        "PRAGMA",
        "USE",
        "HELP",
        "SET",
        "TABLE",
    )
)
_CHANGES = frozenset(
    (
        "INSERT",
        "UPDATE",
        "REPLACE",
        "MERGE",
        "CREATE",
        "ALTER",
        "GRANT",
        "REVOKE",
        "COPY",
        "LOAD",
        "CALL",
        "DO",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "ATTACH",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "RENAME",
        "LOCK",
    )
)
_STARTS = _CHANGES | {"DELETE", "DROP", "TRUNCATE", "WITH", "SELECT", "VALUES"}
_CLIENT_CHANGES = frozenset(
    (
        "\\copy",
        "\\o",
        "\\w",
        ".output",
        ".once",
        ".import",
        ".restore",
        ".backup",
        ".save",
        ".clone",
        ".log",
        ".archive",
    )
)
# Commands of MySQL's client that need no backslash.
_CLIENT_WORDS = ("system ", "source ")
_NOTHING = frozenset(("BEGIN", "COMMIT", "ROLLBACK", "SET", "USE"))


def effects_of_sql(text: str, reader: Reading, name: str) -> list[Effect]:
    """Return the effects of SQL statements and of a client's own commands."""
    made: list[Effect] = []
    for statement in _statements(text):
        found = _statement(statement, reader, name)
        if any(effect.type == "db.destroy" for effect in found):
            found = [_on_production(effect, statement) for effect in found]
        made += found
    return made or [Effect("inspect", "inspect-only", name, True, PROVED, name)]


def _statement(words: list[str], reader: Reading, name: str) -> list[Effect]:
    first = words[0].upper()
    if words[0].startswith(("\\", ".")):
        return _client_command(words, reader, name)
    if first == "EXPLAIN" and _upper(words) & {"ANALYZE", "ANALYSE"}:
        # It runs the statement that it explains.
        rest = [i for i, word in enumerate(words) if word.upper() in _STARTS - {"ANALYZE"}]
        start = rest[0] if rest else None
        return [] if start is None else _statement(words[start:], reader, name)
    if HOLE in words[0]:
        return [_effect("db.mutate", name, "sql", unresolved("sql-not-known"))]
    upper = _upper(words)
    if first in ("DROP", "TRUNCATE") or (first == "ALTER" and "DROP" in upper):
        return [_effect("db.destroy", name, first.lower())]
    if first == "DELETE" or (first == "WITH" and "DELETE" in upper):
        return [_effect("db.mutate" if "WHERE" in upper else "db.destroy", name, "delete")]
    if first == "COPY" and "PROGRAM" in upper:
        return [reader.unknown("copy-program", name)]
    if first in _NOTHING:
        return []
    if first in _LOOKS or (first == "WITH" and not upper & (_CHANGES - {"REPLACE", "CALL", "DO"})):
        if first == "SELECT" and "INTO" in upper and "OUTFILE" in upper:
            return [_effect("db.mutate", name, "outfile")]
        return []
    if first == "UPDATE" and "WHERE" not in upper:
        return [_effect("db.destroy", name, "update-all")]
    proof = PROVED if first in _CHANGES or first == "WITH" else unresolved("sql-not-known")
    return [_effect("db.mutate", name, first.lower()[:20], proof)]


def _on_production(effect: Effect, words: list[str]) -> Effect:
    from toolgate.gate.effects.production import MARK, names_production

    if effect.type != "db.destroy" or not any(names_production(word) for word in words[1:]):
        return effect
    return effect._replace(how=f"{effect.how} {MARK}")


def _upper(words: list[str]) -> set[str]:
    return {word.upper() for word in words}


def _client_command(words: list[str], reader: Reading, name: str) -> list[Effect]:
    """Read a command of the client itself, its arguments as they stand in the text."""
    command, rest = words[0].lower(), words[1] if len(words) > 1 else ""
    if command in ("\\!", ".shell", ".system", ".sh"):
        return reader.inner(rest) if rest else []
    if command in ("\\o", "\\g", "\\w", ".once", ".output") and rest.lstrip("'\"").startswith("|"):
        return reader.inner(rest.strip("'\"").lstrip("|"))
    if command == "\\copy" and "program" in rest.lower().split():
        return [reader.unknown("copy-program", name)]
    if command in (".load", ".read", "\\i", "\\ir", "\\."):
        return [reader.unknown("client-command", name, rest or name)]
    if command in _CLIENT_CHANGES:
        return [_effect("db.mutate", name, command, unresolved("client-command"))]
    return []


def _effect(kind: str, name: str, how: str, proof: str = PROVED) -> Effect:
    return Effect(kind, "outside", name, kind != "db.destroy", proof, name, how)


def _statements(text: str) -> list[list[str]]:
    """Split SQL into statements of words; literals and comments are left out."""
    statements: list[list[str]] = [[]]
    position, word = 0, ""
    while position < len(text):
        char = text[position]
        if char in "'\"`":
            end = text.find(char, position + 1)
            if char != "'" and end != -1:
                # A quoted name; no keyword can be made of it. Literals are data.
                word += "x." + text[position + 1 : end]
            elif word:
                word += "x"
            position = len(text) if end == -1 else end + 1
            continue
        if text.startswith("--", position) or text.startswith("/*", position):
            closing = "\n" if char == "-" else "*/"
            end = text.find(closing, position + 2)
            position = len(text) if end == -1 else end + len(closing)
            continue
        begins = not word and not statements[-1]
        spelled = begins and text[position : position + 7].lower() in _CLIENT_WORDS
        if char == "\\" or (char == "." and begins) or spelled:
            # A client's command goes to the end of its line, and is no SQL.
            end = text.find("\n", position)
            line = text[position : len(text) if end == -1 else end]
            head, _, tail = line.partition(" ")
            if line.startswith("\\!") or line.lower().startswith("system "):
                head, tail = "\\!", line[2 if line[0] == "\\" else 7 :]
            elif spelled:
                head = "\\i"
            statements[-1] += [word] if word else []
            statements += [[head, tail.strip()] if tail.strip() else [head], []]
            position, word = position + len(line), ""
            continue
        if char.isalnum() or char in "_.!" or char == HOLE:
            word += char
        else:
            if word:
                statements[-1].append(word)
            word = ""
            if char == ";":
                statements.append([])
        position += 1
    if word:
        statements[-1].append(word)
    return [statement for statement in statements if statement]
