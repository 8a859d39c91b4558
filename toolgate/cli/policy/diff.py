"""``toolgate policy diff``: recorded calls on which two policies differ."""

import json
from collections import Counter
from typing import NamedTuple

import click

from toolgate.cli.policy.files import gate_named
from toolgate.cli.recorded import recorded
from toolgate.cli.sessions import Sessions
from toolgate.gate.decision import ALLOW, ASK, DENY, STRICTNESS, Decision
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.engine import Gate
from toolgate.hook.log import DEFAULT_CWD, Recorded, Skipped
from toolgate.views.sheet import plain

_STATES = (ALLOW, ASK, DENY)
_SHOWN = 100


class Changed(NamedTuple):
    """A call that the two policies answer differently."""

    item: Recorded
    old: Decision
    new: Decision


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--log", "logs", multiple=True, required=True, help="A recorded log; repeatable.")
@click.option("--cwd", default=DEFAULT_CWD, show_default=True, help="Of calls that name none.")
@click.option("--home", default="", help="Home of calls whose directory does not show one.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="One JSON line a changed call instead.")
def diff(old: str, new: str, logs: tuple[str, ...], cwd: str, home: str, as_jsonl: bool) -> None:
    """Show which recorded calls change decision from policy OLD to policy NEW.

    Each is a file, or a shipped policy by its name. Every call of the logs is decided under
    both, each in its session; nothing is executed.

    Exit codes: 0 done, 2 a log cannot be read as one, 3 a policy is refused or a file is missing.
    """
    before, after = gate_named(old), gate_named(new)
    counts: Counter[tuple[str, str]] = Counter()
    rules: Counter[tuple[str, str, str]] = Counter()
    changed: list[Changed] = []
    skipped = 0
    sides = [(before, Sessions()), (after, Sessions())]
    for item in recorded(logs, cwd, home, doing="deciding"):
        if isinstance(item, Skipped):
            skipped += 1
            continue
        first, second = (_decided(*side, item) for side in sides)
        counts[first.state, second.state] += 1
        if first.state == second.state:
            continue
        rules[first.state, second.state, _because(first, second)] += 1
        if as_jsonl:
            click.echo(json.dumps(_line(item, first, second), ensure_ascii=False))
        elif len(changed) < _SHOWN:
            changed.append(Changed(item, first, second))
    if not as_jsonl:
        click.echo(_text(before, after, counts, rules, changed, skipped))


def _decided(gate: Gate, sessions: Sessions, item: Recorded) -> Decision:
    decision = gate.decide(item.call, sessions.of(item.call))
    sessions.add(item.call, decision, item.outcome)
    return decision


def _because(old: Decision, new: Decision) -> str:
    """Return the rule that makes the difference: the stricter answer's."""
    return new.rule if STRICTNESS[new.state] > STRICTNESS[old.state] else old.rule


def _line(item: Recorded, old: Decision, new: Decision) -> dict[str, object]:
    return {
        "id": item.id,
        "session_id": item.call.session,
        "tool": item.call.tool,
        "old": {"decision": old.state, "rule": old.rule},
        "new": {"decision": new.state, "rule": new.rule},
        "input": item.call.input,
    }


def _text(
    before: Gate,
    after: Gate,
    counts: Counter[tuple[str, str]],
    rules: Counter[tuple[str, str, str]],
    changed: list[Changed],
    skipped: int,
) -> str:
    total = counts.total()
    moved = sum(count for (old, new), count in counts.items() if old != new)
    lines = [
        f"old {before.policy.name} {before.policy_digest}",
        f"new {after.policy.name} {after.policy_digest}",
        "",
        f"{moved} of {total} calls change decision"
        + (f"; {skipped} lines hold no call to decide" if skipped else ""),
        "",
        "old \\ new " + "".join(f"{state:>10}" for state in _STATES),
    ]
    lines += [
        f"{old:<10}" + "".join(f"{counts[old, new]:>10}" for new in _STATES) for old in _STATES
    ]
    if rules:
        lines += ["", "by the rule that makes the difference"]
    lines += [
        f"  {count:>7}  {old} -> {new}  {rule}" for (old, new, rule), count in rules.most_common()
    ]
    if changed:
        lines.append("")
    lines += [plain(_shown(one)) for one in changed]
    if moved > len(changed):
        lines.append(f"... and {moved - len(changed)} more; --jsonl lists every one")
    return "\n".join(lines)


def _shown(one: Changed) -> str:
    call = one.item.call
    command = call.input.get("command") if call.tool in SHELL_TOOLS else None
    said = f" {command:.100}" if isinstance(command, str) else ""
    change = f"{one.old.state} ({one.old.rule}) -> {one.new.state} ({one.new.rule})"
    return f"{one.item.id} {change}: {call.tool}{said}"
