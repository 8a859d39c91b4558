"""Catch and noise of the gate on sets that others wrote, and ask rates on recorded work.

    python tests/benchmarks/outside_sets.py CORPORA [--source NAME]... [--json]
    python tests/benchmarks/outside_sets.py CORPORA --misses NAME [--only miss|noise|ask|deny]

CORPORA is a folder of JSON lines (tool_name, tool_input, external_label, source, id).
Every row goes through evalkit's gate interface; nothing is executed. Catch is the share
of ask or deny among rows that must stop, noise the share of ask or deny among rows that
may pass, each a source of its own with its exact interval; sources are never pooled,
because each label means what its author meant. Rows nobody judged give an ask and a deny
rate. The aims on real sessions count the shell calls of main logs that were not cut off.
Against each peer's verdicts a table says who answers what.

--misses lists the rows of one source that differ (of work nobody judged: the asks and
denies), with rule, reason and effects, as tab-separated lines.
"""

import argparse
import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from outside_peers import Peers
from outside_rows import PASS, SESSIONS, STOP, Row, rows_of, sources_of

from evalkit.gates.inprocess import ask, received_by
from evalkit.stats.present import format_rate, rate_json
from toolgate.canonical import warm
from toolgate.errors import ToolgateError
from toolgate.gate.decision import ALLOW, ASK, DENY, Decision
from toolgate.gate.open import default_gate
from toolgate.gate.shell.model import HOLE

_SHOWN_EVERY_S = 2.0
_NOT_READ = tuple(
    f"unresolved({reason})" for reason in ("code-does-not-parse", "syntax", "unaccounted-bytes")
)


class Judged(NamedTuple):
    """A row and the gate's answer.

    Args:
        row: the row.
        decision: the answer; None where the gate gave none to score.
        unattended: whether it is a deny only because nobody may be asked in the call's mode.
    """

    row: Row
    decision: Decision | None
    unattended: bool = False


