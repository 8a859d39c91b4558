"""``toolgate ledger reconcile``: what a trace shows and no hook reported is written, once."""

import json
import os
import time
from collections import Counter
from pathlib import Path

import approved
import ledgers
import pytest
import vendors
from click.testing import CliRunner

from toolgate.canonical import digest_of
from toolgate.cli.ledger import ledger
from toolgate.verify import verify
from toolgate.verify.traces.load import load_trace

PAST = 1_700_000_000_000_000  # reconcile writes now, after everything here
CORPORA = Path(os.environ.get("TOOLGATE_SHARED", "/nowhere")) / "corpora"


def run(*arguments):
    return CliRunner().invoke(ledger, [str(one) for one in arguments])


def done(*arguments):
    result = run("reconcile", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return {item["call"]: item["done"] for item in json.loads(result.output)["calls"]}


@pytest.fixture
def root(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture(params=["dag", "linear"])
def writer(root, request):
    made = ledgers.Writer(root, "alpha", shape=request.param)
    made.ts = PAST
    made.prompt("p1")
    return made


def trace(path, **ends):
    """Write a transcript of session alpha that shows calls and how they ended."""
    rows = []
    for call, how in ends.items():
        rows.append(vendors.use(call, "alpha"))
        rows += [vendors.end(call, "alpha", how)] if how else []
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def entries(root):
    files = sorted(root.glob("spine-*.jsonl")) + sorted(root.glob("sessions/*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def outcomes(root):
    """Return how each call ended, by the last outcome that was written."""
    rows = entries(root)
    calls = {
        digest_of(row["ev"]): row["intent"]["call"] for row in rows if row["kind"] == "decision"
    }
    ends = sorted((row for row in rows if row["kind"] == "outcome"), key=lambda row: row["ts"])
    return {
        calls[row["ev"]["decision_digest"]]: (row["ev"]["terminal_state"], row["source"])
        for row in ends
    }


ENDS = {
    "failed": ("error", "error"),
    "cut": ("interrupted", "cancelled"),
    "maybe": ("rejected or stopped", "cancelled"),
    "refused": ("rejected", "refused"),
    "ran": ("ok", "ok"),
    "background": ("launched", "ok"),
}


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_ends_no_hook_reported(root, writer, tmp_path, closed):
    for call in ENDS:
        writer.decide(call)
    if closed:
        writer.close()
    shown = trace(tmp_path / "t.jsonl", **{call: how for call, (how, _) in ENDS.items()})
    before = verify(str(root), spans=load_trace([str(shown)]))
    assert len(before.endings) == len(ENDS)
    assert ("log.orphan_allow" in {item.code for item in before.findings}) is closed
    how = "superseded" if closed else "outcome"
    assert done(root, "--spans", shown, "--idle", "0") == dict.fromkeys(ENDS, how)
    assert outcomes(root) == {call: (state, "transcript") for call, (_, state) in ENDS.items()}
    writer.ledger.session_close("alpha", closed_by="session_end", ts=2 * ledgers.START)
    after = verify(str(root), spans=load_trace([str(shown)]))
    assert after.findings == []
    assert after.endings == []
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl"))
    assert run("reconcile", root, "--spans", shown).output == "nothing to reconcile\n"
    assert sum(path.stat().st_size for path in root.rglob("*.jsonl")) == size


def test_what_is_left_alone(root, writer, tmp_path):
    writer.decide("denied", "denied")
    writer.decide("asked", "asked")
    writer.decide("asked and failed", "asked")
    writer.decide("running")
    writer.decide("reported")
    writer.outcome("reported", "error")
    writer.close()
    shown = trace(
        tmp_path / "t.jsonl",
        **{
            "denied": "ok",
            "asked": "rejected",
            "asked and failed": "error",
            "running": None,
            "reported": "error",
        },
    )
    assert done(root, "--spans", shown) == {}
    assert outcomes(root) == {
        "running": ("unresolved", "close"),
        "reported": ("error", "hook"),
    }


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_an_ask_that_ran(root, writer, tmp_path, closed):
    writer.decide("asked", "asked")
    if closed:
        writer.close()
    shown = trace(tmp_path / "t.jsonl", asked="ok")
    codes = [item.code for item in verify(str(root), spans=load_trace([str(shown)])).findings]
    assert "execution.ask_unanswered" in codes
    assert done(root, "--spans", shown, "--idle", "0") == {"asked": "inferred"}
    if not closed:
        writer.ledger.session_close("alpha", closed_by="session_end", ts=2 * ledgers.START)
    report = verify(str(root), spans=load_trace([str(shown)]))
    assert report.findings == []
    assert report.answered == {"inferred": 1}


class Answered:
    """A ledger in which one call was asked about, and what telemetry says of that."""

    def __init__(self, root, path, said, source="user_temporary", *, ends=None, **more):
        self.root = root
        self.files = [path / "logs.json"]
        self.files[0].write_text(json.dumps(vendors.answer("asked", said, source, **more)))
        if ends is not None:
            self.files.append(trace(path / "t.jsonl", asked=ends))
        self.spans = [word for file in self.files for word in ("--spans", file)]

    def done(self):
        """Reconcile twice: the second time must not write."""
        made = done(self.root, *self.spans, "--idle", "0")
        before = entries(self.root)
        assert set(done(self.root, *self.spans, "--idle", "0").values()) <= {"known"}
        assert entries(self.root) == before
        return made

    def report(self, *, traced=False):
        spans = load_trace([str(file) for file in self.files]) if traced else None
        return verify(str(self.root), spans=spans)

    def codes(self, *, traced=False):
        return {item.code for item in self.report(traced=traced).findings}

    def approvals(self):
        return [row["ev"] for row in entries(self.root) if row["kind"] == "approval"]


def finish(writer):
    writer.ledger.session_close("alpha", closed_by="session_end", ts=2 * ledgers.START)


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("ends", ["ok", "error", "interrupted"])
def test_an_ask_its_user_approved(root, writer, tmp_path, ends, closed):
    writer.decide("asked", "asked")
    if closed:
        writer.close()
    one = Answered(root, tmp_path, "accept", ends=ends)
    assert "telemetry reports" in run("verify", root, *one.spans).output
    assert one.done() == {"asked": "approved"}
    if not closed:
        finish(writer)
    [given] = one.approvals()
    assert (given["verdict"], given["evidence"], given["sig"]) == ("approve", "telemetry", None)
    assert given["principal"] == "alice"  # the ask's own: telemetry names nobody
    assert outcomes(root) == {"asked": (dict(ENDS.values())[ends], "transcript")}
    for traced in (False, True):
        report = one.report(traced=traced)
        assert report.findings == []
        assert report.answered == {"telemetry": 1}
        assert not [text for text in report.conditions if "who approved" in text]


def test_an_approval_alone_lets_the_hook_report_the_end(root, writer, tmp_path):
    writer.decide("asked", "asked")
    one = Answered(root, tmp_path, "accept", **{"user.email": "dev@example.org"})
    assert one.done() == {"asked": "approved"}
    assert [given["principal"] for given in one.approvals()] == ["dev@example.org"]
    writer.ts = time.time_ns() // 1000
    assert writer.outcome("asked") == "outcome"
    writer.close()
    report = one.report()
    assert (report.findings, report.answered) == ([], {"telemetry": 1})


def test_an_approval_without_any_end_leaves_an_allowed_call_without_one(root, writer, tmp_path):
    writer.decide("asked", "asked")
    writer.close()
    one = Answered(root, tmp_path, "accept")
    assert one.done() == {"asked": "approved"}
    assert outcomes(root) == {"asked": ("unresolved", "recovery")}
    assert one.codes() == {"log.orphan_allow"}


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("ends", ["rejected", "rejected or stopped", "error", None])
def test_an_ask_its_user_refused(root, writer, tmp_path, ends, closed):
    writer.decide("asked", "asked")
    if closed:
        writer.close()
    one = Answered(root, tmp_path, "reject", "user_reject", ends=ends)
    assert one.done() == {"asked": "refused"}
    if not closed:
        finish(writer)
    assert [given["verdict"] for given in one.approvals()] == ["refuse"]
    assert outcomes(root) == {}
    report = one.report(traced=True)
    assert report.findings == []
    assert report.decisions == {"asked": 1, "denied": 1}
    assert report.asks == []


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_an_ask_its_user_refused_and_that_ran(root, writer, tmp_path, closed):
    writer.decide("asked", "asked")
    if closed:
        writer.close()
    one = Answered(root, tmp_path, "reject", "user_reject", ends="ok")
    assert one.done() == {"asked": "unanswered"}
    if not closed:
        finish(writer)
    assert [given["verdict"] for given in one.approvals()] == ["refuse"]
    assert outcomes(root) == {"asked": ("ok", "transcript")}
    assert one.report().decisions == {"asked": 1}
    assert one.codes() == {"execution.ask_unanswered"}
    assert one.codes(traced=True) == {"execution.ask_unanswered", "execution.rejected"}


def test_a_refused_ask_whose_end_is_in_dispute_is_left(root, writer, tmp_path):
    writer.decide("asked", "asked")
    one = Answered(root, tmp_path, "reject", "user_reject", ends="ok")
    other = tmp_path / "t.json"
    other.write_text(json.dumps(vendors.otlp(vendors.span("asked", "alpha", 1, ok=False))))
    one.spans += ["--spans", other]
    assert one.done() == {}


@pytest.mark.parametrize(
    ("said", "source", "ends", "how"),
    [
        ("accept", "config", "ok", {"asked": "inferred"}),
        ("accept", "config", "error", {"asked": "inferred"}),
        ("accept", "config", None, {}),
        ("reject", "hook", None, {}),
        ("timed_out", "user", None, {}),
    ],
)
def test_only_a_user_answers(root, writer, tmp_path, said, source, ends, how):
    writer.decide("asked", "asked")
    one = Answered(root, tmp_path, said, source, ends=ends)
    assert one.done() == how
    assert one.approvals() == []


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize(
    ("said", "ends", "how", "codes"),
    [
        ("accept", None, "collected", set()),
        ("accept", "rejected", "collected", set()),
        ("accept", "ok", "unanswered", {"execution.ask_unanswered"}),
        ("reject", None, "refused", set()),
    ],
)
def test_an_ask_that_needs_signatures(root, tmp_path, said, ends, how, codes, closed):
    desk = approved.Desk(root, "alpha", approved.ALONE, ts=PAST)
    desk.say("asked", "asked", "deploy", args={"command": "ls asked"})
    if closed:
        desk.close()
    one = Answered(root, tmp_path, said, "user_temporary", ends=ends)
    assert one.done() == {"asked": how}
    assert len(one.approvals()) == 1
    if not closed:
        finish(desk)
    assert one.codes() - {"entries.authority_unrooted"} == codes
    assert one.report().decisions == {"asked": 1, **({"denied": 1} if how == "refused" else {})}


def test_answers_are_told_in_words(root, writer, tmp_path):
    writer.decide("asked", "asked")
    one = Answered(root, tmp_path, "accept", ends="ok", **{"user.email": "dev@example.org"})
    assert run("reconcile", root, *one.spans, "--idle", "0").output == (
        "session alpha: Bash call asked: approved by its user dev@example.org (telemetry), "
        "ok (transcript, matched by id): approved\n"
        "1 call recorded with the user's approval, which telemetry reports\n"
    )


def test_a_call_without_decision_is_stated_once(root, writer, tmp_path):
    writer.decide("a", "denied")
    writer.close()
    shown = trace(tmp_path / "t.jsonl", a="blocked", unheard="ok", refused="rejected")
    before = verify(str(root), spans=load_trace([str(shown)]))
    assert Counter(item.code for item in before.findings) == {"execution.no_decision": 2}
    assert done(root, "--spans", shown) == {"unheard": "unmatched"}
    assert done(root, "--spans", shown) == {}
    after = verify(str(root), spans=load_trace([str(shown)]))
    assert {item.code for item in after.findings} == {
        "execution.unmatched",
        "execution.no_decision",  # the refused one did not run
    }


def test_sessions_the_ledger_does_not_know_are_not_written(root, writer, tmp_path):
    writer.decide("a", "denied")
    rows = [vendors.use("b", "elsewhere"), vendors.end("b", "elsewhere", "ok")]
    shown = tmp_path / "t.jsonl"
    shown.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert done(root, "--spans", shown) == {}


def test_a_measuring_run_has_no_ends(root, tmp_path):
    writer = ledgers.Writer(root, "alpha", executes=False, host="evalkit")
    writer.decide("a")
    writer.close()
    assert done(root, "--spans", trace(tmp_path / "t.jsonl", a="ok")) == {}


def test_a_session_that_is_being_written_is_left(root, tmp_path):
    writer = ledgers.Writer(root, "alpha")
    writer.ts = time.time_ns() // 1000
    writer.decide("a")
    shown = trace(tmp_path / "t.jsonl", a="ok")
    assert done(root, "--spans", shown) == {"a": "busy"}
    assert outcomes(root) == {}
    assert done(root, "--spans", shown, "--idle", "0") == {"a": "outcome"}


def test_other_arguments_are_stated_with_the_end(root, writer, tmp_path):
    writer.decide("a")
    shown = tmp_path / "t.jsonl"
    rows = [vendors.use("a", "alpha", "rm -rf /"), vendors.end("a", "alpha", "ok")]
    shown.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert done(root, "--spans", shown, "--idle", "0") == {"a": "outcome"}
    codes = [item.code for item in verify(str(root)).findings]
    assert codes.count("execution.args_differ") == 1


def test_telemetry_by_content(root, writer, tmp_path):
    writer.decide("made-1-aaaaaaaaaaaa", args={"command": "ls"})
    writer.close()
    arguments = {"gen_ai.tool.call.arguments": json.dumps({"command": "ls"})}
    shown = tmp_path / "t.json"
    shown.write_text(json.dumps(vendors.otlp(vendors.span(None, "alpha", 1, attributes=arguments))))
    assert done(root, "--spans", shown) == {"made-1-aaaaaaaaaaaa": "superseded"}
    last = [row for row in entries(root) if row["kind"] == "outcome"]
    assert {(row["source"], row["join"]) for row in last} == {
        ("close", "id"),
        ("telemetry", "content"),
    }
    assert verify(str(root), spans=load_trace([str(shown)])).findings == []


def test_formats_that_disagree_settle_nothing(root, writer, tmp_path):
    writer.decide("a")
    shown = trace(tmp_path / "t.jsonl", a="ok")
    other = tmp_path / "t.json"
    other.write_text(json.dumps(vendors.otlp(vendors.span("a", "alpha", 1, ok=False))))
    assert done(root, "--spans", shown, "--spans", other, "--idle", "0") == {}


def test_sentences_and_errors(root, writer, tmp_path):
    writer.decide("a")
    shown = trace(tmp_path / "t.jsonl", a="ok")
    text = run("reconcile", root, "--spans", shown, "--idle", "0").output
    assert text == (
        "session alpha: Bash call a: ok (transcript, matched by id): outcome\n1 call recorded\n"
    )
    assert run("reconcile", root).exit_code == 2
    assert run("reconcile", tmp_path / "none", "--spans", shown).exit_code == 3
    assert run("reconcile", root, "--spans", tmp_path / "none").exit_code == 3


ENDINGS = {None: "ok", "interrupted": "interrupted", "rejected_by_user": "rejected"}
STATES = {None: "ok", "interrupted": "cancelled", "rejected_by_user": "refused"}


@pytest.mark.skipif(not CORPORA.is_dir(), reason="recorded sessions are not available here")
def test_recorded_console_sessions(tmp_path):
    with (CORPORA / "agent-claude-console.jsonl").open() as lines:
        rows = [json.loads(line) for line in lines]
    sessions: dict[str, list[dict]] = {}
    for row in rows:
        sessions.setdefault(row["session_id"], []).append(row)
    root, shown = tmp_path / "ledger", tmp_path / "t.jsonl"
    text = []
    for number, (session, calls) in enumerate(sorted(sessions.items())):
        writer = ledgers.Writer(root, session)
        writer.ts = PAST + number * 10**9
        for row in calls:
            writer.decide(row["id"], tool=row["tool_name"], args=row["tool_input"])
            use = vendors.use(row["id"], session)
            use["message"]["content"][0] |= {"name": row["tool_name"], "input": row["tool_input"]}
            text += [use, vendors.end(row["id"], session, ENDINGS[row.get("outcome")])]
        writer.close()
    shown.write_text("".join(json.dumps(row) + "\n" for row in text))
    made = done(root, "--spans", shown)
    assert Counter(made.values()) == {"superseded": len(rows)}
    wanted = {row["id"]: (STATES[row.get("outcome")], "transcript") for row in rows}
    assert outcomes(root) == wanted
    report = verify(str(root), spans=load_trace([str(shown)]))
    assert report.findings == []
    assert report.joins == {"id": len(rows)}
    assert done(root, "--spans", shown) == {}
