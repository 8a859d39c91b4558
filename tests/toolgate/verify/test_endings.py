"""How the spans of one call say that it ended, and which calls nobody decided."""

import pytest

from toolgate.canonical import digest, digest_of
from toolgate.verify.endings import Ending, answer_only, ending_of, unmatched
from toolgate.verify.traces.span import CANCELLED, ERROR, OK, REFUSED, STOPPED, Span

DECIDED, RAN, RESULT, END = (digest(name) for name in (b"decided", b"ran", b"result", b"end"))
TRANSCRIPT, ROLLOUT, OTLP = "claude-transcript", "codex-rollout", "otlp-traces"


def span(status, form=OTLP, **more):
    given = {"call": "c", "tool": "Bash", "result_digest": RESULT, "format": form, "id": "1"}
    return Span(**{"where": "x", "session": "s", "status": status, **given, **more})


def ending(*spans):
    return ending_of(spans, "alpha", "Edit", DECIDED)


@pytest.mark.parametrize(
    ("status", "state"),
    [(OK, "ok"), (ERROR, "error"), (CANCELLED, "cancelled"), (STOPPED, "cancelled")],
)
def test_every_field_of_an_end(status, state):
    assert ending(span(status, args_digest=RAN)) == Ending(
        session="alpha",
        call="c",
        tool="Edit",
        decided=None,
        args_digest=RAN,
        result_digest=RESULT,
        terminal_state=state,
        source="telemetry",
        join="id",
        approved=None,
        principal=None,
    )


def test_what_was_refused_has_no_result():
    found = ending(span(REFUSED, TRANSCRIPT, args_digest=RAN))
    assert (found.terminal_state, found.result_digest) == ("refused", None)


@pytest.mark.parametrize("form", [TRANSCRIPT, ROLLOUT])
def test_a_transcript_is_one_wherever_it_stands(form):
    telemetry, own = span(CANCELLED), span(STOPPED, form, call=None)
    for spans in ((telemetry, own), (own, telemetry)):
        found = ending(*spans)
        assert (found.source, found.join, found.call) == ("transcript", "content", None)


def test_arguments_are_those_that_were_decided_where_none_are_shown():
    assert ending(span(OK)).args_digest == DECIDED


def test_a_span_that_says_nothing_is_passed_over():
    assert ending() is None
    assert ending(span(None)) is None
    assert ending(span(None, TRANSCRIPT), span(ERROR)).terminal_state == "error"


@pytest.mark.parametrize(
    ("first", "other", "state"),
    [
        (OK, ERROR, None),
        (ERROR, OK, None),
        (OK, REFUSED, None),
        (STOPPED, REFUSED, "cancelled"),
        (REFUSED, CANCELLED, "cancelled"),  # the transcript's is not agreed with, the other is
        (ERROR, STOPPED, "error"),
        (REFUSED, ERROR, "refused"),
    ],
)
def test_formats_that_disagree_say_nothing(first, other, state):
    found = ending(span(other), span(first, TRANSCRIPT))
    assert (found and found.terminal_state) == state


def test_a_result_is_what_is_known_of_the_end():
    assert ending(span(OK, end_digest=END)).result_digest == RESULT
    assert ending(span(OK, result_digest=None, end_digest=END)).result_digest == END
    named = digest_of({"format": OTLP, "id": "1", "status": OK})
    assert ending(span(OK, result_digest=None)).result_digest == named


def test_an_answer_alone():
    assert answer_only("alpha", "c", "Bash", END, RAN) == Ending(
        session="alpha",
        call="c",
        tool="Bash",
        decided=END,
        args_digest=RAN,
        result_digest=None,
        terminal_state=None,
        source="telemetry",
        join="id",
        approved=None,
        principal=None,
    )


def test_calls_that_nobody_decided():
    found = unmatched(
        [
            span(REFUSED, call="no"),
            span(STOPPED, call="no"),
            span(None, call="no"),
            span(OK, call="a"),
            span(ERROR, call="a"),
            span(ERROR, call="a", session="t"),
            span(CANCELLED, call=None, args_digest=RAN),
            span(OK, call=None, args_digest=RAN),
            span(OK, call=None),
            span(OK, session=None),
            span(OK, call="b", tool=None),
        ]
    )
    assert [(one.session, one.call, one.terminal_state) for one in found] == [
        ("s", "a", "ok"),
        ("t", "a", "error"),
        ("s", None, "cancelled"),
        ("s", "b", "ok"),
    ]
    assert [one.tool for one in found] == ["Bash", "Bash", "Bash", "unknown"]
    assert [one.args_digest for one in found] == [digest_of(None)] * 2 + [RAN, digest_of(None)]
    assert {one.decided for one in found} == {None}
