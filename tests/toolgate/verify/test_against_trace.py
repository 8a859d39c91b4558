"""What a trace is held against, call by call, in forms that few ledgers have."""

import pytest

from toolgate.canonical import digest
from toolgate.verify.against_trace import AgainstTrace, Decided
from toolgate.verify.traces.span import (
    CANCELLED,
    ERROR,
    OK,
    REFUSED,
    STOPPED,
    Answer,
    Loss,
    Span,
    Trace,
)

ARGS, OTHER = digest(b"args"), digest(b"other")


def decided(call="c", state="allowed", terminal="ok", **more):
    values = {
        "entry": f"entry of {call}",
        "event": f"event of {call}",
        "state": state,
        "args": ARGS,
        "call": call,
        "tool": "Bash",
        "agent": "main",
        "turn": 3,
        "told": state,
        "terminal": terminal,
    }
    return Decided(**values | more)


def span(call="c", status=OK, form="f", **more):
    values = {"where": f"{form}:{call}", "session": "s", "tool": "Bash"} | more
    return Span(call=call, status=status, format=form, **values)


class Held:
    """A session held against a trace, and what was found of it."""

    def __init__(self, *spans, answers=(), losses=(), most=None):
        self.found = []
        trace = Trace(tuple(spans), answers=tuple(answers), losses=tuple(losses))
        self.against = AgainstTrace(trace, lambda *item: self.found.append(item), most)

    def session(self, *calls, name="s", executes=True, differ=None, reported=()):
        self.against.session(name, calls, executes=executes, differ=differ or {}, reported=reported)
        return self

    def finish(self, stated=(), refused=None):
        self.against.finish(stated, refused or {})
        return self

    @property
    def codes(self):
        return [item[0].removeprefix("execution.") for item in self.found]


def test_a_call_shown_as_it_was_decided_is_no_finding():
    held = Held(span(args_digest=ARGS)).session(decided()).finish()
    assert held.found == []
    assert held.against.joins == {"id": 1}


def test_a_finding_says_what_and_where():
    held = Held(span(status=ERROR)).session(decided())
    message = "f:c: Bash call c ended error, not ok"
    assert held.found == [("execution.state_differs", "entry of c", message, "s", 3)]


def test_a_call_found_by_its_arguments_says_so():
    held = Held(span(None, ERROR, args_digest=ARGS)).session(decided())
    assert held.found[0][2] == "f:None: Bash call c ended error, not ok (matched by content)"
    assert held.against.joins == {"content": 1}


def test_each_format_is_held_against_the_decision():
    """What one of them says of another decision takes nothing back of what the next shows."""
    first = span(form="f", decision_digest="another")
    held = Held(first, span(form="g", status=ERROR)).session(decided())
    assert held.codes == ["other_decision", "state_differs"]
    held = Held(first, span(form="g")).session(decided(state="denied", terminal=""))
    assert held.codes == ["other_decision", "after_deny"]


def test_a_span_of_the_decision_itself_is_compared_further():
    held = Held(span(status=ERROR, decision_digest="event of c")).session(decided())
    assert held.codes == ["state_differs"]


@pytest.mark.parametrize(("state", "code"), [("denied", "after_deny"), ("asked", "ask_unanswered")])
def test_a_call_that_should_not_have_run_is_said_once(state, code):
    calls = [span(form="f"), span(form="g"), span(form="h", status=CANCELLED)]
    held = Held(*calls).session(decided(state=state, terminal=""))
    assert held.codes == [code]
    assert held.found[0][2].startswith("f:c: shows that Bash call c was ")


def test_behind_a_format_that_shows_it_ran_another_is_compared_still():
    spans = [span(form="f"), span(form="g", status=ERROR)]
    held = Held(*spans).session(decided(state="denied", terminal="refused", result=OTHER))
    assert held.codes == ["after_deny"]
    wrong = span(form="g", status=ERROR, args_digest=OTHER)
    held = Held(spans[0], wrong).session(decided(state="denied", terminal="refused"))
    assert held.codes == ["after_deny", "args_differ"]


@pytest.mark.parametrize(
    ("status", "ran"), [(OK, True), (ERROR, True), (None, True), (STOPPED, True), (REFUSED, False)]
)
def test_where_nothing_executes_a_call_that_is_shown_ran(status, ran):
    held = Held(span(status=status)).session(decided(terminal=""), executes=False)
    assert held.codes == ["in_run"] * ran


@pytest.mark.parametrize("status", [ERROR, None, STOPPED, REFUSED])
def test_a_denied_call_may_be_shown_as_one_that_did_not_run(status):
    assert Held(span(status=status)).session(decided(state="denied", terminal="")).found == []


