"""A session's timeline as one HTML page that needs nothing but itself.

The page has no script and names no other resource. Every text goes through
Jinja's escaping, and what a reader could be misled by (characters that are not
printable) is replaced before.
"""

import os
from functools import cache
from typing import Any

from toolgate.verify import Finding, Report
from toolgate.verify.directory import session_name
from toolgate.verify.faults import BY_CODE, MEANING
from toolgate.verify.words import counted
from toolgate.views import phrases
from toolgate.views.drawing import DASHED, overview, picture
from toolgate.views.moments import clock, lasted, moment
from toolgate.views.sheet import plain
from toolgate.views.story import EffectSaid
from toolgate.views.timeline import Call, Timeline, Turn, is_late
from toolgate.views.timeline_text import answer_says, moment_says, turn_says, turn_title

_TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")
_MOST_FINDINGS = 100


def timeline_page(line: Timeline, report: Report, *, path: str, own: frozenset[str]) -> str:
    """Return the page.

    Args:
        line: the session.
        report: what a verification of its ledger found.
        path: where the ledger lies, for the commands on the page.
        own: digests of the session's entries, by which its findings are known.
    """
    context = {
        "session": line.session,
        "verdict": _verdict(line, report, own),
        "facts": _facts(line),
        "tally": _tally(line.calls),
        "legend": [(fate, phrases.SHORT_FATES[fate], said) for fate, said in phrases.FATES.items()],
        "dashed": DASHED,
        "overview": overview(line),
        "turns": [_turn(turn) for turn in line.turns],
        "strays": line.strays,
        "path": path,
    }
    return str(_environment().get_template("timeline.html.j2").render(context))


def _verdict(line: Timeline, report: Report, own: frozenset[str]) -> dict[str, Any]:
    file = f"sessions/{session_name(line.session)}.jsonl:"
    here = [one for one in report.findings if one.entry in own or one.entry.startswith(file)]
    elsewhere = len(report.findings) - len(here)
    return {
        "word": report.verdict,
        "meaning": MEANING[report.verdict].rstrip(":."),
        "layers": list(phrases.LAYERS.items()),
        "checked": report.checked,
        "unchecked": report.unchecked,
        "head": f"{report.head[0]}:{report.head[1]}",
        "findings": [_finding(one) for one in here[:_MOST_FINDINGS]],
        "more": max(len(here) - _MOST_FINDINGS, 0),
        "elsewhere": counted(elsewhere, "finding") if elsewhere else "",
        "none": not report.findings,
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "code": one.code,
        "meaning": BY_CODE[one.code].meaning,
        "message": one.message,
        "entry": one.entry,
        "cause": one.cause,
    }


def _facts(line: Timeline) -> list[tuple[str, str]]:
    facts = [
        (
            "time",
            f"{moment(line.begin)} to {moment(line.until)} ({lasted(line.until - line.begin)})",
        )
    ]
    for part in line.parts:
        label = "host" if len(line.parts) == 1 else f"part {part.number}"
        ended = "still open" if part.end is None else phrases.SESSION_ENDED[part.closed_by or ""]
        facts.append((label, f"{part.host}, from {moment(part.begin)}; {ended}"))
        if part.spawned_by is not None:
            facts.append(("started by", f"decision {part.spawned_by}"))
    if line.shape is None:
        facts.append(("host", "the ledger does not hold the session's opening"))
    if not line.executes:
        facts.append(("run", "a measuring run: calls are decided and nothing is executed"))
    facts.append(("principal", ", ".join(line.principals) or "none"))
    for version, name in line.policies.items():
        facts.append(("policy", f"{name or 'without a name'}, {version}"))
    if line.torn:
        torn = counted(line.torn, "line")
        facts.append(("torn", f"{torn} of its file can not be read as entries"))
    return facts


def _tally(calls: list[Call]) -> list[tuple[str, str, int]]:
    counts = {fate: sum(call.fate == fate for call in calls) for fate in phrases.SHORT_FATES}
    return [(fate, phrases.SHORT_FATES[fate], count) for fate, count in counts.items() if count]


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "number": turn.number,
        "title": turn_title(turn),
        "says": turn_says(turn),
        "picture": picture(turn),
        "lanes": turn.lanes,
        "calls": [_call(call, turn) for call in turn.calls],
        "seals": [
            f"{clock(seal.ts)}: a torn end of {counted(seal.length, 'byte')} was sealed by a "
            f"recovery ({seal.entry})"
            for seal in turn.seals
        ],
    }


def _call(call: Call, turn: Turn) -> dict[str, Any]:
    took = "" if call.end is None else lasted(call.end - call.begin)
    answer = answer_says(call)
    return {
        "number": call.number,
        "name": call.tool,
        "id": call.call,
        "agent": "" if call.agent == "main" else call.agent,
        "began": clock(call.begin),
        "decided": phrases.STATES["asked" if call.asked else call.state],
        "rule": call.rule,
        "because": call.because or "",
        "answer": f"then {answer}" if answer and call.asked else answer,
        "open": call.asked and not answer,
        "fate": call.fate,
        "ended": phrases.SHORT_FATES[call.fate],
        "took": f"after {took}" if took else "",
        "late": is_late(call, turn),
        "says": phrases.FATES[call.fate],
        "differs": bool(call.differences),
        "facts": _call_facts(call),
        "effects": [_effect(one) for one in call.effects],
        "moments": [(clock(one.ts), moment_says(call, one), one.entry) for one in call.moments],
        "decision": call.decision,
    }


def _effect(one: EffectSaid) -> str:
    undo = "can be undone" if one.reversible else "cannot be undone"
    times = "" if one.places == 1 else f", {one.places} places"
    return (
        f"{phrases.effect(one.type)} {phrases.SCOPES[one.scope]}{times}; {undo}; "
        f"{phrases.proof(one.proof)}"
    )


def _call_facts(call: Call) -> list[tuple[str, str]]:
    facts = [("call id", call.call), ("agent", call.agent), ("principal", call.principal)]
    axis = "" if call.axis is None else f"; {phrases.AXES.get(call.axis, call.axis)}"
    facts.append(("class and risk", f"{call.action_class}{axis}"))
    facts.append(("confirmation", phrases.CONFIRMED[call.how]))
    facts += [
        ("arguments", f"it ran with others ({one.ran}) than were decided")
        for one in call.differences
    ]
    facts += [("decision digest", call.decision), ("decision entry", call.entry)]
    return facts


@cache
def _environment() -> Any:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,  # everything is text from outside
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["clock"] = clock
    made.filters["moment"] = moment
    return made


def _shown(value: object) -> object:
    """Return what is printed for a value: text without characters that are not printable."""
    return plain(value) if type(value) is str else value
