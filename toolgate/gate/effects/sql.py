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
_NOTHING = frozenset(("BEGIN", "COMMIT", "ROLLBACK", "SET", "USE"))


def effects_of_sql(text: str, reader: Reading, name: str) -> list[Effect]:
    """Return the effects of SQL statements and of a client's own commands."""
    made: list[Effect] = []
    for statement in _statements(text):
        made += _statement(statement, reader, name)
    return made or [Effect("inspect", "inspect-only", name, True, PROVED, name)]


def _statement(words: list[str], reader: Reading, name: str) -> list[Effect]:
    first = words[0].upper()
    if words[0].startswith(("\\", ".")):
        return _client_command(words, reader, name)
    if HOLE in words[0]:
        return [_effect("db.mutate", name, "sql", unresolved("sql-not-known"))]
    upper = {word.upper() for word in words}
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


def _client_command(words: list[str], reader: Reading, name: str) -> list[Effect]:
    command = words[0].lower()
    if command in ("\\!", ".shell", ".system"):
        return reader.inner(" ".join(words[1:]))
    if command in ("\\copy", "\\o", "\\w", ".output", ".import", ".restore", ".read", "\\i"):
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
            position = len(text) if end == -1 else end + 1
            word += "x" if word else ""
            continue
        if text.startswith("--", position) or text.startswith("/*", position):
            closing = "\n" if char == "-" else "*/"
            end = text.find(closing, position + 2)
            position = len(text) if end == -1 else end + len(closing)
            continue
        if char.isalnum() or char in "_\\.!" or char == HOLE:
            word += char
        else:
            if word:
                statements[-1].append(word)
            word = ""
            if char == ";" or (
                char == "\n" and statements[-1][:1] and statements[-1][0][0] in "\\."
            ):
                statements.append([])
        position += 1
    if word:
        statements[-1].append(word)
    return [statement for statement in statements if statement]
