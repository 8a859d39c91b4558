"""``toolgate explain``: how one call is read."""

import json
import os

import click

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError, InputError
from toolgate.gate.call import Place, ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.engine import Gate
from toolgate.gate.open import gate_for
from toolgate.gate.policy.match import applies
from toolgate.gate.shell.model import HOLE


@click.command()
@click.option("--tool", default="Bash", show_default=True, help="The tool's name.")
@click.option("--input", "text", required=True, help="Command text, or the tool's input as JSON.")
@click.option("--cwd", default=None, help="Working directory; the current one by default.")
@click.option("--home", default=None, help="Home directory; yours by default.")
@click.option("--mode", default=None, help="Permission mode of the host.")
@click.option("--policy", "policy_file", help="Policy to decide under; the hook's by default.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead.")
def explain(
    tool: str,
    text: str,
    cwd: str | None,
    home: str | None,
    mode: str | None,
    policy_file: str | None,
    as_json: bool,
) -> None:
    """Show the effects, rules and decision of one call. Nothing is executed."""
    gate = gate_for(os.environ, policy_file)
    where = os.path.abspath(cwd or os.getcwd())
    place = Place(where, (where,), os.path.expanduser("~") if home is None else home)
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
        task=None,
        ts=0,
    )
    decision = gate.decide(call)
    if as_json:
        click.echo(json.dumps(_as_json(decision), indent=2, ensure_ascii=False))
    else:
        click.echo(_as_text(gate, tool, decision))


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


def _shown(effect: Effect) -> dict[str, object]:
    return {**effect._asdict(), "resource": effect.resource.replace(HOLE, "…")}


def _as_json(decision: Decision) -> dict[str, object]:
    return {
        **decision._asdict(),
        "effects": [_shown(effect) for effect in decision.effects],
        "facts": [fact._asdict() for fact in decision.facts],
    }


def _as_text(gate: Gate, tool: str, decision: Decision) -> str:
    lines = [f"{decision.state}: {decision.sentence}", "", "effects"]
    for effect in decision.effects:
        resource = effect.resource.replace(HOLE, "…")
        marks = f" [{effect.how}]" if effect.how else ""
        source = f"{effect.program}: {effect.proof}"
        lines.append(f"  {effect.type:<20} {effect.scope:<12} {resource}{marks}  {source}")
        lines += [
            f"    {rule.decide:<5} {rule.name}: {rule.because}"
            for rule in gate.policy.rules_for(effect.type)
            if applies(rule, tool, effect)
        ]
    lines += [
        "",
        f"facts    {len(decision.facts) or 'none'}",
        f"class    {decision.action_class}",
        f"proof    {decision.proof}",
        f"rule     {decision.rule}" + (f" ({decision.axis})" if decision.axis else ""),
        f"policy   {gate.policy.name} {decision.policy}",
    ]
    return "\n".join(lines)
