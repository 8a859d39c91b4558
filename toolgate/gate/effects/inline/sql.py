"""SQL text read for whether it looks, changes or destroys."""

from toolgate.gate.effects.inline.sql_words import SqlText, statements
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.shell.model import HOLE

_LOOKS = frozenset(
    (
        *(
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
        ),
        *("TABLE", "FROM", "SUMMARIZE", "LISTEN", "UNLISTEN", "DECLARE", "FETCH", "DETACH"),
    )
)
_CHANGES = frozenset(
    (
        *("INSERT", "UPDATE", "REPLACE", "MERGE", "CREATE", "ALTER", "GRANT", "REVOKE", "COPY"),
        *("LOAD", "CALL", "DO", "VACUUM", "REINDEX", "ANALYZE", "ATTACH", "BEGIN", "COMMIT"),
        *("ROLLBACK", "RENAME", "LOCK", "OPTIMIZE", "CLUSTER", "REFRESH", "COMMENT", "NOTIFY"),
    )
)
_STARTS = _CHANGES | {"DELETE", "DROP", "TRUNCATE", "WITH", "SELECT", "VALUES"}
_CLIENT_CHANGES = frozenset(
    (
        *("\\copy", "\\o", "\\w", ".output", ".once", ".import", ".restore", ".backup", ".save"),
        *(".clone", ".log", ".archive"),
    )
)
_NOTHING = frozenset(("BEGIN", "COMMIT", "ROLLBACK", "START", "SAVEPOINT", "RELEASE", "END", "USE"))
# Functions by which a query changes the server, or reads and writes its files.
_ACTING = frozenset(
    (
        *(
            "LO_EXPORT",
            "LO_IMPORT",
            "LO_UNLINK",
            "PG_READ_FILE",
            "PG_READ_BINARY_FILE",
            "PG_LS_DIR",
        ),
        *("PG_FILE_WRITE", "PG_TERMINATE_BACKEND", "PG_CANCEL_BACKEND", "PG_RELOAD_CONF"),
        *("PG_PROMOTE", "PG_DROP_REPLICATION_SLOT", "DBLINK", "DBLINK_EXEC", "QUERY_TO_XML"),
        *("LOAD_FILE", "WRITEFILE", "READFILE", "SETVAL", "PG_SWITCH_WAL", "SET_CONFIG"),
    )
)
_RUNNING = frozenset(("LOAD_EXTENSION", "SYS_EXEC", "SYS_EVAL", "XP_CMDSHELL", "FTS3_TOKENIZER"))
# Settings of SQLite that are kept in the file.
_KEPT_PRAGMAS = frozenset(
    (
        *("WRITABLE_SCHEMA", "USER_VERSION", "APPLICATION_ID", "JOURNAL_MODE", "AUTO_VACUUM"),
        *("PAGE_SIZE", "SCHEMA_VERSION"),
    )
)
_FOR_EVERYBODY = frozenset(("GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD"))


def effects_of_sql(text: str, reader: Reading, name: str) -> list[Effect]:
    """Return the effects of SQL statements and of a client's own commands."""
    made: list[Effect] = []
    for statement in statements(SqlText(text, mysql=name.startswith(("mysql", "mariadb")))):
        made += _statement(statement, reader, name)
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
    if upper & _RUNNING:
        return [reader.unknown("sql-runs-code", name)]
    if first in ("DROP", "TRUNCATE") or (first == "ALTER" and "DROP" in upper):
        return [_effect("db.destroy", name, first.lower())]
    if first == "DELETE" or (first == "WITH" and "DELETE" in upper):
        return [_effect("db.mutate" if "WHERE" in upper else "db.destroy", name, "delete")]
    if first == "COPY":
        return _copy(words, reader, name)
    if first in _NOTHING:
        return []
    if first == "UPDATE" and "WHERE" not in upper:
        return [_effect("db.destroy", name, "update-all")]
    if first in _LOOKS or (first == "WITH" and not upper & (_CHANGES - {"REPLACE", "CALL", "DO"})):
        return _look(first, words, upper, name)
    proof = PROVED if first in _CHANGES or first == "WITH" else unresolved("sql-not-known")
    return [_effect("db.mutate", name, first.lower()[:20], proof)]


def _look(first: str, words: list[str], upper: set[str], name: str) -> list[Effect]:
    """Return what a statement changes that begins like one which only looks."""
    if first == "SET":
        return [_effect("db.mutate", name, "set-global")] if upper & _FOR_EVERYBODY else []
    if first == "PRAGMA":
        kept = upper & _KEPT_PRAGMAS and len(words) > 2
        return [_effect("db.mutate", name, "pragma")] if kept else []
    if first == "EXPLAIN":
        return []
    if upper & _ACTING:
        return [_effect("db.mutate", name, "function")]
    if "INTO" in upper:
        plain = [word.upper() for word in words]
        before_source = "FROM" not in upper or plain.index("INTO") < plain.index("FROM")
        if before_source or upper & {"OUTFILE", "DUMPFILE"}:
            return [_effect("db.mutate", name, "select-into")]
    return []


def _copy(words: list[str], reader: Reading, name: str) -> list[Effect]:
    """Read COPY: to the client it only looks; PROGRAM runs a shell command on the server."""
    upper = [word.upper() for word in words]
    if "PROGRAM" in upper:
        after = words[upper.index("PROGRAM") + 1 : upper.index("PROGRAM") + 2]
        if not after or not after[0].startswith("'") or HOLE in after[0]:
            return [reader.unknown("copy-program", name)]
        run = Effect("db.mutate", "outside", name, True, PROVED, name, "program")
        return [run, *reader.inner(after[0][1:], inside="remote-host"), *reader.inner(after[0][1:])]
    if "STDOUT" in upper and "FROM" not in upper[: upper.index("STDOUT")][-2:]:
        return []
    return [_effect("db.mutate", name, "copy")]


def _upper(words: list[str]) -> set[str]:
    return {word.upper() for word in words if not word.startswith("'")}


def _client_command(words: list[str], reader: Reading, name: str) -> list[Effect]:
    """Read a command of the client itself, its arguments as they stand in the text."""
    command, rest = words[0].lower(), words[1] if len(words) > 1 else ""
    if command in ("\\!", ".shell", ".system", ".sh"):
        return reader.inner(rest) if rest else []
    if command in ("\\o", "\\g", "\\w", ".once", ".output") and rest.lstrip("'\"").startswith("|"):
        return reader.inner(rest.strip("'\"").lstrip("|"))
    if command == "\\copy" and "program" in rest.lower().split():
        return [reader.unknown("copy-program", name)]
    if command == "\\copy" and rest.lower().rstrip().endswith("to stdout"):
        return []
    if command in (".load", ".read", "\\i", "\\ir", "\\."):
        return [reader.unknown("client-command", name, rest or name)]
    if command in _CLIENT_CHANGES:
        return [_effect("db.mutate", name, command, unresolved("client-command"))]
    return []


def _effect(kind: str, name: str, how: str, proof: str = PROVED) -> Effect:
    return Effect(kind, "outside", name, kind != "db.destroy", proof, name, how)
