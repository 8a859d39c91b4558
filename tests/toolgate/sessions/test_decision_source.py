"""Our own ledger as a source: what the gate decided, by its own record."""

from pathlib import Path

import ledgers

from toolgate.sessions.importing import collect
from toolgate.sessions.sources import decisions, transcript


def test_row_13_the_gates_own_sessions_are_records_of_high_confidence(tmp_path: Path) -> None:
    place = tmp_path / "ledger"
    writer = ledgers.Writer(place, "s-1")
    writer.prompt("p1")
    writer.decide("a")
    writer.decide("b", "denied", tool="Write")
    writer.outcome("a")
    writer.close()
    ledgers.Writer(place, "run-1", executes=False, host="evalkit").decide("x")
    (piece,) = decisions.read((str(place), str(place)))
    (record,) = piece.parts
    assert (record.session_id, record.harness, record.vendor_user) == (
        "s-1",
        "claude-code",
        "alice",
    )
    assert (record.tools, record.confidence, record.outcome) == (("Bash",), "high", "unknown")
    assert record.start is not None and record.end is not None and record.start < record.end


def test_row_14_it_joins_the_transcript_of_the_same_session(tmp_path: Path) -> None:
    writer = ledgers.Writer(tmp_path / "ledger", "s-1")
    writer.decide("a")
    path = tmp_path / "t.jsonl"
    path.write_text('{"sessionId":"s-1","version":"2.1","timestamp":"2026-11-29T10:00:01Z"}\n')
    pieces = [*transcript.read((str(path),), list), *decisions.read((str(tmp_path / "ledger"),))]
    made = collect(pieces)
    (one,) = made.found
    assert (made.merged, one.record.sources) == (1, ("decision-ledger", "transcript"))
    assert one.rests["harness_version"] == ["transcript"]
    assert one.rests["vendor_user"] == ["decision-ledger"]