def test_what_the_ledger_reports_itself_is_not_said_again():
    spans = [span(), span()]
    held = Held(*spans).session(decided(state="denied"), reported={"event of c"})
    assert held.codes == ["span_reused"]
    assert held.found[0][2] == "f:c: shows Bash call c a second time"


def test_other_arguments_than_decided():
    held = Held(span(args_digest=OTHER)).session(decided())
    message = f"f:c: Bash call c ran with {OTHER}, not {ARGS}"
    assert held.found == [("execution.args_differ", "entry of c", message, "s", 3)]
    assert held.against.differ == {("s", "c")}


def test_other_arguments_that_the_ledger_reports_are_known():
    held = Held(span(args_digest=OTHER)).session(decided(), differ={"c": [OTHER]})
    assert (held.found, held.against.differ) == ([], set())


@pytest.mark.parametrize("one", [None, ""])
def test_a_result_that_one_side_has_not_is_not_compared(one):
    assert Held(span(result_digest=one)).session(decided(result=OTHER)).found == []
    assert Held(span(result_digest=OTHER)).session(decided(result=one)).found == []


def test_another_result():
    held = Held(span(result_digest=OTHER)).session(decided(result=ARGS))
    assert held.found[0][2] == f"f:c: Bash call c gave {OTHER}, not {ARGS}"


def test_an_outcome_stands_against_one_that_says_nothing():
    call = decided(terminal="")
    call.end("unresolved", None)
    assert call.terminal == "unresolved"
    call.end("ok", ARGS)
    call.end("unresolved", None)
    assert (call.terminal, call.result) == ("ok", ARGS)
    call.end("error", OTHER)
    assert (call.terminal, call.result) == ("error", OTHER)


# -- ends that only the trace knows


@pytest.mark.parametrize(("terminal", "kept"), [("", 1), ("unresolved", 1), ("ok", 0)])
def test_the_end_of_a_call_without_one_is_kept(terminal, kept):
    held = Held(span(result_digest=OTHER)).session(decided(terminal=terminal))
    assert len(list(held.against.endings)) == kept
    for ending in held.against.endings:
        assert (ending.call, ending.decided, ending.join) == ("c", "event of c", "id")
        assert (ending.args_digest, ending.result_digest) == (ARGS, OTHER)
        assert (ending.session, ending.tool, ending.terminal_state) == ("s", "Bash", "ok")


def test_an_end_found_by_content_says_so_and_has_the_decided_id():
    held = Held(span(None, args_digest=ARGS)).session(decided(terminal=""))
    (ending,) = held.against.endings
    assert (ending.call, ending.join) == ("c", "content")


def test_an_end_found_by_content_says_so_where_only_the_trace_has_an_id():
    call = decided("made-1", terminal="")
    (ending,) = Held(span("x", args_digest=ARGS)).session(call).against.endings
    assert (ending.call, ending.join) == ("made-1", "content")


def test_no_end_is_kept_of_a_denied_call_nor_where_nothing_executes():
    held = Held(span(status=ERROR)).session(decided(state="denied", terminal=""))
    assert list(held.against.endings) == []
    held = Held(span()).session(decided(terminal=""), executes=False)
    assert list(held.against.endings) == []


def test_no_end_is_kept_of_a_call_that_is_not_shown():
    assert list(Held().session(decided(terminal="")).against.endings) == []


def user(call="c", accepted=True, source="user", **more):
    return Answer("log:1", "s", call, accepted, source, **more)


@pytest.mark.parametrize(
    ("shown", "answer", "expected"),
    [
        (OK, None, ("ok", None)),  # it ran: that is its answer
        (ERROR, None, None),  # it may have been refused
        (None, None, None),
        (ERROR, user(source="config"), ("error", None)),
        (REFUSED, user(source="config"), None),
        (ERROR, user(source="config", accepted=False), None),
        (OK, user(person="ann"), ("ok", True)),
        (ERROR, user(), ("error", True)),
        (REFUSED, user(accepted=False), (None, False)),
        (OK, user(accepted=False), ("ok", False)),
        ("absent", user(), (None, True)),
        ("absent", user(accepted=False), (None, False)),
        ("absent", None, None),
        ("absent", user(source="config"), None),
    ],
)
def test_an_ask_takes_its_users_answer(shown, answer, expected):
    spans = [] if shown == "absent" else [span(status=shown)]
    held = Held(*spans, answers=[] if answer is None else [answer])
    held.session(decided(state="asked", terminal=""))
    found = [(one.terminal_state, one.approved) for one in held.against.endings]
    assert found == ([] if expected is None else [expected])
    for one in held.against.endings:
        assert one.principal == (answer.person if answer else None)
        assert (one.session, one.call, one.tool) == ("s", "c", "Bash")
        assert (one.decided, one.args_digest) == ("event of c", ARGS)


