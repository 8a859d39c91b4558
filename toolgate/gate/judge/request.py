"""What a judge is shown of a call: redacted first, then cut, and told what was cut. Pure."""

import json
from typing import Any, NamedTuple

from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.effects.model import is_stored
from toolgate.gate.judge.questions import FRAMING, Question, questions_of
from toolgate.gate.policy.judge import Judge
from toolgate.gate.policy.model import Policy
from toolgate.gate.shell.model import HOLE
from toolgate.gate.task.task import Task
from toolgate.redact import by_kind, redact_text, redact_value

MAX_EFFECTS = 64
INPUT_CUT = "part of the tool's input"
EFFECTS_CUT = "some of its effects"
PROMPT_CUT = "part of the latest prompt"
EARLIER_CUT = "earlier prompts, or parts of them"
GOAL_CUT = "part of the session's goal"
TASK_UNSEEN = "prompts that the gate itself does not have"


class Request(NamedTuple):
    """What is asked about one call.

    Args:
        framing: said before every question.
        questions: the questions.
        state: what the judge is shown.
        unseen: what of it was cut or is missing, as phrases; nothing may be allowed then.
    """

    framing: str
    questions: tuple[Question, ...]
    state: dict[str, Any]
    unseen: tuple[str, ...]


def request_of(
    call: ToolCall, task: Task, decision: Decision, policy: Policy, judge: Judge
) -> Request:
    """Return what a policy's judge is asked about a call.

    Args:
        call: the call.
        task: what the user asked for.
        decision: what the gate finds without a judge: its effects and facts are shown.
        policy: the policy, for its axes and trusted hosts.
        judge: its judge.
    """
    unseen: list[str] = []
    known = bool(task.prompts or task.goal)
    state: dict[str, Any] = {
        "tool": call.tool,
        **_input(call, judge.limits.input_chars, unseen),
        "cwd": redact_text(call.place.cwd, by_kind),
        "permission_mode": call.mode,
        "gate": _gate(decision, unseen),
        "trusted_hosts": list(policy.settings.trusted_hosts),
    }
    if known:
        state |= _task(task, judge.limits.task_chars, unseen)
    if known and not task.whole:
        unseen.append(TASK_UNSEEN)
    if task.setting:
        state["setting"] = redact_text(task.setting, by_kind)
    if unseen:
        state["not_shown"] = list(unseen)
    questions = questions_of(judge.asked, policy.axes, task=known)
    return Request(FRAMING, questions, state, tuple(unseen))


def as_text(value: Any) -> str:
    """Return a value as JSON text in ASCII, so that nothing in it is invisible."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _input(call: ToolCall, most: int, unseen: list[str]) -> dict[str, Any]:
    shown = redact_value(call.input, by_kind)
    text = as_text(shown)
    if len(text) <= most:
        return {"tool_input": shown}
    unseen.append(INPUT_CUT)
    half = most // 2
    head, tail = text[:half], text[len(text) - half :]
    return {"tool_input_cut": {"head": head, "left_out": len(text) - 2 * half, "tail": tail}}


def _gate(decision: Decision, unseen: list[str]) -> dict[str, Any]:
    own = [effect for effect in dict.fromkeys(decision.effects) if not is_stored(effect.type)]
    if len(own) > MAX_EFFECTS:
        unseen.append(EFFECTS_CUT)
    return {
        "effects": [
            {
                "type": effect.type,
                "scope": effect.scope,
                "resource": redact_text(effect.resource.replace(HOLE, "…"), by_kind),
                "reversible": effect.reversible,
                "proof": effect.proof,
                "how": effect.how.split(),
            }
            for effect in own[:MAX_EFFECTS]
        ],
        "facts": sorted({fact.code for fact in decision.facts}),
    }


def _task(task: Task, most: int, unseen: list[str]) -> dict[str, Any]:
    """Return the prompts and the goal, the latest prompt first in line for what room there is."""
    made: dict[str, Any] = {}
    left = most
    earlier: list[str] = []
    texts = [redact_text(prompt.text, by_kind) for prompt in reversed(task.prompts)]
    if texts:
        latest = texts[0][:left]
        left -= len(latest)
        if latest != texts[0]:
            unseen.append(PROMPT_CUT)
        for text in texts[1:]:
            if len(text) > left:
                unseen.append(EARLIER_CUT)
                break
            left -= len(text)
            earlier.insert(0, text)
        made["user_prompts"] = {"latest": latest, "earlier": earlier}
    goal = redact_text(task.goal, by_kind)
    if goal and goal not in texts:
        made["session_goal"] = goal[:left]
        if len(goal) > left:
            unseen.append(GOAL_CUT)
    return made
