"""Bytes that are no entry, and ends that were torn."""

from collections.abc import Callable
from typing import Any

from catalogue import fault

from toolgate.canonical import digest


def _bytes(name: str, code: str, change: Callable[[bytes], bytes]) -> None:
    @fault(name, "B", code)
    def _(kit: Any) -> None:
        kit.bytes_of(kit.decision("a0"), change)


_bytes("whitespace", "entries.noncanonical", lambda line: line.replace(b":", b": ", 1))
_bytes("trailing-space", "entries.noncanonical", lambda line: line + b" ")
_bytes("carriage-return", "entries.noncanonical", lambda line: line + b"\r")
_bytes(
    "key-order",
    "entries.noncanonical",
    lambda line: b'{"v":1,' + line[1:].replace(b',"v":1}', b"}"),
)
_bytes("duplicate-key", "entries.noncanonical", lambda line: b'{"axis":null,' + line[1:])
_bytes("escaped-ascii", "entries.noncanonical", lambda line: line.replace(b"axis", b"\\u0061xis"))
_bytes("minus-zero", "entries.noncanonical", lambda line: line.replace(b'"count":1', b'"count":-0'))
_bytes("nan", "entries.parse", lambda line: line.replace(b'"count":1', b'"count":NaN'))
_bytes("1e400", "entries.parse", lambda line: line.replace(b'"count":1', b'"count":1e400'))
_bytes("lone-surrogate", "entries.parse", lambda line: line.replace(b"alice", b"\\ud800"))
_bytes("not-utf-8", "entries.parse", lambda line: line.replace(b"alice", b"\xff\xfe"))
_bytes("byte-order-mark", "entries.parse", lambda line: b"\xef\xbb\xbf" + line)
_bytes("blank-line", "entries.parse", lambda line: b"\n" + line)
_bytes("float", "entries.profile", lambda line: line.replace(b'"count":1', b'"count":1.5'))
_bytes("integral-float", "entries.profile", lambda line: line.replace(b'"count":1', b'"count":1.0'))
_bytes(
    "minus-zero-float", "entries.profile", lambda line: line.replace(b'"count":1', b'"count":-0.0')
)
_bytes(
    "large-integer",
    "entries.profile",
    lambda line: line.replace(b'"count":1', b'"count":9007199254740993'),
)
_bytes(
    "look-alike-key",
    "entries.profile",
    lambda line: line.replace(b'"v":1}', '"v":1,"\u0475":1}'.encode()),
)
_bytes("extra-field", "entries.schema", lambda line: line.replace(b'"v":1}', b'"v":1,"w":1}'))
_bytes("missing-field", "entries.schema", lambda line: line.replace(b'"axis":null,', b""))
_bytes("unknown-kind", "entries.schema", lambda line: line.replace(b'"decision"', b'"verdict"'))
_bytes("bad-digest", "entries.schema", lambda line: line.replace(b"h:aa", b"h:AA"))
_bytes("not-an-object", "entries.schema", lambda line: b"[]")
_bytes("version-0", "entries.version", lambda line: line.replace(b'"v":1}', b'"v":0}'))
_bytes("version-2", "entries.version", lambda line: line.replace(b'"v":1}', b'"v":2}'))
_bytes("nesting-bomb", "entries.parse", lambda line: b"[" * 3000 + b"]" * 3000)
_bytes("too-long", "entries.parse", lambda line: line[:-1] + b" " * 70_000 + b"}")
_bytes("torn-middle", "entries.parse", lambda line: line[: len(line) // 2])
_bytes(
    "interleaved-writes",
    "entries.parse",
    lambda line: line[:100] + line[:100] + line[100:] + line[100:],
)


@fault("spine-line-not-canonical", "B", "entries.noncanonical")
def _(kit: Any) -> None:
    kit.bytes_of(kit.find("turn_open", "alpha", turn=2), lambda line: line + b" ")


@fault("torn-tail-of-a-session", "H", "log.fragment", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    path = kit.root / "sessions" / "alpha.jsonl"
    with path.open("ab") as file:
        file.write(b'{"axis":null,"basis":[')


@fault("torn-tail-of-the-spine", "H", "log.fragment", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    with (kit.root / "spine-000000000001.jsonl").open("ab") as file:
        file.write(b'{"ev":')


@fault("torn-line-continued", "B", "entries.parse")
def _(kit: Any) -> None:
    kit.bytes_of(kit.decision("a0"), lambda line: line[:200])
    path = kit.root / "sessions" / "alpha.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"", 1))


@fault("last-line-feed-missing", "H", "log.fragment", verdict="INCOMPLETE", base="open")
def _(kit: Any) -> None:
    path = kit.root / "sessions" / "s.jsonl"
    path.write_bytes(path.read_bytes()[:-1])


@fault("last-line-feed-missing-in-a-closed-turn", "B", "log.count", "log.fragment")
def _(kit: Any) -> None:
    path = kit.root / "sessions" / "alpha.jsonl"
    path.write_bytes(path.read_bytes()[:-1])


@fault("zeros-at-the-end", "H", "log.fragment", verdict="INCOMPLETE")
def _(kit: Any) -> None:
    with (kit.root / "sessions" / "alpha.jsonl").open("ab") as file:
        file.write(b"\0" * 4096)


@fault("many-bad-lines", "B", "entries.parse")
def _(kit: Any) -> None:
    with (kit.root / "sessions" / "alpha.jsonl").open("ab") as file:
        file.write(b"garbage\n" * 12)


@fault("recovery-over-other-bytes", "R", "entries.parse")
def _(kit: Any) -> None:
    opened = kit.find("turn_open", "alpha", turn=1)
    made = kit.copy(kit.decision("a3"))
    ev = {"offset": 0, "length": 7, "digest": digest(b"carbage"), "ts": opened.body["ts"]}
    made.body = {"v": 1, "kind": "recovery", "session": "alpha", "turn": 1}
    made.body |= {"parents": [opened.old], "ts": opened.body["ts"], "ev": ev}
    made.old = digest(b"made")
    kit.alpha.insert(0, made)
    kit.rehash()
    path = kit.root / "sessions" / "alpha.jsonl"
    path.write_bytes(b"garbage\n" + path.read_bytes())


_bytes("bad-twice", "entries.noncanonical", lambda line: b'{"axis":1,"axis":2, "v":2}')
_bytes("duplicate-key-in-no-json", "entries.parse", lambda line: b'{"axis":1,"axis":2}x')
_bytes(
    "huge-integer",
    "entries.profile",
    lambda line: line.replace(b'"count":1', b'"count":1' + b"0" * 5000),
)
_bytes("surrogate-and-large-integer", "entries.parse", lambda line: b'[9007199254740993,"\\udc00"]')
_bytes("control-character", "entries.parse", lambda line: line.replace(b"alice", b"al\x01ce"))
_bytes("null-byte", "entries.parse", lambda line: line.replace(b"alice", b"al\0ice"))
_bytes("nested-201-deep", "entries.parse", lambda line: b"[" * 201 + b"]" * 201)
_bytes(
    "decision-without-a-session",
    "entries.schema",
    lambda line: line.replace(b'"session":"alpha"', b'"session":null'),
)
_bytes(
    "text-for-a-number", "entries.schema", lambda line: line.replace(b'"count":1', b'"count":"1"')
)
_bytes(
    "unknown-scope",
    "entries.schema",
    lambda line: line.replace(b'"scope":"workspace"', b'"scope":"world"', 1),
)
