"""Shell text of MongoDB, read for whether every call in it only looks."""

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects.model import PROVED, Effect
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.special.interpreters import fed
from toolgate.gate.shell.model import HOLE, Command

_LOOKS = frozenset(
    (
        *("find", "findOne", "count", "countDocuments", "estimatedDocumentCount", "distinct"),
        *("aggregate", "explain", "limit", "sort", "skip", "pretty", "toArray", "size", "length"),
        *("stats", "getIndexes", "getCollectionNames", "getCollectionInfos", "getCollection"),
        *("getSiblingDB", "getDB", "getName", "getMongo", "getDBNames", "serverStatus", "version"),
        *("hostInfo", "hello", "isMaster", "currentOp", "status", "conf", "dataSize", "totalSize"),
        *("ObjectId", "ISODate", "Date", "NumberLong", "UUID", "print", "printjson", "tojson"),
        *("stringify", "projection", "hint", "comment", "batchSize", "readPref", "hasNext", "next"),
    )
)
_STAGES_THAT_WRITE = ("$out", "$merge", "$function", "$accumulator", "$where")
_DESTROYS = ("drop", "delete", "remove")


def mongo(
    reader: Reading, parsed: Parsed, name: str, command: Command, how: tuple[str, ...]
) -> list[Effect]:
    """Return what inline text changes; one whose calls are not all known to look changes."""
    texts = [value.text for option, value in parsed.options if option == "--eval" and value]
    changing = [text for text in texts if not _only_looks(text)]
    if not changing:
        return fed(reader, parsed, name, command, how)
    destroys = any(word in text.lower() for text in changing for word in _DESTROYS)
    kind = "db.destroy" if destroys else "db.mutate"
    return [Effect(kind, "outside", name, not destroys, PROVED, name)]


def _only_looks(text: str) -> bool:
    if HOLE in text or any(stage in text for stage in _STAGES_THAT_WRITE):
        return False
    # An assignment could give a changing call another name; ==, <= and => assign nothing.
    plain = text.replace("===", "").replace("==", "").replace("!=", "").replace("<=", "")
    if "=" in plain.replace(">=", "").replace("=>", "") or "`" in plain:
        return False
    return all(_called(before) in _LOOKS for before in text.split("(")[:-1])


def _called(before: str) -> str:
    """Return the name in front of a bracket; of a bracket that groups, a name that looks."""
    stripped = before.rstrip()
    if not stripped or stripped[-1] in "(,:{[;&|!?+-*/<>":
        return "print"
    end = len(stripped)
    while end and (stripped[end - 1].isalnum() or stripped[end - 1] in "_$"):
        end -= 1
    return stripped[end:]
