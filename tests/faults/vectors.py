"""Frozen cases: a ledger, what it is verified with, and the exact findings, in one JSON file.

The format is specified in ``toolgate/spec/vectors.md``.
"""

import json
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

from toolgate.canonical import profile_bytes
from toolgate.errors import CanonicalizationError
from toolgate.ledger.checkpoint import parse_text
from toolgate.ledger.notes import parse_key, parse_note
from toolgate.verify import Report, verify
from toolgate.verify import ledger as verification
from toolgate.verify.anchors import Anchors, Held
from toolgate.verify.findings import Finding, Seen
from toolgate.verify.system import SystemReport, verify_system
from toolgate.verify.traces.load import load_trace
from toolgate.verify.traces.span import Span, Trace

FOLDER = Path(__file__).parent.parent / "vectors" / "ledgers"
MAIN = "ledger"
UNSAID = {name: Span._field_defaults.get(name) for name in Span._fields}
"""What a call of a trace says where a case says nothing."""
_RUN = 200  # a byte repeated more often than this is written as a count


# -- from items to bytes


def data_of(items: list[Any], base: list[bytes]) -> bytes:
    """Return a file's bytes.

    Args:
        items: the file as a case holds it.
        base: the lines of the base's file.
    """
    return b"".join(_data_of(item, base) for item in items)


def _data_of(item: Any, base: list[bytes]) -> bytes:
    if type(item) is str:
        return item.encode() + b"\n"
    if "same" in item:
        first, last = item["same"]
        return b"".join(line + b"\n" for line in base[first - 1 : last])
    return _line_of(item, base) + (b"\n" if item.get("lf", True) else b"")


def _line_of(item: dict[str, Any], base: list[bytes]) -> bytes:
    if "like" not in item:
        return _text(item)
    line = base[item["like"] - 1]
    if "cut" in item:
        at, length = item["cut"]
        return line[:at] + _text(item) + line[at + length :]
    body = json.loads(line)
    for path, value in item["set"].items():
        *above, name = path.split(".")
        holder = body
        for key in above:
            holder = holder[key]
        holder[name] = value
    return profile_bytes(body)


def _text(item: dict[str, Any]) -> bytes:
    if "hex" in item:
        return bytes.fromhex(item["hex"])
    value = item["put" if "cut" in item else "text"]
    parts = [[value, 1]] if type(value) is str else value
    return "".join(text * times for text, times in parts).encode()


# -- from bytes to items


def items_of(data: bytes, base: list[bytes]) -> list[Any]:
    """Return a file as a case holds it, in the shortest of its forms."""
    lines = data.split(b"\n")
    tail = lines.pop()
    items: list[Any] = []
    match = SequenceMatcher(None, base, lines, autojunk=False)
    for how, first, last, begin, end in match.get_opcodes():
        if how == "equal":
            items.append({"same": [first + 1, last]})
        else:
            items += [_item_of(line, base) for line in lines[begin:end]]
    if tail:
        item = _item_of(tail, base)
        items.append({"text": item, "lf": False} if type(item) is str else {**item, "lf": False})
    if data_of(items, base) != data:
        raise AssertionError("an item does not stand for the bytes it was made from")
    return items


def _item_of(line: bytes, base: list[bytes]) -> Any:
    said = _said("text", line)
    plain = said["text"] if type(said.get("text")) is str else said
    body = _body(line)
    likes = (_like(number, other, line, body) for number, other in enumerate(base, 1))
    return min([plain, *[item for item in likes if item]], key=lambda item: len(json.dumps(item)))


def _like(number: int, other: bytes, line: bytes, body: Any) -> Any:
    """Say a line as a change of a base's line; None if that cannot be."""
    if body is not None:
        values: dict[str, Any] = {}
        fits = _changes(_body(other), body, "", values)
        return {"like": number, "set": values} if fits else None
    most = min(len(other), len(line))
    at = next((at for at in range(most) if other[at] != line[at]), most)
    end = next((end for end in range(most - at) if other[~end] != line[~end]), most - at)
    put = _said("put", line[at : len(line) - end])
    return {"like": number, "cut": [at, len(other) - end - at], **put}


def _changes(old: dict[str, Any], new: dict[str, Any], above: str, values: dict[str, Any]) -> bool:
    for key, value in new.items():
        before = old.get(key)
        if type(value) is dict and type(before) is dict:
            if not _changes(before, value, f"{above}{key}.", values):
                return False
        elif key not in old or profile_bytes([before]) != profile_bytes([value]):
            values[above + key] = value
    return not old.keys() - new.keys() and not any("." in key for key in new)


@cache
def _body(line: bytes) -> Any:
    """Return what a line says if it is an object in canonical form, else None."""
    try:
        body = json.loads(line)
        return body if type(body) is dict and profile_bytes(body) == line else None
    except (ValueError, CanonicalizationError, RecursionError):
        return None


def _said(name: str, data: bytes) -> dict[str, Any]:
    try:
        return {name: _packed(data.decode())}
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def _packed(text: str) -> str | list[Any]:
    parts: list[Any] = []
    plain = 0
    at = 0
    while at < len(text):
        end = at
        while end < len(text) and text[end] == text[at]:
            end += 1
        if end - at > _RUN:
            parts += [[text[plain:at], 1]] if at > plain else []
            parts.append([text[at], end - at])
            plain = end
        at = end
    if not parts:
        return text
    return parts + ([[text[plain:], 1]] if plain < len(text) else [])


