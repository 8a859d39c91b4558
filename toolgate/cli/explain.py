"""``toolgate explain``: how one call is read."""

import json
import os
import shutil
import time
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from toolgate.canonical import parse
from toolgate.cli.policy.files import gate_named
from toolgate.cli.reading import as_json as reading_json
from toolgate.cli.reading import effect_json, tree
from toolgate.errors import CanonicalizationError, InputError, UnavailableError
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.effects.model import OPENING, Effect, is_stored
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.effects.trace import COMMAND, Node, reading_of
from toolgate.gate.engine import Gate
from toolgate.gate.facts.session import NOTHING, PART_MARK, Session
from toolgate.gate.open import gate_for, project_policy
from toolgate.gate.policy.evaluate import evaluate
from toolgate.gate.policy.rule import Rule
from toolgate.gate.policy.speaking import rules_on_effect
from toolgate.gate.shell.model import Word
from toolgate.gate.task.task import Prompt, Task
from toolgate.hook.answer import workspace_roots
from toolgate.hook.disk import OnDisk
from toolgate.views.sheet import plain

if TYPE_CHECKING:
    from toolgate.cli.judged import Judged


@click.command()
@click.option("--tool", default="Bash", show_default=True, help="The tool's name.")
@click.option("--input", "text", required=True, help="Command text, or the tool's input as JSON.")
@click.option("--cwd", default=None, help="Working directory; the current one by default.")
@click.option("--home", default=None, help="Home directory; yours by default.")
@click.option(
    "--disposable",
    multiple=True,
    help="A folder below it that can be made again, as those that git ignores; repeatable.",
)
@click.option("--mode", default=None, help="Permission mode of the host.")
@click.option(
    "--policy",
    "policy_file",
    help="Policy file or shipped policy; the hook's by default.",
)
@click.option("--session", help="Session whose entries count as what went before.")
@click.option("--ledger", help="Ledger of that session; the hook's by default.")
@click.option(
    "--prompt", "prompts", multiple=True, help="What the user wrote; repeatable, oldest first."
)
@click.option("--judge", is_flag=True, help="Show what the policy's judge would be asked.")
@click.option("--ask-judge", is_flag=True, help="Ask it, and decide with what it says.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead.")
def explain(
    tool: str,
    text: str,
    cwd: str | None,
    home: str | None,
    disposable: tuple[str, ...],
    mode: str | None,
    policy_file: str | None,
    session: str | None,
    ledger: str | None,
    prompts: tuple[str, ...],
    judge: bool,
    ask_judge: bool,
    as_json: bool,
) -> None:
    """Show how one call is read: its commands, effects, rules and decision.

    A shell command is shown as the tree of its simple commands: what is piped, substituted
    and run by wrappers stands below. Each has its own effects, with scope, resource and
    whether that is proved, and the rules that speak about them. Nothing is executed.

    Links on the disk are followed, as the hook does; with --cwd or --home the call is one of
    somewhere else, and paths are judged by their names.
    """
    where = os.path.abspath(cwd or os.getcwd())
    gate = _gate(where, policy_file)
    place = Place(
        where,
        (where,),
        os.path.expanduser("~") if home is None else home,
        disposable=tuple(os.path.normpath(os.path.join(where, one)) for one in disposable),
    )
    call = ToolCall(
        host="explain",
        session="explain",
        key=None,
        call=None,
        agent=("main",),
        principal="unknown",
        auth_mode="unknown",
        tool=tool,
        input=_input(tool, text),
        place=place,
        mode=mode,
        task=Task(tuple(Prompt(text) for text in prompts)) if prompts else None,
        ts=time.time_ns() // 1_000,
    )
    known = NOTHING if session is None else _session(session, ledger)
    if cwd is None and home is None:
        known = OnDisk(known, place)
    decision = gate.decide(call, known)
    made = _judged(gate, call, known, decision, ask=ask_judge) if judge or ask_judge else None
    decision = decision if made is None else made.decision
    reading = _reading(gate, call, decision, known)
    said_of_task = _task(gate, call, decision, known)
    if as_json:
        said = {**_as_json(decision), "reading": reading_json(reading)}
        if call.task is not None:
            said["task"] = said_of_task
        if made is not None:
            said["judge"] = {**made.request, "said": made.judgement}
        shown = json.dumps(said, indent=2, ensure_ascii=False)
        click.echo(shown.encode("utf-8", "backslashreplace"))  # as JSON writes half a pair
    else:
        click.echo(_as_text(gate, call, decision, reading, said_of_task))
        if made is not None:
            click.echo("\n".join(["", *made.lines()]))


def _judged(
    gate: Gate, call: ToolCall, session: Session, decision: Decision, *, ask: bool
) -> "Judged":
    from toolgate.cli.judged import judged

    return judged(gate, call, session, decision, ask=ask)


def _gate(where: str, policy_file: str | None) -> Gate:
    """Return a gate under a policy that is named, else the one the hook uses at a place."""
    if policy_file is not None:
        return gate_named(policy_file)
    gate = gate_for(os.environ)
    if rules := project_policy(workspace_roots(where)):
        from toolgate.gate.project import gate_in_project

        gate = gate_in_project(gate, rules)
    return gate


