"""A recorded session replayed through the hook, one process an event, then verified.

The expected findings are derived here from the rows and the hook's answers
alone, without the ledger or its verifier. The recorded calls are no part of
the project; without them these tests are skipped.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from toolgate.verify import verify
from toolgate.verify.traces.load import load_trace

ROOT = Path(__file__).resolve().parents[3]
CORPORA = Path(os.environ.get("TOOLGATE_SHARED", ROOT.parent / "shared")) / "corpora"
MAIN, OTHER = "agent-claude-hooklogs.jsonl", "agent-claude-hooklogs-secondary.jsonl"

pytestmark = pytest.mark.skipif(
    not (CORPORA / MAIN).is_file(), reason="recorded sessions are not available here"
)


def rows(name: str, session: str) -> list[dict]:
    found = []
    with (CORPORA / name).open() as lines:
        found = [row for row in map(json.loads, lines) if row["session_id"] == session]
    return sorted(found, key=lambda row: row["step"])


def key(row: dict) -> str:
    return json.dumps([row["tool_name"], row["tool_input"]], sort_keys=True)


def payload(row: dict, name: str, **more) -> dict:
    return {
        "session_id": row["session_id"],
        "cwd": row.get("cwd", "/home/dev"),
        "hook_event_name": name,
        "tool_name": row["tool_name"],
        "tool_input": row["tool_input"],
        **more,
    }


def replay_without_ids(send, pre: list[dict], post: list[dict]):
    """Send every call and the first unused end of an equal call; return what must be found."""
    unused: dict[str, list[dict]] = {}
    for row in post:
        unused.setdefault(key(row), []).append(row)
    table: Counter = Counter()
    for row in pre:
        decision = send(payload(row, "PreToolUse")).decision
        ends = unused.get(key(row))
        ran = bool(ends)
        if ends:
            answer = send(payload(ends.pop(0), "PostToolUse", tool_response={}))
            assert answer.code == 0, answer.message
        table[decision, "ran" if ran else "no end"] += 1
    left = [row for ends in unused.values() for row in ends]
    for row in left:
        send(payload(row, "PostToolUse", tool_response={}))
    send({"session_id": pre[0]["session_id"], "hook_event_name": "SessionEnd", "reason": "x"})
    return table, len(left)


def found(ledger: Path) -> tuple[Counter, object]:
    report = verify(str(ledger))
    return Counter(finding.code for finding in report.findings if finding.cause is None), report


@pytest.mark.parametrize(
    "calls",
    [pytest.param(30, id="first 30 calls"), pytest.param(None, id="whole", marks=pytest.mark.slow)],
)
def test_session_without_ids_or_times(send, ledger, calls):
    pre = rows(MAIN, "63ea1eb95707")[:calls]
    post = rows(OTHER, "63ea1eb95707")
    wanted = Counter(map(key, pre))
    if calls:
        kept = []
        for row in post:
            if wanted[key(row)] > 0:
                wanted[key(row)] -= 1
                kept.append(row)
        post = kept
    table, unmatched = replay_without_ids(send, pre, post)
    findings, report = found(ledger)
    expected = Counter(
        {
            "log.orphan_allow": table["allow", "no end"],
            "execution.after_deny": table["deny", "ran"],
            "execution.unmatched": unmatched,
        }
    )
    assert +findings == +expected
    print(dict(table), "unmatched", unmatched, report.verdict)


def transcript(file: Path, chat: list[dict]) -> Path:
    """Write a transcript of the calls a session's own log shows, with their ends."""
    with file.open("w") as out:
        for row in chat:
            call = row["tool_use_id"]
            block = {
                "type": "tool_use",
                "id": call,
                "name": row["tool_name"],
                "input": row["tool_input"],
            }
            # The replay runs now; a trace that ended years ago would rightly say less.
            shared = {"sessionId": row["session_id"], "timestamp": "2100-01-01T00:00:00.000Z"}
            said = {**shared, "type": "assistant", "message": {"content": [block]}}
            error = row["outcome"] != "executed"
            result = {"type": "tool_result", "tool_use_id": call, "is_error": error}
            answered = {**shared, "type": "user", "message": {"content": [result]}}
            out.write(json.dumps(said) + "\n" + json.dumps(answered) + "\n")
    return file


@pytest.mark.slow
def test_session_of_three_logs_joined_by_id(send, ledger, tmp_path):
    session = "fa568332204b"
    chat = rows(MAIN, session)
    hooks = rows(OTHER, session)
    pre = [row for row in hooks if row["log_kind"] == "pre"]
    post = {row["tool_use_id"]: row for row in hooks if row["log_kind"] == "post"}
    decided: dict[str, str] = {}
    for row in pre:
        call = row["tool_use_id"]
        mode = {"permission_mode": row["permission_mode"]}
        decided[call] = send(payload(row, "PreToolUse", tool_use_id=call, **mode)).decision
        if call in post:
            send(payload(post[call], "PostToolUse", tool_use_id=call, tool_response={}))
    unmatched = [call for call in post if call not in decided]
    for call in unmatched:
        send(payload(post[call], "PostToolUse", tool_use_id=call, tool_response={}))
    send({"session_id": session, "hook_event_name": "SessionEnd", "reason": "x"})

    alone, _ = found(ledger)
    assert +alone == +Counter(
        {
            "log.orphan_allow": sum(s == "allow" and c not in post for c, s in decided.items()),
            "execution.after_deny": sum(s == "deny" and c in post for c, s in decided.items()),
            "execution.unmatched": len(unmatched),
        }
    )

    shown = {row["tool_use_id"] for row in chat}
    trace = transcript(tmp_path / "transcript.jsonl", chat)
    report = verify(str(ledger), spans=load_trace([str(trace)]))
    findings = Counter(finding.code for finding in report.findings)
    # What the ledger itself says ran without a decision is not reported a second time.
    assert findings["execution.no_decision"] == len(shown - decided.keys() - set(unmatched))
    # The trace ends with the last decided call it shows, whatever its clock says.
    order = list(decided)
    last = max(order.index(call) for call in shown & decided.keys())
    ran = {call for call, state in decided.items() if call in post and state != "deny"}
    missing = [order.index(call) > last for call in ran - shown]
    assert findings["execution.no_span"] == missing.count(False)
    assert findings["execution.trace_ends"] == any(missing)
    assert report.verdict == "FAIL"
    print(Counter(decided.values()), len(unmatched), len(shown), dict(findings))
