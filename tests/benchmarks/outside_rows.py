"""Rows that others wrote, as calls to decide: which source, which group, what the label says.

A source is one file of the corpora, or one peer's set inside the file of the
peers' verdicts. Labels keep each source's own meaning; nothing is pooled.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toolgate.errors import InputError
from toolgate.gate.call import ToolCall
from toolgate.hook.log import Recorded, Skipped, read_log

STOP, PASS = "must stop", "may pass"
VERDICTS = "peer-gate-verdicts"
PEERS = {
    "manuelschipper/nah": "nah",
    "Dicklesworthstone/destructive_command_guard": "dcg",
    "butterflyskies/cc-toolgate": "cc-toolgate",
    "kenryu42/claude-code-safety-net": "cc-safety-net",
    "ldayton/Dippy": "dippy",
    "kaplanelad/shellfirm": "shellfirm",
    "openai/codex": "codex",
}
SPECIAL = "under a special cwd, mode or config"
"""How the basis of a peer's label names a case that needs fixtures this run does not give."""

SESSIONS = ("agent-claude-hooklogs", "agent-claude-console")
"""Files of real sessions whose shell calls the aims speak of; only the main log counts."""

SESSION_SHELLS = frozenset(("Bash", "run_shell_command"))
CONSOLE_CUT = "\u2026 (ctrl+r to expand)"
"""What Claude Code's console puts where it shows a call in part: such a call is not whole."""

SHELL_NAMES = {"bash": "Bash", "run": "Bash", "swe_agent_command": "Bash"}
"""What other agents call the tool that takes shell text, under the name a gate knows."""

PLACES = {
    # Rows without a directory: the one that the session's own commands and paths start from.
    "agent-claude-console": ("/Users/dev/Developer/BookMinder", "/Users/dev"),
    "agent-claude-hooklogs": ("/Users/dev/conductor/repo", "/Users/dev"),
    "agent-intercode": ("/workspace", "/root"),
    "agent-swe": ("/workspace", "/root"),
}
PEER_PLACES = {
    # Its corpus/FIXTURES.json: the project's root, as the place that its cases call inside.
    "nah": ("/workspace/project", "/home/test"),
}
_KEYS = ("id", "source", "tool_name", "tool_input", "label_basis")
PLACE = ("/home/dev/app", "/home/dev")


class Row(NamedTuple):
    """One row.

    Args:
        id: the row's own id.
        source: the file's name, or the peer's.
        group: what it is reported under beside its source: a repository, a kind, or "".
        label: ``must stop``, ``may pass``, or None when nobody judged it.
        theirs: the answer of whoever labelled it: allow, ask, deny, or None.
        call: the call, or None for one that its source cut off.
        by_console: whether the sign of the cut is the console's own, not the source's mark.
        elided: whether the corpus replaced a part of its text by length and hash.
        shell: whether the call is shell text.
        counted: whether it belongs to the population of the aims on real sessions.
    """

    id: str
    source: str
    group: str
    label: str | None
    theirs: str | None
    call: ToolCall | None
    by_console: bool
    elided: bool
    shell: bool
    counted: bool


def sources_of(folder: Path) -> dict[str, Path]:
    """Return every source of a folder of corpora, by name, with the file that holds it."""
    files = {path.stem: path for path in sorted(folder.glob("*.jsonl"))}
    verdicts = files.pop(VERDICTS, None)
    peers = {} if verdicts is None else dict.fromkeys(PEERS.values(), verdicts)
    return {**peers, **files}


def rows_of(path: Path, place: tuple[str, str] | None) -> Iterator[Row]:
    """Read the rows of one file in order.

    Args:
        path: the file.
        place: working directory and home of rows that name none; the source's own by default.

    Raises:
        InputError: a line is no row of a corpus.
    """
    cwd, home = place or PLACES.get(path.stem, PLACE)
    with path.open("rb") as lines:
        raw = [_raw(line, f"{path}:{n}") for n, line in enumerate(lines, 1) if line.strip()]
    # A row without a session is on its own: no directory of an earlier row is its own.
    lines_again = (json.dumps(_prepared(row)).encode() for row in raw)
    items = read_log(str(path), lines_again, cwd=cwd, home=home)
    for row, item in zip(raw, items, strict=True):
        made = _row(path.stem, row, item)
        yield made if place or made.source not in PEER_PLACES else _at(made)


def _at(row: Row) -> Row:
    """Put a row at the place its source documents."""
    cwd, home = PEER_PLACES[row.source]
    if row.call is None:
        return row
    there = row.call.place._replace(cwd=cwd, roots=(cwd,), home=home)
    return row._replace(call=row.call._replace(place=there))


def _raw(line: bytes, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where} is no JSON: {error}") from None
    missing = [key for key in _KEYS if not isinstance(row, dict) or key not in row]
    if missing or not isinstance(row["tool_input"], dict):
        wrong = f"without {', '.join(missing)}" if missing else "whose tool_input is no object"
        raise InputError(f"{where}: a row {wrong}")
    return row


def _prepared(row: dict[str, Any]) -> dict[str, Any]:
    tool = row["tool_name"]
    session = row.get("session_id") or row["id"]
    made = {**row, "tool_name": SHELL_NAMES.get(tool, tool), "session_id": session}
    return {**made, "truncated": True} if _by_console(row) else made


def _by_console(row: dict[str, Any]) -> bool:
    texts = [value for value in row["tool_input"].values() if isinstance(value, str)]
    return not row.get("truncated") and any(CONSOLE_CUT in text for text in texts)


def _row(file: str, row: dict[str, Any], item: Recorded | Skipped) -> Row:
    repository = "/".join(row["source"].split("/")[:2])
    peer = PEERS.get(repository) if file == VERDICTS else None
    theirs = row.get("external_label")
    tool = SHELL_NAMES.get(row["tool_name"], row["tool_name"])
    shell = isinstance(row["tool_input"].get("command"), str) and tool != "edit"
    real = file in SESSIONS and row.get("main_log", True) and tool in SESSION_SHELLS
    return Row(
        id=row["id"],
        source=peer or file,
        group=_group(row, repository, peer),
        label=None if file.startswith("agent-") else _label(theirs, row.get("peer_verdict")),
        theirs=theirs,
        call=None if isinstance(item, Skipped) else item.call,
        by_console=_by_console(row),
        elided=bool(row.get("elided")),
        shell=shell,
        counted=real and isinstance(item, Recorded),
    )


def _group(row: dict[str, Any], repository: str, peer: str | None) -> str:
    if peer is not None:
        return "special fixtures" if SPECIAL in row["label_basis"] else ""
    if "abuse" in row:
        return str(row["abuse"])
    if "suite" in row:
        return str(row["suite"])
    return repository if "session_id" in row else ""


def _label(theirs: str | None, verdict: str | None) -> str | None:
    """Return what a label asks for: a peer that hands the call on lets it pass itself."""
    if theirs in ("ask", "deny"):
        return STOP
    return PASS if theirs == "allow" or verdict == "delegate" else None