def test_an_ask_that_ran_in_ways_not_agreed_has_no_refusal():
    spans = [span(form="f", status=OK), span(form="g", status=ERROR)]
    held = Held(*spans, answers=[user(accepted=False)])
    held.session(decided(state="asked", terminal=""))
    assert list(held.against.endings) == []
    held = Held(*spans, answers=[user()]).session(decided(state="asked", terminal=""))
    assert [(one.terminal_state, one.approved) for one in held.against.endings] == [(None, True)]


def test_what_is_not_listed_is_counted():
    spans = [span("a"), span("b"), span("d"), span("x"), span("y")]
    held = Held(*spans, answers=[user("d"), user("e")], most=1)
    calls = [decided(call, terminal="") for call in "ab"]
    asks = [decided(call, state="asked", terminal="") for call in "de"]
    held.session(*calls, *asks).finish()
    assert [one.call for one in held.against.endings] == ["a"]
    assert [one.call for one in held.against.unmatched] == ["x"]
    assert held.against.unlisted == {"ends": 2, "answers": 2, "unmatched": 1}


# -- calls the host says were rejected


@pytest.mark.parametrize("status", [OK, CANCELLED])
def test_a_rejected_call_that_is_shown_to_have_run(status):
    held = Held(span(status=status), answers=[user(accepted=False)])
    held.session(decided(terminal=""))
    message = "log:1: Bash call c was rejected (user) and ran: the trace shows it"
    assert held.found == [("execution.rejected", "entry of c", message, "s", 3)]


@pytest.mark.parametrize("terminal", ["ok", "error", "timeout"])
def test_a_rejected_call_that_has_an_outcome(terminal):
    held = Held(span(status=None), answers=[user(accepted=False, source="")])
    held.session(decided(terminal=terminal))
    assert held.found[0][2] == (
        "log:1: Bash call c was rejected (by whom is not said) and ran: "
        f"its outcome says {terminal}"
    )


def test_a_rejected_call_that_did_not_run_and_one_let_through():
    for answer, terminal in ((user(accepted=False), "refused"), (user(), "ok")):
        assert (
            Held(span(status=None), answers=[answer]).session(decided(terminal=terminal)).found
            == []
        )
    assert Held(answers=[user(accepted=False)]).session(decided(terminal="")).found == []


# -- calls a trace does not show


def test_before_a_call_that_is_shown_others_are_missing():
    held = Held(span("b")).session(decided("a"), decided("b"))
    message = "Bash call a has an outcome; the trace does not show it"
    assert held.found == [("execution.no_span", "entry of a", message, "s", 3)]


def test_behind_the_last_call_that_is_shown_the_trace_ends():
    held = Held(span("a")).session(decided("a"), decided("b"), decided("d"))
    message = "the trace of session s ends before 2 calls that ran"
    assert held.found == [("execution.trace_ends", "entry of b", message, "s", None)]


@pytest.mark.parametrize(("agent", "whose"), [("main", ""), ("main/x", " of agent main/x")])
def test_a_trace_that_was_not_given(agent, whose):
    held = Held(span("other", session="t")).session(decided(agent=agent))
    message = f"no trace{whose} of session s was given; 1 call of it ran"
    assert held.found == [("execution.trace_missing", "entry of c", message, "s", None)]


def test_each_agent_has_a_trace_of_its_own():
    held = Held(span("a")).session(decided("b", agent="main/x"), decided("a"))
    assert held.codes == ["trace_missing"]


@pytest.mark.parametrize("terminal", ["ok", "error", "timeout", "cancelled"])
def test_a_call_that_ran_must_be_shown(terminal):
    assert Held().session(decided(terminal=terminal)).codes == ["trace_missing"]


@pytest.mark.parametrize(
    ("state", "terminal", "executes"),
    [
        ("allowed", "", True),
        ("allowed", "refused", True),
        ("allowed", "unresolved", True),
        ("denied", "ok", True),
        ("asked", "ok", True),
        ("allowed", "ok", False),
    ],
)
def test_no_other_must(state, terminal, executes):
    held = Held().session(decided(state=state, terminal=terminal), executes=executes)
    assert held.found == []


def test_a_call_that_is_shown_and_need_not_be_tells_where_the_trace_reaches():
    shown = span("b", status=REFUSED)
    held = Held(shown).session(decided("a"), decided("b", state="denied", terminal=""))
    assert held.codes == ["no_span"]


