"""Random damage: to the bytes of a file, and to the entries of a ledger that is then re-hashed."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from toolgate.canonical import digest

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 2**53 - 1, "", "a", "ok", "allowed", "denied", "linear", "dag",
    "unresolved", "refused", "alpha", "gamma", "look", "x", [], {}, digest(b"x"), "gate",
)  # fmt: skip


def change_bytes(rng: Random, data: bytes) -> bytes:
    """Return a file with a random byte or some lines changed; it is not the same."""
    while True:
        changed = rng.choice(_BYTE_CHANGES)(rng, data)
        if changed != data:
            return changed


def _flip(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 2000) :]


def _insert(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.randrange(1, 50)) + data[at:]


def _repeat(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at : at + rng.randrange(1, 2000)] + data[at:]


def _sign(rng: Random, data: bytes) -> bytes:
    """Put a sign JSON knows in the place of another byte."""
    at = rng.randrange(len(data))
    return (
        data[:at]
        + rng.choice((b" ", b"\n", b"0", b"-", b".", b"e", b'"', b"\\", b",", b"}", b"["))
        + data[at + 1 :]
    )


def _drop_line(rng: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def _repeat_line(rng: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def move_line(rng: Random, data: bytes) -> bytes:
    """Move a line. Not among the changes that must be seen: some orders are no claim."""
    lines = data.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return b"".join(lines)


_BYTE_CHANGES = (_flip, _cut, _insert, _repeat, _sign, _drop_line, _repeat_line)


def change_story(rng: Random, kit: Any) -> None:
    """Change a few entries of a kit at random, and often make everything fit again."""
    for _ in range(rng.randrange(1, 4)):
        name, row = rng.choice(kit.rows())
        rng.choice(_STORY_CHANGES)(rng, kit, name, row)
    if rng.random() < 0.7:
        kit.rehash()
    else:
        kit.write()


def _set_value(rng: Random, kit: Any, name: str, row: Any) -> None:
    holder = rng.choice([row.body, row.body["ev"], row.body.get("intent", row.body["ev"])])
    key = rng.choice(
        sorted(set(holder) - {"kind", "ev", "intent", "effects", "facts", "basis", "parents"})
    )
    like = [other.body for _, other in kit.rows()] + [other.body["ev"] for _, other in kit.rows()]
    values = [one[key] for one in like if key in one]
    holder[key] = rng.choice(values if rng.random() < 0.6 and values else VALUES)
    if type(holder[key]) is int and 0 < holder[key] < 10**17 and rng.random() < 0.3:
        holder[key] -= 1
    if rng.random() < 0.5:
        row.keep.add(key)


def _set_parents(rng: Random, kit: Any, name: str, row: Any) -> None:
    others = [other.old for _, other in kit.rows()]
    picked = rng.sample(others, rng.randrange(0, 3)) + (
        [digest(b"x")] if rng.random() < 0.2 else []
    )
    row.body["parents"] = sorted({*picked, *(row.body["parents"] if rng.random() < 0.5 else [])})


def _set_basis(rng: Random, kit: Any, name: str, row: Any) -> None:
    if "basis" in row.body:
        row.body["basis"] = [other.old_event for _, other in rng.sample(kit.rows(), 1)]


def _set_effect(rng: Random, kit: Any, name: str, row: Any) -> None:
    for effect in row.body.get("effects", []):
        key = rng.choice(sorted(effect))
        values = (*VALUES, "temp", "fs.delete", "unresolved(glob)", "h:" + "b" * 32)
        effect[key] = rng.choice(values)


def _drop(rng: Random, kit: Any, name: str, row: Any) -> None:
    kit.drop(row)


def _again(rng: Random, kit: Any, name: str, row: Any) -> None:
    again = kit.copy(row)
    if rng.random() < 0.7:
        again.old, again.old_event = digest(rng.randbytes(8)), digest(rng.randbytes(8))
        again.body["ts"] += 1
        again.body["ev"]["ts"] += 1
    target = rng.choice(list(kit.files))
    rows = kit.files[target if rng.random() < 0.3 else name]
    rows.insert(rng.randrange(len(rows) + 1), again)


def _move(rng: Random, kit: Any, name: str, row: Any) -> None:
    rows = kit.files[name]
    if row in rows:
        rows.remove(row)
        rows.insert(rng.randrange(len(rows) + 1), row)


_STORY_CHANGES = (
    _set_value, _set_value, _set_value, _set_parents, _set_basis, _set_effect, _drop, _again, _move
)  # fmt: skip


def change_trace(rng: Random, spans: list[Any]) -> list[Any]:
    """Return a trace with a few calls changed, dropped or repeated."""
    made = list(spans)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(made))
        other = rng.choice(spans)
        name = rng.choice(
            (
                "session",
                "call",
                "tool",
                "status",
                "ts",
                "args_digest",
                "result_digest",
                "decision_digest",
                "format",
                "hooked",
            )
        )
        how = rng.randrange(4)
        if how == 0:
            made.append(made[at])
        elif how == 1 and len(made) > 1:
            del made[at]
        else:
            value = getattr(other, name) if rng.random() < 0.6 else rng.choice([None, digest(b"x")])
            if name == "format":
                value = rng.choice(("", "one", "two"))
            elif name == "hooked":
                value = rng.random() < 0.5
            elif name == "status":
                value = rng.choice(("ok", "error", "cancelled", "refused", "stopped", None))
            elif name == "ts" and type(value) is str:
                value = 5
            made[at] = made[at]._replace(**{name: value})
    return made


def damage(rng: Random, kit: Any) -> None:
    """Change a kit's entries, bytes, files and policy at random."""
    if rng.random() < 0.7:
        change_story(rng, kit)
    paths = sorted(path for path in kit.root.rglob("*.jsonl") if path.stat().st_size)
    if rng.random() < 0.4:
        path = rng.choice(paths)
        change = move_line if rng.random() < 0.3 else change_bytes
        path.write_bytes(change(rng, path.read_bytes()))
    if rng.random() < 0.03:
        path = rng.choice(paths)
        path.write_bytes(b"\n" if rng.random() < 0.5 else b"")
    if rng.random() < 0.1:
        policy = next((kit.root / "policies").iterdir())
        policy.write_bytes(change_bytes(rng, policy.read_bytes()))


def change_json(rng: Random, data: bytes) -> bytes:
    """Return a file of JSON lines with one value of one line changed."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return data
    places = list(_places(value))
    if not places:
        return data
    holder, key = rng.choice(places)
    other, name = rng.choice(places)
    held = json.loads(json.dumps(other[name]))
    odd = ("x", "user", "accept", "reject", "a0", "\ud800", 1.5, 2**60, float("nan"))
    holder[key] = rng.choice((*VALUES, *odd, held, held, held))
    lines[at] = json.dumps(value).encode()
    return b"\n".join(lines)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a JSON value as holder and key."""
    if not isinstance(value, (dict, list)):
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        yield from _places(item)