def _session(session: str, ledger: str | None) -> Session:
    """Return what a ledger's entries say of a session."""
    from toolgate.hook.facts import LedgerSession
    from toolgate.ledger.append import Ledger, default_root
    from toolgate.ledger.salt import known_salt

    root = ledger or default_root(os.environ)
    salt = known_salt(root)
    if salt is None:
        raise UnavailableError("the ledger's salt is missing, so no file of a session can be found")
    return LedgerSession(Ledger(root), session, None, salt)


def _reading(gate: Gate, call: ToolCall, decision: Decision, session: Session) -> Node:
    """Return how the call was read; a tool that is no shell is one command."""
    command = call.input.get("command")
    if call.tool in SHELL_TOOLS and isinstance(command, str) and decision.effects:
        return reading_of(command, call.place, gate.policy.settings, gate.catalog, session)
    own = tuple(effect for effect in decision.effects if not is_stored(effect.type))
    return Node(COMMAND, words=(Word(call.tool),), cwd=call.place.cwd, effects=own)


def _input(tool: str, text: str) -> dict[str, object]:
    try:
        value = parse(text.encode("utf-8", "surrogatepass"))
    except CanonicalizationError as error:
        if tool in SHELL_TOOLS:
            return {"command": text}
        raise InputError(f"--input of tool {tool} is {error}; expected a JSON object") from None
    if not isinstance(value, dict):
        if tool in SHELL_TOOLS:
            return {"command": text}
        raise InputError(
            f"--input of tool {tool} is {type(value).__name__}; expected a JSON object"
        )
    return value


def _as_json(decision: Decision) -> dict[str, object]:
    return {
        **decision._asdict(),
        "effects": [effect_json(effect) for effect in decision.effects],
        "facts": [fact._asdict() for fact in decision.facts],
    }


def _stored(decision: Decision) -> list[tuple[str, str]]:
    """Return what written files would do when run, one line a file."""
    files: dict[str, list[str]] = {}
    for effect in decision.effects:
        if is_stored(effect.type):
            path = effect.resource.replace(PART_MARK, " ").strip()
            note = effect.type[len(OPENING) : -1]
            files.setdefault(path, []).append(note)
    return [
        ("" if at else "stored", f"{path}: {', '.join(notes)}")
        for at, (path, notes) in enumerate(files.items())
    ]


def _of_task(call: ToolCall, task: list[dict[str, object]]) -> list[tuple[str, str]]:
    """Return what the prompts say, one line a reading."""
    if call.task is None:
        return []
    from toolgate.cli.task import line

    lines = [("" if at else "task", line(one)) for at, one in enumerate(task)]
    return lines or [("task", "nothing was read of the prompts")]


def _facts(gate: Gate, decision: Decision) -> list[tuple[str, str]]:
    """Return the facts a decision rests on, each with its entry, one line a fact."""
    lines: list[tuple[str, str]] = []
    for fact in decision.facts:
        turns = gate.policy.turns.get(fact.code)
        age = "" if turns is None else f" (counts for {turns} turns)"
        lines.append(("" if lines else "facts", f"{fact.code} {fact.entry}{age}"))
    return lines or [("facts", "none")]


def _task(
    gate: Gate, call: ToolCall, decision: Decision, session: Session
) -> list[dict[str, object]]:
    """Return what is read of the prompts, and what each reading says of the call."""
    if call.task is None:
        return []
    from toolgate.cli.task import told
    from toolgate.gate.policy.evaluate import nothing_known
    from toolgate.gate.weighed import weighed_task

    effects = decision.effects
    verdict = evaluate(gate.policy, call.tool, effects, nothing_known, call)
    made = weighed_task(
        gate.policy,
        call,
        verdict,
        effects,
        nothing_known,
        lambda: gate.reading(call, session),
        call.task,
    )
    return told(made)


def _as_text(
    gate: Gate,
    call: ToolCall,
    decision: Decision,
    reading: Node,
    task: list[dict[str, object]],
) -> str:
    def rules(effect: Effect) -> list[Rule]:
        found = rules_on_effect(gate.policy, call, decision, effect)
        return found or [evaluate(gate.policy, call.tool, (effect,), call=call).rule]

    width = shutil.get_terminal_size().columns
    lines = wrap(plain(f"{decision.state}: {decision.sentence}"), width, break_on_hyphens=False)
    lines += ["", "read as", *tree(reading, rules, cwd=call.place.cwd, width=width), ""]
    if not decision.effects:
        lines[-1:] = ["  nothing: the call could not be read", ""]
    for label, value in (
        *_facts(gate, decision),
        *_stored(decision),
        *_of_task(call, task),
        ("class", decision.action_class),
        ("proof", decision.proof),
        ("rule", decision.rule + (f" ({decision.axis})" if decision.axis else "")),
        ("policy", gate.policy.name),
        ("", decision.policy),
    ):
        lines.append(plain(f"{label:<8} {value}"))
    return "\n".join(lines)
