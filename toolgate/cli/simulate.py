"""``toolgate simulate``: a recorded log under a policy, nothing executed."""

import json
import os
from collections import Counter

import click

from toolgate.cli.recorded import recorded
from toolgate.cli.sessions import Sessions
from toolgate.gate.decision import ALLOW, ASK, DENY, Decision
from toolgate.gate.effects.tools import SHELL_TOOLS
from toolgate.gate.open import gate_for
from toolgate.hook.log import DEFAULT_CWD, Recorded, Skipped

_STATES = (ALLOW, ASK, DENY)
_PROJECT_CODE = "runs-project-code"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--policy", "policy_file", help="Policy to decide under; the hook's by default.")
@click.option(
    "--cwd", default=DEFAULT_CWD, show_default=True, help="Directory of calls that name none."
)
@click.option("--home", default="", help="Home of calls whose directory does not show one.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="One JSON line a call instead.")
@click.option("--json", "as_json", is_flag=True, help="The counts as one JSON object instead.")
def simulate(
    files: tuple[str, ...],
    policy_file: str | None,
    cwd: str,
    home: str,
    as_jsonl: bool,
    as_json: bool,
) -> None:
    """Decide every call of recorded FILEs without executing anything.

    Reads JSON lines: rows with tool_name and tool_input, hook payloads, and
    transcripts, also mixed.
    """
    gate = gate_for(os.environ, policy_file)
    if gate.policy.judge is not None:
        click.echo(f"policy {gate.policy.name}: its judge is not asked here", err=True)
    from toolgate.canonical import warm

    warm()
    tally, sessions = Tally(), Sessions()
    for item in recorded(files, cwd, home, doing="deciding"):
        if isinstance(item, Skipped):
            tally.skipped[item.reason] += 1
            continue
        decision = gate.decide(item.call, sessions.of(item.call))
        sessions.add(item.call, decision, item.outcome)
        if as_jsonl:
            click.echo(json.dumps(_line(item, decision), ensure_ascii=False))
        tally.add(item, decision)
    tally.unfollowed = sessions.unfollowed
    if as_json:
        click.echo(json.dumps({"policy": gate.policy_digest, **tally.as_json()}, indent=2))
    elif not as_jsonl:
        click.echo(tally.text(gate.policy.name, gate.policy_digest, cwd))


def _line(item: Recorded, decision: Decision) -> dict[str, object]:
    return {
        "id": item.id,
        "session_id": item.call.session,
        "tool": item.call.tool,
        "decision": decision.state,
        "rule": decision.rule,
        "axis": decision.axis,
        "proof": decision.proof,
        "facts": sorted({fact.code for fact in decision.facts}),
    }


class Tally:
    """Counts over a simulated log."""

    def __init__(self) -> None:
        self.all: Counter[str] = Counter()
        self.shell: Counter[str] = Counter()
        self.by_source: dict[str, Counter[str]] = {}
        self.shell_by_source: dict[str, Counter[str]] = {}
        self.by_tool: dict[str, Counter[str]] = {}
        self.rules: Counter[tuple[str, str]] = Counter()
        self.skipped: Counter[str] = Counter()
        self.denied: list[tuple[Recorded, Decision]] = []
        self.project_code = 0
        self.assumed_cwd = 0
        self.unfollowed = 0
        self.facts: Counter[str] = Counter()

    def add(self, item: Recorded, decision: Decision) -> None:
        """Count one decision."""
        state, tool = decision.state, item.call.tool
        self.all[state] += 1
        self.by_source.setdefault(item.source, Counter())[state] += 1
        self.by_tool.setdefault(tool, Counter())[state] += 1
        self.rules[(state, decision.rule)] += 1
        self.assumed_cwd += item.assumed_cwd
        self.facts.update({fact.code for fact in decision.facts})
        if tool in SHELL_TOOLS:
            self.shell[state] += 1
            self.shell_by_source.setdefault(item.source, Counter())[state] += 1
            # Counted by effect, so that a call decided by another rule still shows here.
            self.project_code += any(
                effect.type == "exec.code" and effect.scope in ("workspace", "temp")
                for effect in decision.effects
            )
        if state == DENY:
            self.denied.append((item, decision))

    def as_json(self) -> dict[str, object]:
        """Return every count."""
        return {
            "calls": dict(self.all),
            "shell_calls": dict(self.shell),
            "shell_calls_running_project_code": self.project_code,
            "calls_by_fact": dict(sorted(self.facts.items())),
            "writes_without_content": self.unfollowed,
            "by_source": {name: dict(row) for name, row in self.by_source.items()},
            "shell_by_source": {name: dict(row) for name, row in self.shell_by_source.items()},
            "by_tool": {name: dict(row) for name, row in self.by_tool.items()},
            "by_rule": [[*key, count] for key, count in self.rules.most_common()],
            "skipped": dict(self.skipped),
            "denied": [_line(item, decision) for item, decision in self.denied],
        }

    def text(self, policy: str, digest: str, cwd: str) -> str:
        """Return the counts as text for a terminal."""
        total = sum(self.shell.values())
        lines = [
            f"policy {policy} {digest[:19]}",
            "",
            _table("calls", {"all": self.all, "shell": self.shell}),
            f"\nshell calls that run the project's own code: {_share(self.project_code, total)}"
            "\n  (never proved harmless; allowed unless a rule objects, by rule "
            + _PROJECT_CODE
            + ")",
            "\n" + _table("all calls by source", self.by_source),
            "\n" + _table("shell calls by source", self.shell_by_source),
            "\n" + _table("tool", _largest(self.by_tool)),
            "\nrule",
            *(
                f"  {count:>7}  {state:<6} {rule}"
                for (state, rule), count in self.rules.most_common()
            ),
        ]
        if self.skipped or self.assumed_cwd:
            lines.append("")
        lines += [f"skipped: {count} lines ({reason})" for reason, count in self.skipped.items()]
        if self.assumed_cwd:
            lines.append(
                f"{self.assumed_cwd} calls name no directory; judged as starting in {cwd} "
                "and following their session's cd"
            )
        if self.facts:
            lines += ["", "calls that rest on facts of their session"]
            lines += [f"  {count:>7}  {code}" for code, count in sorted(self.facts.items())]
        if self.unfollowed:
            lines.append(f"\n{self.unfollowed} writes are logged without what was written")
        lines.append(f"\ndenied: {len(self.denied)}")
        for item, decision in self.denied:
            lines.append(f"  {item.id} {item.source} {item.call.tool}: {decision.sentence}")
        return "\n".join(lines)


def _largest(rows: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    return dict(sorted(rows.items(), key=lambda item: -sum(item[1].values())))


def _share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.1%})" if total else f"{count} of 0"


def _table(title: str, rows: dict[str, Counter[str]]) -> str:
    width = max([len(title), *(len(name) for name in rows)])
    lines = [f"{title:<{width}}  {'n':>7}" + "".join(f"  {state:>16}" for state in _STATES)]
    for name, counts in rows.items():
        total = sum(counts.values())
        cells = "".join(
            f"  {counts[state]:>7} ({counts[state] / total:6.2%})" if total else ""
            for state in _STATES
        )
        lines.append(f"{name:<{width}}  {total:>7}{cells}")
    return "\n".join(lines)
