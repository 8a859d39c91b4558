"""A run's report as one HTML page that needs nothing but itself.

The cases are data in the page, and its own script makes the table of them, so ten thousand
are no matter. Nothing else is loaded: a content policy names the page's one script and one
style by their digests. Text from outside reaches the page escaped, or as text nodes.
"""

import json
import os
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any

from evalkit.challenge.case import PRE, Case, ChallengeSet
from evalkit.challenge.score import UNSCORED
from evalkit.report.context import short_rate
from toolgate.gate.decision import ALLOW, DENY, STRICTNESS

_TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")
_BRIEF = 160


def page(context: dict[str, Any], made: ChallengeSet) -> str:
    """Return the page.

    Args:
        context: what ``report_context`` returned.
        made: the set, for what the gate was shown.
    """
    style, script = _file("run.css"), _file("run.js")
    by_id = {case.id: case for case in made.cases}
    gate = context["gate"]
    on = f"build {context['build']['short']}" if gate is None else f"gate {gate['name']}"
    from markupsafe import Markup

    values = {
        **context,
        "title": f"{context['set']['label']} on {on}",
        "style": Markup(style),
        "script": Markup(script),
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": Markup(_data([_row(row, by_id[row["case"]], made) for row in context["results"]])),
        "kind_of": kind_of,
    }
    return str(_environment().get_template("run.html.j2").render(values))


def kind_of(expected: str, decided: str) -> str:
    """Return the kind of a cell of the table of expected and decided."""
    if decided == UNSCORED:
        return UNSCORED
    step = STRICTNESS[decided] - STRICTNESS[expected]
    return "match" if step == 0 else "permissive" if step < 0 else "stricter"


def _row(row: dict[str, Any], case: Case, made: ChallengeSet) -> dict[str, Any]:
    dangerous = row["expected"] == DENY and row["decided"] == ALLOW
    scored = case.scored_step().input or {}
    brief = scored.get("command") or scored.get("file_path") or json.dumps(scored)
    return {
        "case": row["case"],
        "category": row["category"],
        "expected": row["expected"],
        "decided": row["decided"],
        "kind": row["kind"],
        "outcome": "dangerous allow" if dangerous else row["kind"],
        "rule": row["rule"],
        "brief": " ".join(str(brief).split())[:_BRIEF],
        "details": [part for part in _details(row, case, made) if part[1]],
    }


def _details(row: dict[str, Any], case: Case, made: ChallengeSet) -> list[tuple[str, str, bool]]:
    """Return what is shown of a case: title, text, and whether it is set as it stands."""
    shown = [
        (
            f"{'scored call' if step.scored else 'earlier call'}: {step.tool}",
            _text(step.input),
            True,
        )
        if step.event == PRE
        else (f"{step.event}", step.result or "", False)
        for step in case.delivered()
    ]
    return [
        *_task(made, case),
        *shown,
        ("what the gate said", row["sentence"], False),
        ("rule, class, axis, proof", _joined(row, "rule", "action_class", "axis", "proof"), False),
        ("where the miss lies", row["place"], False),
        ("effects", ", ".join(row["effects"]), False),
        ("facts", ", ".join(row["facts"]), False),
        ("what it is to rest on", _rests_on(case), False),
        ("why the label", str(case.source.get("rationale") or ""), False),
        ("severity", str(case.severity) if case.severity > 1 else "", False),
        ("decision", row["decision_digest"] or "", False),
    ]


def _task(made: ChallengeSet, case: Case) -> list[tuple[str, str, bool]]:
    """Return what the gate was told of the task: the user's words, and apart from them the rest."""
    task = made.task_of(case)
    if task is None:
        return []
    prompts = [("task, as the gate saw it", prompt.text, True) for prompt in task.prompts]
    return [*prompts, ("setting; not the user's words", task.setting, True)]


def _rests_on(case: Case) -> str:
    """Return what the case says of the mechanism; "" where it says nothing."""
    if case.mechanism is None:
        return ""
    stated = {
        name: ", ".join(value) if isinstance(value, tuple) else value
        for name, value in case.mechanism._asdict().items()
    }
    return "; ".join(f"{name} {value}" for name, value in stated.items() if value)


def _joined(row: dict[str, Any], *names: str) -> str:
    return "; ".join(str(row[name]) for name in names if row[name])


def _text(value: dict[str, Any] | None) -> str:
    """Return a tool's input as it reads best: shell text as it is, else indented JSON."""
    body = value or {}
    if set(body) == {"command"} and isinstance(body["command"], str):
        return body["command"]
    return json.dumps(body, ensure_ascii=False, indent=1)


def _data(rows: list[dict[str, Any]]) -> str:
    """Return rows as JSON that cannot end the element it stands in."""
    import orjson

    text = bytes(orjson.dumps(rows)).decode("utf-8")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _file(name: str) -> str:
    with open(os.path.join(_TEMPLATES, name), encoding="utf-8") as file:
        return file.read()


@cache
def _environment() -> Any:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,  # everything is text from outside
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["short"] = short_rate
    return made
