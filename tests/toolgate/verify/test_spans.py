"""How the calls of a trace are found, and which word on a prompt is the last."""

import pytest

from toolgate.canonical import digest
from toolgate.verify.spans import MADE, Answers, Spans
from toolgate.verify.traces.span import Answer, Span, Trace

ARGS, OTHER = digest(b"args"), digest(b"other")


def span(where, call=None, args=ARGS, session="s", tool="Bash", form="f"):
    return Span(where, session, call, tool, "ok", args_digest=args, format=form)


def taken(match):
    return None if match is None else [one.where for one in match.spans]


def test_calls_without_ids_are_taken_in_order():
    spans = Spans(Trace((span("1"), span("2", call="x"), span("3"))))
    assert taken(spans.take("s", "a", "Bash", [ARGS])) == ["1"]
    assert taken(spans.take("s", "b", "Bash", [ARGS])) == ["3"]  # 2 has an id, of another call
    assert spans.take("s", "c", "Bash", [ARGS]) is None
    assert [one.where for one in spans.left()] == ["2"]


def test_a_call_whose_id_the_writer_made_takes_one_with_an_id():
    spans = Spans(Trace((span("1", call="x"), span("2"))))
    assert taken(spans.take("s", f"{MADE}1", "Bash", [ARGS])) == ["1"]
    assert taken(spans.take("s", f"{MADE}2", "Bash", [ARGS])) == ["2"]


def test_what_its_own_call_took_is_passed_over():
    spans = Spans(Trace((span("1", call="x"), span("2", call="y"))))
    assert taken(spans.take("s", "x", "Bash", [ARGS])) == ["1"]
    assert taken(spans.take("s", f"{MADE}1", "Bash", [ARGS])) == ["2"]


def test_each_format_shows_a_call_once():
    spans = Spans(Trace((span("1", call="x"), span("2", call="x"), span("3", call="x", form="g"))))
    match = spans.take("s", "x", "Bash", [ARGS])
    assert (taken(match), match.again.where, match.join) == (["1", "3"], "2", "id")
    assert spans.formats_of("s") == ["f", "g"]
    assert spans.formats_of("t") == []


def test_a_session_that_repeats_another_is_no_call_of_its_own():
    spans = Spans(Trace((span("1", call="x"), span("2", call="x", session="resumed"))))
    assert taken(spans.take("s", "x", "Bash", [ARGS])) == ["1"]
    assert spans.left() == []


def test_other_arguments_are_looked_for_behind_those_decided():
    spans = Spans(Trace((span("1", args=OTHER),)))
    assert spans.take("s", "a", "Bash", [ARGS]) is None
    assert taken(spans.take("s", "a", "Bash", [ARGS, OTHER])) == ["1"]


def said(where, ts, session="s", accepted=True, source="user"):
    return Answer(where, session, "c", accepted, source, ts)


@pytest.mark.parametrize(
    ("first", "second", "last"),
    [
        (1, 2, "second"),
        (2, 1, "first"),
        (2, 2, "second"),
        (None, None, "second"),
        (None, 0, "second"),
        (0, None, "second"),
        (1, None, "first"),
        (None, 1, "second"),
    ],
)
def test_the_last_word_counts(first, second, last):
    answers = Answers((said("first", first), said("second", second)))
    assert answers.on("s", "c").where == last


def test_an_answer_without_session_is_of_any():
    answers = Answers((said("any", 9, None), said("own", 1)))
    assert answers.on("s", "c").where == "own"
    assert answers.on("t", "c").where == "any"
    assert answers.on("s", "d") is None


@pytest.mark.parametrize(
    ("accepted", "source", "approved"),
    [
        (True, "user", True),
        (True, "User_temporary", True),
        (True, "config", False),
        (False, "user", False),
    ],
)
def test_only_people_approve(accepted, source, approved):
    answers = Answers((said("x", 1, accepted=accepted, source=source),))
    assert answers.approved("s", "c") is approved
    assert not answers.approved("s", "d")