# -- cases


def cases() -> list[dict[str, Any]]:
    """Return every frozen case, by id."""
    return [json.loads(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))]


@cache
def base_files(name: str) -> dict[str, bytes]:
    """Return the files of a base by their path; none for a ledger without one."""
    if not name:
        return {}
    held = json.loads((FOLDER / "base" / f"{name}.json").read_bytes())
    return {path: data_of(items, []) for path, items in held["files"].items()}


def write_ledgers(case: dict[str, Any], folder: Path) -> None:
    """Write a case's ledgers into a folder, each below its name."""
    for name, held in case["ledgers"].items():
        base = base_files(held["base"])
        lines = {path: data.split(b"\n")[:-1] for path, data in base.items()}
        files = base | {
            path: None if items is None else data_of(items, lines.get(path, []))
            for path, items in held["files"].items()
        }
        for path, data in files.items():
            if data is not None:
                (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / name / path).write_bytes(data)


def verify_system_case(case: dict[str, Any], folder: Path) -> SystemReport:
    """Verify a case of several ledgers, which lie in a folder."""
    args = dict(case["args"])
    roots = [str(folder / name) for name in args.pop("system")]
    return verify_system(roots, anchors=anchors_of(args))


def said_of_system(report: SystemReport, folder: Path) -> dict[str, Any]:
    """Return what a case of several ledgers expects; paths are those below its folder."""
    above = f"{folder.resolve()}/"
    return {
        "verdict": report.verdict,
        "findings": [
            {
                "code": item.code,
                "entry": item.entry.removeprefix(above),
                "cause": item.cause,
                **_said_of(item.code, item.message.replace(above, "")),
            }
            for item in report.findings
        ],
        "root": report.root,
        "members": {
            item.path.removeprefix(above): item.report and item.report.verdict
            for item in report.members
        },
    }


def _said_of(code: str, message: str) -> dict[str, str]:
    """Return a finding's sentence, unless an operating system has worded it."""
    return {} if code == "log.ledger_missing" else {"message": message}


def anchors_of(args: dict[str, Any]) -> Anchors:
    """Take what was kept outside from a case's arguments."""
    key = args.pop("checkpoint_key", None)
    return Anchors(
        tuple(_held(name, text) for name, text in args.pop("checkpoints", {}).items()),
        None if key is None else parse_key(key),
        tuple(parse_key(text) for text in args.pop("witnesses", [])),
    )


def _held(name: str, text: str) -> Held:
    note = parse_note(text.encode())
    return Held(name, note, parse_text(note.text))


def expected_of(report: Report) -> dict[str, Any]:
    """Return what a case says is to be found, as a report says it."""
    return {
        "verdict": report.verdict,
        "findings": [
            {
                "code": item.code,
                "entry": item.entry,
                "cause": item.cause,
                "message": item.message,
            }
            for item in report.findings
        ],
        **({"more": report.more} if report.more else {}),
    }


def report_of(report: Report, folder: Path) -> dict[str, Any]:
    """Return what a report says beside verdict and findings, where it is not empty.

    Paths are those below a folder.
    """
    said = {
        name: value
        for name, value in report.as_json().items()
        if value and name not in ("verdict", "findings", "more")
    }
    made: dict[str, Any] = json.loads(json.dumps(said).replace(f"{folder}/", ""))
    return made


def watch_case(case: dict[str, Any], folder: Path) -> tuple[Report, list[list[Any]]]:
    """Verify a case's ledger; return what its findings belong to as well, as they arise.

    Returns:
        The report; and for each finding its code, session and turn.
    """
    kept: list[Seen] = []
    attribute = verification.attribute

    def keep(seen: Iterable[Seen]) -> list[Finding]:
        kept.extend(seen)
        return attribute(kept)

    verification.attribute = keep
    try:
        report = verify_case(case, folder)
    finally:
        verification.attribute = attribute
    return report, [[one.finding.code, one.session, one.turn] for one in kept]


def verify_case(case: dict[str, Any], folder: Path, *, pinned: bool = True) -> Report:
    """Verify a case's ledger, which lies in a folder.

    Args:
        case: the case.
        folder: where ``write_ledgers`` wrote it.
        pinned: whether what was kept outside is given.
    """
    args = dict(case["args"])
    pin = args.pop("expect_head", None)
    if pinned and pin is not None:
        seq, _, digest = pin.partition(":")
        args["expect_head"] = (int(seq), digest)
    anchors = anchors_of(args)
    if pinned:
        args["anchors"] = anchors
    spans: Trace | list[Span] | None = (
        None if case["spans"] is None else [Span(**{**UNSAID, **span}) for span in case["spans"]]
    )
    if case["traces"]:
        paths = [folder / name for name in case["traces"]]
        for path in paths:
            path.write_bytes(data_of(case["traces"][path.name], []))
        shown = spans or []
        told = load_trace([str(path) for path in paths])
        spans = told._replace(calls=(*shown, *told.calls))
    return verify(str(folder / MAIN), spans=spans, **args)
