"""``toolgate sessions`` from end to end: what goes in, what comes out, and what never does."""

import json
import sys
from pathlib import Path

import pytest

import toolgate.cli
from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger
from toolgate.verify import verify

CANARY = "CANARY-5f1c-never-to-be-seen"
GOOD = {
    "sessionId": "s-1",
    "harness": "codex",
    "who": {"user": "Mallory@example.com", "vendorUser": "alice@example.com"},
    "tools": ["shell"],
    "start": "2026-11-29T10:00:00Z",
    "end": "2026-11-29T10:05:00Z",
}
USERS = {
    "Resources": [
        {"userName": "Alice@example.com", "active": True},
        {"userName": "bob@example.com", "active": "False"},
    ]
}


class Run:
    """The command, run in this process against one ledger."""

    def __init__(self, folder: Path, place: str, monkeypatch, capsys) -> None:
        self.folder, self.place = folder, place
        self._patch, self._read = monkeypatch, capsys
        self.seen = ""
        (folder / "users.json").write_text(json.dumps(USERS))

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._patch.setattr(sys, "argv", ["toolgate", *words, "--ledger", self.place])
        try:
            toolgate.cli.main()
            code = 0
        except SystemExit as ending:
            code = int(ending.code or 0)
        out, err = self._read.readouterr()
        self.seen += out + err
        return code, out, err

    def bring(self, *rows: object, more: tuple[str, ...] = ()) -> tuple[int, str, str]:
        path = self.folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        known = str(self.folder / "users.json")
        words = ("sessions", "import", "--source", f"jsonl={path}", "--directory", known)
        return self(*words, "--json", *more)


@pytest.fixture(params=["directory", "postgresql"])
def run(request, tmp_path, monkeypatch, capsys) -> Run:
    if request.param == "directory":
        place = str(tmp_path / "ledger")
    else:
        place = request.getfixturevalue("database")
    return Run(tmp_path, place, monkeypatch, capsys)


def test_rows_4_21_24_the_directory_alone_says_who_a_user_is(run: Run) -> None:
    bob = {**GOOD, "sessionId": "s-2", "who": {"vendorUser": "bob@example.com"}}
    code, out, _ = run.bring(GOOD, bob)
    report = json.loads(out)
    assert (code, report["stored"], report["unresolved"]) == (0, 2, 1)
    _, out, _ = run("sessions", "list", "--json")
    body = json.loads(out)
    assert body["verified"] and body["head"]["seq"] == 2
    users = [one["record"]["who"].get("user") for one in body["sessions"]]
    assert users == ["Alice@example.com", None]
    assert verify(run.place).verdict == "CONDITIONAL"  # whole, and not pinned


def test_rows_12_17_39_one_bad_line_stores_nothing_and_shows_nothing(run: Run) -> None:
    for bad in (
        {**GOOD, "prompt": CANARY},
        {**GOOD, CANARY: "x"},
        {**GOOD, "sessionId": f"{CANARY} x"},
        {**GOOD, "harness": f"{CANARY}\n"},
        {**GOOD, "who": {"note": CANARY}},
        {**GOOD, "start": CANARY},
    ):
        code, _, err = run.bring(GOOD, bad)
        assert code == 3 and "rows.jsonl:2" in err
    assert CANARY not in run.seen
    with pytest.raises(LedgerError):
        verify(run.place)


def test_rows_17_18_19_what_may_not_stand_in_a_record_is_dropped_and_counted(run: Run) -> None:
    row = {
        **GOOD,
        "models": [f"{CANARY} prose", "claude-opus-5[1m]"],
        "repos": [f"github.com/{CANARY}"],
        "files": [f"/home/{CANARY}"],
        "ring": f"{CANARY}\n",
    }
    code, out, _ = run.bring(row, more=("--dry-run",))
    record = json.loads(out)
    assert code == 0 and "user" not in record["who"]
    assert (record["models"], record["redacted"], record["repos"]) == (["claude-opus-5"], 2, [])
    assert run.bring(row)[0] == 0
    run("sessions", "export")
    run("sessions", "show", "s-1")
    assert CANARY not in run.seen
    if not run.place.startswith("postgresql:"):
        kept = b"".join(path.read_bytes() for path in Path(run.place).rglob("*") if path.is_file())
        assert CANARY.encode() not in kept


def test_row_18_hashed_paths_are_kept_and_counted(run: Run) -> None:
    salt = run.folder / "salt"
    salt.write_bytes(b"0123456789abcdef")
    salt.chmod(0o600)
    row = {**GOOD, "repos": ["https://github.com/acme/app.git"], "files": ["/a", "/b"]}
    more = ("--paths", "hash", "--hash-salt-file", str(salt), "--dry-run")
    record = json.loads(run.bring(row, more=more)[1])
    assert record["repos"] == ["h:e952f650fc0cbe7ea62b974c1234b954"]
    assert (len(record["files"]), record["filesTouched"]) == (2, 2)


def test_row_26_the_newest_version_is_read(run: Run) -> None:
    run.bring(GOOD)
    run.bring({**GOOD, "tools": ["patch"]})
    _, out, _ = run("sessions", "list", "--json", "--tool", "patch", "--user", "ALICE@example.com")
    (one,) = json.loads(out)["sessions"]
    assert (one["versions"], one["auditSeq"]) == (2, 2)
    assert json.loads(run("sessions", "list", "--json", "--tool", "shell")[1])["sessions"] == []
    late = run("sessions", "list", "--json", "--since", "2026-11-30")[1]
    assert json.loads(late)["sessions"] == []


def test_row_25_an_append_that_fails_midway_says_how_many_are_stored(run: Run, monkeypatch) -> None:
    whole = Ledger.audit

    def failing(self, **more):
        if more["target"] == failing.last:
            raise LedgerError("the disk is full")
        failing.last = failing.last or "none"
        return whole(self, **more)

    rows = [{**GOOD, "sessionId": f"s-{number}"} for number in range(3)]
    from toolgate.sessions.record import record_id

    failing.last = record_id("codex", "s-2")
    monkeypatch.setattr(Ledger, "audit", failing)
    code, _, err = run.bring(*rows)
    assert code == 4 and "2 of 3 records are stored" in err
    assert len(json.loads(run("sessions", "list", "--json")[1])["sessions"]) == 2


def test_row_37_export_of_a_broken_chain_exits_1_and_still_writes(tmp_path, monkeypatch, capsys):
    run = Run(tmp_path, str(tmp_path / "ledger"), monkeypatch, capsys)
    run.bring(GOOD, {**GOOD, "sessionId": "s-2"})
    assert run("sessions", "export")[0] == 0
    (spine,) = Path(run.place).glob("spine-*.jsonl")
    data = spine.read_bytes()
    spine.write_bytes(data.replace(b"shell", b"shelf", 1))
    code, out, err = run("sessions", "export")
    assert code == 1 and len(out.splitlines()) == 2 and "does not hold" in err


def test_a_version_that_rests_on_fewer_sources_says_what_it_hides(tmp_path, monkeypatch, capsys):
    run = Run(tmp_path, str(tmp_path / "ledger"), monkeypatch, capsys)
    path = tmp_path / "t.jsonl"
    path.write_text('{"sessionId":"s-1","version":"2.1"}\n')
    row = {**GOOD, "harness": "claude-code"}
    both = run.bring(row, more=("--source", f"transcript={path}"))
    assert json.loads(both[1])["merged"] == 1
    assert "hides what transcript said" in run.bring(row)[2]
    assert run("sessions", "import", "--source", "gateway=x")[0] == 2
