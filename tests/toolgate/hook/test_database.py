"""The hook over a ledger in PostgreSQL: recorded there, and denied without it."""

import json

import pytest

from toolgate.verify import verify

pytest.importorskip("psycopg")


def test_a_call_is_recorded_in_the_database(send, event, database, tmp_path):
    more = {"TOOLGATE_LEDGER": database, "XDG_STATE_HOME": str(tmp_path)}
    answer = send(event(command="ls"), **more)
    assert answer.decision == "allow", answer
    answer = send(event("PostToolUse", command="ls", tool_response={"stdout": ""}), **more)
    assert answer.code == 0, answer
    assert send(event("SessionEnd"), **more).code == 0
    report = verify(database)
    assert report.findings == []
    assert report.calls == {("allowed", "ok"): 1}
    (salt,) = (tmp_path / "toolgate").iterdir()
    assert salt.name.startswith("postgresql-")
    assert len(salt.read_bytes()) == 32


@pytest.mark.parametrize(
    "address",
    ["postgresql://someone:hunter2@127.0.0.1:1/ledger", "mysql://someone:hunter2@host/ledger"],
)
def test_without_its_database_the_hook_denies_and_names_nobody(send, event, tmp_path, address):
    answer = send(event(), TOOLGATE_LEDGER=address, XDG_STATE_HOME=str(tmp_path))
    assert answer.decision == "deny"
    said = json.dumps(answer.output.decode()) + answer.message
    assert "hunter2" not in said
    assert "someone" not in said