# -- traces that are not whole


def test_a_trace_that_is_not_whole_says_so_once():
    held = Held(span("b"), losses=[Loss("f", "s", "it was cut"), Loss("f", "s", "later")])
    held.session(decided("a"), decided("b"), decided("d"))
    message = "the trace of session s is not whole: it was cut; it does not show 2 calls that ran"
    assert held.found == [("execution.trace_ends", "entry of a", message, "s", None)]


def test_a_trace_that_is_not_whole_and_shows_all_is_named_at_the_first_call():
    held = Held(span("a"), span("b"), losses=[Loss("f", None, "it samples")])
    held.session(decided("a"), decided("b"))
    message = "the trace of session s is not whole: it samples"
    assert held.found == [("execution.trace_ends", "entry of a", message, "s", None)]


def test_a_session_without_a_decision_has_no_trace_to_miss():
    assert Held(losses=[Loss("f", None, "it samples")]).session().found == []


@pytest.mark.parametrize(
    ("losses", "whole"),
    [
        ([Loss("f", "t", "another session's")], True),
        ([Loss("f", "s", "one of two formats")], True),
        ([Loss("g", None, "the other")], True),
        ([Loss("f", "s", "both"), Loss("g", None, "of them")], False),
        ([Loss("h", None, "a format that shows nothing of it")], True),
    ],
)
def test_one_format_that_may_be_whole_is_enough(losses, whole):
    held = Held(span(form="f"), span(form="g"), losses=losses).session(decided())
    assert held.codes == [] if whole else ["trace_ends"]
    if not whole:
        assert "not whole: both" in held.found[0][2]


def test_a_session_no_format_names_lost_what_they_all_lost():
    losses = [Loss("h", None, "it samples"), Loss("i", "s", "it was cut")]
    held = Held(losses=losses).session(decided())
    assert held.found[0][2].startswith("the trace of session s is not whole: it samples;")
    held = Held(losses=[*losses, Loss("j", "t", "another's")]).session(decided())
    assert held.codes == ["trace_missing"]


# -- calls nobody decided


def test_a_call_without_decision():
    held = Held(span("x"), span(None, tool=None, where="f:2", session="t")).session().finish()
    assert held.found == [
        ("execution.no_decision", "f:x", "f:x: Bash call x has no decision", "s", None),
        (
            "execution.no_decision",
            "f:2",
            "f:2: a tool call without id has no decision",
            "t",
            None,
        ),
    ]
    assert [one.call for one in held.against.unmatched] == ["x"]  # t is no session of ours


def test_a_call_the_ledger_reports_itself_is_not_said_again():
    spans = [span("x"), span(None, args_digest=ARGS), span(None, args_digest=OTHER, where="f:3")]
    held = Held(*spans).session().finish(stated={("s", "x"), ("s", ARGS)})
    assert [item[1] for item in held.found] == ["f:3"]


def test_a_call_refused_unread_may_be_shown_once_in_each_format():
    spans = [span(form=form, status=ERROR, where=f"{form}:{at}") for at in (1, 2) for form in "fg"]
    held = Held(*spans).session().finish(refused={("s", "c"): ["entry"]})
    assert [item[:2] for item in held.found] == [
        ("execution.no_decision", "f:2"),
        ("execution.no_decision", "g:2"),
    ]
    held = Held(*spans).session().finish(refused={("s", "c"): ["entry", "again"]})
    assert held.found == []


def test_a_call_refused_unread_that_ran_is_said_once():
    spans = [span(form="f"), span(form="g", status=CANCELLED), span("d", tool=None, status=ERROR)]
    refused = {("s", "c"): ["entry"], ("s", "d"): ["other"]}
    held = Held(*spans).session().finish(refused=refused)
    message = "Bash call c was refused unread and ran: f:c says ok"
    assert held.found == [("execution.after_deny", "entry", message, None, None)]


def test_a_call_refused_unread_is_known_by_its_arguments_where_it_has_no_id():
    nameless = span(None, tool=None, args_digest=ARGS, where="f:1")
    held = Held(nameless).session().finish(refused={("s", ARGS): ["entry"]})
    assert held.found[0][2] == ("a tool call without id was refused unread and ran: f:1 says ok")


@pytest.mark.parametrize("name", [ARGS, "c", "XXXX"])
def test_a_span_that_names_neither_call_nor_arguments_shows_none_that_was_refused(name):
    held = Held(span(None, where="f:1")).session().finish(refused={("s", name): ["entry"]})
    assert held.codes == ["no_decision"]
