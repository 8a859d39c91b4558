"""Claude Code transcripts as a source: named fields, each message once, no content."""

import json
from pathlib import Path

import pytest

from toolgate.errors import RefusedError, UnavailableError
from toolgate.sessions.merge import resolve
from toolgate.sessions.record import text_of
from toolgate.sessions.sources import transcript

CANARY = "CANARY-never-to-be-seen"


def line(**more: object) -> dict[str, object]:
    return {"sessionId": "s-1", "timestamp": "2026-11-29T10:00:01.000Z", "version": "2.1", **more}


def said(content: object, model: str = "claude-opus-5[1m]") -> dict[str, object]:
    usage = {"input_tokens": 10, "output_tokens": 2}
    return {"id": "msg_1", "model": model, "usage": usage, "content": content}


def write(folder: Path, *rows: object) -> str:
    path = folder / "transcript.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_row_13_a_transcript_is_read_without_its_content(tmp_path: Path) -> None:
    block = {"type": "tool_use", "name": "mcp__github__get", "input": {"command": CANARY}}
    path = write(
        tmp_path,
        {"type": "summary", "summary": CANARY},
        line(message={"role": "user", "content": CANARY}, cwd=f"/home/{CANARY}"),
        line(message=said([{"type": "text", "text": CANARY}])),
        line(message=said([block]), timestamp="2026-11-29T10:00:05.000Z", toolUseResult=CANARY),
        line(message=said(CANARY, model=f"{CANARY} prose")),
        line(message=said([], model="<synthetic>")),
    )
    (piece,) = transcript.read((path, path), list)
    record = resolve(piece).record
    assert (record.models, record.tools) == (("claude-opus-5",), ("mcp__github__get",))
    assert (record.mcp_servers, record.harness_version) == (("github",), "2.1")
    assert (record.input_tokens, record.output_tokens) == (10, 2)  # one message, told four times
    assert (record.confidence, record.outcome, record.redacted) == ("low", "unknown", 1)
    assert record.end is not None and record.start is not None
    assert record.end - record.start == 4_000_000
    assert CANARY not in text_of(record)


def test_lines_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    path = Path(write(tmp_path, line(), {"type": "summary"}, line(message=3)))
    path.write_text(path.read_text() + '{"sessionId":"s-1"\n')
    passed: list[int] = []
    (piece,) = transcript.read((str(path),), lambda: passed.append(1))
    assert (resolve(piece).record.session_id, len(passed)) == ("s-1", 2)


def test_rows_17_38_a_bad_session_id_or_another_file_fails_the_import(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as raised:
        list(transcript.read((write(tmp_path, line(), line(sessionId=f"{CANARY} x")),), list))
    assert CANARY not in str(raised.value) and ":2:" in str(raised.value)
    with pytest.raises(UnavailableError, match="source transcript"):
        list(transcript.read((write(tmp_path, {"note": CANARY}),), list))
