"""Document databases: what the expressions given to their shells do."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.interpreters import fed
from toolgate.gate.shell.model import HOLE, Command

_READS = frozenset(
    (
        "aggregate",
        "count",
        "countDocuments",
        "dataSize",
        "distinct",
        "estimatedDocumentCount",
        "explain",
        "find",
        "findOne",
        "forEach",
        "getCollection",
        "getCollectionInfos",
        "getCollectionNames",
        "getDB",
        "getIndexes",
        "getMongo",
        "getName",
        "getSiblingDB",
        "getUsers",
        "hello",
        "help",
        "hostInfo",
        "isCapped",
        "isMaster",
        "latencyStats",
        "limit",
        "listCommands",
        "listDatabases",
        "map",
        "next",
        "hasNext",
        "pretty",
        "print",
        "printjson",
        "project",
        "projection",
        "serverStatus",
        "size",
        "skip",
        "sort",
        "stats",
        "status",
        "storageSize",
        "toArray",
        "totalIndexSize",
        "totalSize",
        "validate",
        "version",
        "JSON",
        "stringify",
        "ObjectId",
        "ISODate",
        "NumberInt",
        "NumberLong",
        "tojson",
        "currentOp",
        "match",
        "group",
        "itcount",
        "toString",
        "keys",
        "length",
    )
)
_DROPS = frozenset(("drop", "dropDatabase", "dropCollection"))
_EMPTIES = frozenset(("deleteMany", "remove"))

_STAGES_THAT_WRITE = ("$out", "$merge", "$function", "$accumulator", "$where")


def mongo(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return whether the expressions given with ``--eval`` look, change or destroy."""
    made = fed(reader, parsed, name, command, how)
    texts = [value.text for option, value in parsed.options if option == "--eval" and value]
    kinds = {_kind(text) for text in texts}
    for kind in ("db.destroy", "db.mutate", "unknown"):
        if kind in kinds:
            proof = PROVED if kind != "unknown" else unresolved("code-not-known")
            real = kind if kind != "unknown" else "db.mutate"
            destroys = real == "db.destroy"
            return [*made, Effect(real, "outside", name, not destroys, proof, name, "script")]
    return made


def _kind(text: str) -> str:
    called = _calls(text)
    if any(call in _DROPS for call, _ in called):
        return "db.destroy"
    if any(call in _EMPTIES and not inside.strip("{} \t") for call, inside in called):
        return "db.destroy"
    if any(stage in text for stage in _STAGES_THAT_WRITE):
        return "db.mutate"
    if "](" in text.replace(" ", ""):
        return "unknown"  # a call by a name that is worked out
    if HOLE in text or any(mark in text for mark in ("[", "eval", "Function", "require", "load(")):
        return "unknown" if not all(call in _READS for call, _ in called) else "look"
    return "look" if all(call in _READS for call, _ in called) else "db.mutate"


def _calls(text: str) -> list[tuple[str, str]]:
    """Return the names that are called in a script, with the start of what they are given."""
    found: list[tuple[str, str]] = []
    word = ""
    for position, char in enumerate(text):
        if char.isalnum() or char in "_$":
            word += char
            continue
        if char == "(" and word:
            end = text.find(")", position)
            found.append((word, text[position + 1 : len(text) if end == -1 else end][:80]))
        word = "" if not char.isspace() else word
    return found