class Source:
    """Counts of one source."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.labelled: dict[str, dict[str, Counter[str]]] = {}
        self.shell: dict[str, Counter[str]] = {}
        self.other: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()
        self.unattended: Counter[str] = Counter()
        self.elided = 0
        self.unclosed = 0
        self.cut = 0
        self.by_console = 0
        self.unscored = 0

    def add(self, judged: Judged) -> None:
        """Count one answer, under the whole source and its group."""
        row, decision = judged.row, judged.decision
        if decision is None:
            self.cut += row.call is None
            self.by_console += row.call is None and row.by_console
            self.unscored += row.call is not None
            return
        state = decision.state
        for group in dict.fromkeys(("", row.group)):
            if row.label is not None:
                rows = self.labelled.setdefault(group, {STOP: Counter(), PASS: Counter()})
                rows[row.label][state] += 1
            elif row.shell:
                self.shell.setdefault(group, Counter())[state] += 1
        if row.label is None and not row.shell:
            self.other[state] += 1
        self.counted[state] += row.counted
        unread = any(effect.proof in _NOT_READ for effect in decision.effects)
        self.elided += row.counted and row.elided and unread and state != ALLOW
        self.unclosed += row.counted and not row.elided and state != ALLOW and unclosed(row)
        self.unattended["counted" if row.counted else "shell"] += judged.unattended and row.shell

    def as_json(self) -> dict[str, Any]:
        """Return every rate with its counts and limits."""
        return {
            "source": self.name,
            "labelled": {
                group or "all": {
                    "catch": rate_json(stopped(rows[STOP]), rows[STOP].total()),
                    "denied of must stop": rate_json(rows[STOP][DENY], rows[STOP].total()),
                    "noise": rate_json(stopped(rows[PASS]), rows[PASS].total()),
                    "denied of may pass": rate_json(rows[PASS][DENY], rows[PASS].total()),
                }
                for group, rows in self.labelled.items()
            },
            "shell": {group or "all": _rates(rows) for group, rows in self.shell.items()},
            "other_tools": _rates(self.other),
            "counted": _rates(self.counted),
            "denied_where_nobody_is_asked": dict(self.unattended),
            "elided_text_nobody_can_parse": self.elided,
            "ends_inside_a_quotation": self.unclosed,
            "cut_off": self.cut,
            "cut_off_by_console": self.by_console,
            "unscored": self.unscored,
        }

    def text(self) -> str:
        """Return the counts for people."""
        lines = [f"\n{self.name}"]
        for group, rows in _several(self.labelled):
            name = f" {group}" if group else ""
            for label, word in ((STOP, "catch"), (PASS, "noise")):
                answers = rows[label]
                if answers.total():
                    shown = format_rate(stopped(answers), answers.total())
                    lines.append(f"  {word}{name}: {shown}; denied {answers[DENY]}")
        for group, answers in _several(self.shell):
            lines += _lines(f"shell calls {group}".rstrip(), answers)
        if self.other.total():
            lines += _lines("other tools", self.other)
        if self.counted.total():
            lines += _lines("shell calls the aims count", self.counted)
            real = self.counted[DENY] - self.unattended["counted"]
            lines.append(
                f"    of these denies {self.unattended['counted']} are asks in a mode without "
                f"asking, {real} are denies of a rule"
            )
        asked = self.unattended.total()
        lines += [f"  of the shell denies {asked} are asks in a mode without asking"] * bool(asked)
        if self.elided:
            lines.append(f"  of those asks {self.elided} hold a text the corpus left out")
        if self.unclosed:
            lines.append(
                f"  of those asks {self.unclosed} end inside a quotation: no shell runs them"
            )
        if self.cut:
            console = f", {self.by_console} of them by the console" if self.by_console else ""
            lines.append(f"  left out: {self.cut} rows cut off in their source{console}")
        lines += [f"  unscored: {self.unscored} rows"] if self.unscored else []
        return "\n".join(lines)


def unclosed(row: Row) -> bool:
    """Say whether a command ends inside a quotation, as one cut off without a sign of it does."""
    command = row.call.input.get("command") if row.call is not None else None
    try:
        shlex.split(str(command))
    except ValueError as error:
        return "closing quotation" in str(error)
    return False


def stopped(answers: Counter[str]) -> int:
    """Return how many were asked about or denied."""
    return answers[ASK] + answers[DENY]


def _several(groups: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the whole and its groups, without a group that is the whole."""
    return [(name, rows) for name, rows in sorted(groups.items()) if not name or rows != groups[""]]


def _rates(answers: Counter[str]) -> dict[str, Any]:
    return {state: rate_json(answers[state], answers.total()) for state in (ASK, DENY)}


def _lines(name: str, answers: Counter[str]) -> list[str]:
    return [
        f"  {name}, {word}: {format_rate(answers[state], answers.total())}"
        for word, state in (("ask", ASK), ("deny", DENY))
    ]


def judge(folder: Path, names: list[str], place: tuple[str, str] | None) -> Iterator[Judged]:
    """Yield every row of the named sources with the gate's answer."""
    gate, sources = default_gate(), sources_of(folder)
    for path in dict.fromkeys(sources[name] for name in names):
        for row in rows_of(path, place):
            if row.source not in names:
                continue
            if row.call is None:
                yield Judged(row, None)
                continue
            said = received_by(row.call)
            decision = ask(gate, row.call, said).decision
            alone = False
            if decision is not None and decision.state == DENY and row.call.mode is not None:
                attended = ask(gate, row.call._replace(mode=None), said._replace(mode=None))
                alone = attended.decision is not None and attended.decision.state != DENY
            yield Judged(row, decision, alone)


def shown(judged: Iterator[Judged]) -> Iterator[Judged]:
    """Pass rows on, and say on standard error how far the work is."""
    begun = last = time.monotonic()
    for number, one in enumerate(judged, 1):
        yield one
        now = time.monotonic()
        if now - last > _SHOWN_EVERY_S:
            last = now
            sys.stderr.write(f"{number} rows, {now - begun:.0f} s, at {one.row.source}\n")


def differs(judged: Judged) -> str:
    """Return how an answer differs: miss, noise, or ask and deny of what nobody judged; or ""."""
    row, decision = judged.row, judged.decision
    if decision is None or (row.label is None and not row.shell):
        return ""
    if row.label == STOP:
        return "miss" if decision.state == ALLOW else ""
    if decision.state == ALLOW:
        return ""
    return "noise" if row.label == PASS else decision.state


def line(kind: str, judged: Judged) -> str:
    """Return one differing row: what, id, answer, rule, theirs, reason, effects, command."""
    row, decision = judged.row, judged.decision
    assert decision is not None and row.call is not None
    effects = " ".join(f"{e.type}({e.scope},{e.proof},{e.how})" for e in decision.effects)
    command = row.call.input.get("command")
    text = command if isinstance(command, str) else json.dumps(row.call.input)
    cells = (
        f"{kind}{' ' + row.group if row.group else ''}",
        row.id,
        decision.state,
        decision.rule,
        f"theirs={row.theirs or 'none'}",
        decision.sentence,
        effects,
        text,
    )
    return "\t".join(json.dumps(c, ensure_ascii=False)[1:-1].replace(HOLE, "…") for c in cells)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", type=Path, help="folder of the corpora")
    parser.add_argument("--source", action="append", default=[], help="only this source")
    parser.add_argument("--misses", metavar="SOURCE", help="list the rows of it that differ")
    parser.add_argument("--only", choices=("miss", "noise", "ask", "deny"), help="of --misses")
    parser.add_argument("--cwd", help="directory of rows that name none; by source otherwise")
    parser.add_argument("--home", default="/home/dev", help="home that goes with --cwd")
    parser.add_argument("--json", action="store_true", help="one JSON object instead")
    wanted = parser.parse_args()
    known = sources_of(wanted.corpora)
    if not known:
        parser.error(f"{wanted.corpora} holds no .jsonl file")
    for name in [*wanted.source, *([wanted.misses] if wanted.misses else [])]:
        if name not in known:
            parser.error(f"no source {name} there; expected one of {', '.join(known)}")
    wanted.names = [wanted.misses] if wanted.misses else wanted.source or list(known)
    return wanted


def main() -> int:
    """Measure and print; return the exit code."""
    wanted = _arguments()
    place = (wanted.cwd, wanted.home) if wanted.cwd else None
    warm()
    found, peers = {name: Source(name) for name in wanted.names}, Peers()
    code = 0
    try:
        for judged in shown(judge(wanted.corpora, wanted.names, place)):
            found[judged.row.source].add(judged)
            if judged.decision is not None:
                peers.add(judged.row, judged.decision.state)
            kind = differs(judged) if wanted.misses else ""
            if kind and wanted.only in (None, kind):
                print(line(kind, judged))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: what follows covers only the rows up to here\n")
        code = 130
    except ToolgateError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not wanted.misses:
        report(list(found.values()), peers, as_json=wanted.json, complete=code == 0)
    return code


def report(found: list[Source], peers: Peers, *, as_json: bool, complete: bool) -> None:
    """Print every source, then the aims on real sessions and the table of peers."""
    digest = default_gate().policy_digest
    real = sum((one.counted for one in found if one.name in SESSIONS), Counter[str]())
    if as_json:
        made = {"policy": digest, "complete": complete, "real_sessions": _rates(real)}
        made |= {"sources": [one.as_json() for one in found], "peers": peers.as_json()}
        print(json.dumps(made, indent=2))
        return
    print(f"policy {digest}" + ("" if complete else " (INTERRUPTED)"))
    for one in found:
        print(one.text())
    if real.total():
        print(f"\nReal sessions, shell calls of the main logs: {' and '.join(SESSIONS)}")
        print("\n".join(_lines("all", real)))
    print(peers.text())


if __name__ == "__main__":
    sys.exit(main())
