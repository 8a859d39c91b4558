"""``toolgate catalog``: what the catalogue of programs says, and what it does not know."""

import json
import os
import shutil
from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from toolgate.errors import InputError, PolicyError, UnavailableError

if TYPE_CHECKING:
    from toolgate.gate.effects.trace import Node
    from toolgate.hook.log import Recorded

_CWD = "/workspace"
_MOST_NEAR = 5


@click.group()
def catalog() -> None:
    """Check, show and measure the catalogue of programs."""


@catalog.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
def lint(paths: tuple[str, ...]) -> None:
    """Report every fault of family files, all at once.

    PATH is a family file or a folder of them; without one the families of this package
    are checked. Files given together are checked together: a program may be described
    once.

    Exit codes: 0 no fault, 3 faults, or a file that cannot be read.
    """
    from toolgate.canonical import digest
    from toolgate.gate.catalog.compile import FAMILIES, compile_sources

    sources = _sources(paths or (FAMILIES,))
    try:
        index, _ = compile_sources(sources)
    except PolicyError as error:
        for fault in error.faults:
            click.echo(_plain(fault))
        raise PolicyError("catalogue", [f"{len(error.faults)} faults"]) from None
    click.echo(f"{len(sources)} files, {len(json.loads(index))} programs: good, {digest(index)}")


def _sources(paths: tuple[str, ...]) -> dict[str, bytes]:
    """Return family files by name; of two of the same name the path tells them apart."""
    from toolgate.gate.catalog.compile import sources_of

    made: dict[str, bytes] = {}
    for path in paths:
        try:
            if os.path.isdir(path):
                found = sources_of(path)
            else:
                with open(path, "rb") as file:
                    found = {os.path.basename(path): file.read()}
        except OSError as error:
            raise UnavailableError(f"{path} cannot be read: {error.strerror}") from None
        if not found:
            raise InputError(f"{path} holds no .yaml file")
        for name, data in found.items():
            made[os.path.join(path, name) if name in made else name] = data
    return made


@catalog.command()
@click.argument("program")
@click.argument("subcommands", nargs=-1, metavar="[SUBCOMMAND]...")
@click.option("--json", "as_json", is_flag=True, help="The entry as JSON instead.")
def show(program: str, subcommands: tuple[str, ...], as_json: bool) -> None:
    """Print what the catalogue says of PROGRAM, or of a subcommand, in plain words.

    Exit codes: 0 done, 2 the catalogue does not know it.
    """
    from toolgate.gate.catalog.describe import describe
    from toolgate.gate.catalog.load import shipped

    known = shipped()
    name, entry = program, known.get(program)
    if entry is None:
        raise InputError(f"the catalogue does not know {program}{_near(program, known.names())}")
    for word in subcommands:
        below = entry.get("subcommands") or {}
        if word not in below:
            raise InputError(f"the catalogue lists no {name} {word}{_near(word, list(below))}")
        name, entry = f"{name} {word}", below[word] or {}
    if as_json:
        click.echo(json.dumps({"name": name, "entry": entry}, indent=2, ensure_ascii=False))
        return
    width = shutil.get_terminal_size().columns
    for line in describe(name, entry):
        indent = " " * (len(line) - len(line.lstrip()))
        made = wrap(
            line.strip(),
            width,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_on_hyphens=False,
        )
        click.echo("\n".join(made))


def _near(word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=_MOST_NEAR)
    return f"; did you mean {', '.join(near)}?" if near else ""


@catalog.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--cwd", default=_CWD, show_default=True, help="Directory of calls that name none.")
@click.option("--home", default="", help="Home of calls whose directory does not show one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead.")
def coverage(files: tuple[str, ...], cwd: str, home: str, as_json: bool) -> None:
    """Tell which programs of recorded FILEs the catalogue does not know.

    Reads what simulate reads: rows with tool_name and tool_input, hook payloads and
    transcripts. Counts simple commands, and those that wrappers, substitutions and inner
    texts run. Nothing is executed.
    """
    from toolgate.cli.recorded import recorded
    from toolgate.hook.log import Skipped

    found = Coverage()
    for item in recorded(files, cwd, home, doing="reading"):
        if isinstance(item, Skipped):
            found.skipped[item.reason] += 1
        else:
            found.add(item)
    click.echo(json.dumps(found.as_json(), indent=2) if as_json else _plain(found.text()))


class Coverage:
    """Counts the programs of recorded shell calls."""

    def __init__(self) -> None:
        from toolgate.gate.open import default_gate

        gate = default_gate()
        self._settings, self._catalog = gate.policy.settings, gate.catalog
        self.calls = self.other_calls = 0
        self.known: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.calls_with: Counter[str] = Counter()
        self.subcommands: Counter[str] = Counter()
        self.by_path: Counter[str] = Counter()
        self.not_named = 0
        self.skipped: Counter[str] = Counter()

    def add(self, item: "Recorded") -> None:
        """Count one call."""
        from toolgate.gate.effects.tools import SHELL_TOOLS
        from toolgate.gate.effects.trace import every_node, reading_of

        text = item.call.input.get("command")
        if item.call.tool not in SHELL_TOOLS or not isinstance(text, str):
            self.other_calls += 1
            return
        self.calls += 1
        whole = reading_of(text, item.call.place, self._settings, self._catalog)
        self.calls_with.update({name for node in every_node(whole) for name in self._count(node)})

    def _count(self, node: "Node") -> set[str]:
        """Count one command; return what of it the catalogue does not know."""
        if not node.words:
            return set()
        missing = {
            effect.resource
            for effect in node.effects
            if effect.proof == "unresolved(unknown-subcommand)"
        }
        self.subcommands.update(dict.fromkeys(missing, node.times))
        first = node.words[0]
        name = first.text.rpartition("/")[2]
        if not first.known or first.glob or not name:
            self.not_named += node.times
        elif self._knows(name):
            self.known[name] += node.times
        elif "/" in first.text:
            self.by_path[name] += node.times
            missing.add(name)
        else:
            self.unknown[name] += node.times
            missing.add(name)
        return missing

    def _knows(self, name: str) -> bool:
        from toolgate.gate.effects.shell import entry_of

        return entry_of(self._catalog, name) is not None

    def as_json(self) -> dict[str, Any]:
        """Return every count; what is unknown with the most frequent first."""
        return {
            "shell_calls": self.calls,
            "other_calls": self.other_calls,
            "commands": self._commands(),
            "known": {"commands": self.known.total(), "programs": len(self.known)},
            "unknown": self._rows(self.unknown),
            "unknown_subcommands": self._rows(self.subcommands),
            "run_by_path": self._rows(self.by_path),
            "program_not_known_before_it_runs": self.not_named,
            "skipped": dict(self.skipped),
        }

    def _commands(self) -> int:
        counts = (self.known, self.unknown, self.by_path)
        return sum(count.total() for count in counts) + self.not_named

    def _rows(self, counts: Counter[str]) -> list[dict[str, Any]]:
        rows = [
            {"name": name, "commands": count, "calls": self.calls_with[name]}
            for name, count in counts.items()
        ]
        return sorted(rows, key=lambda row: (-row["commands"], row["name"]))

    def text(self) -> str:
        """Return the counts for people."""
        total, known = self._commands(), self.known.total()
        share = f" ({known / total:.1%})" if total else ""
        lines = [
            f"{self.calls} shell calls, {total} commands",
            f"known: {known} commands{share} of {len(self.known)} programs",
            f"program not known before it runs: {self.not_named} commands",
        ]
        lines += [f"skipped: {count} lines ({reason})" for reason, count in self.skipped.items()]
        lines += _table("unknown program", self._rows(self.unknown))
        lines += _table("unknown subcommand", self._rows(self.subcommands))
        lines += _table("file run by its path, not described", self._rows(self.by_path))
        return "\n".join(lines)


def _table(title: str, rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return ["", f"{title}: none"]
    lines = ["", f"commands   calls  {title}"]
    return lines + [f"{row['commands']:>8}  {row['calls']:>6}  {row['name']}" for row in rows]


def _plain(text: str) -> str:
    """Return text without the characters a terminal obeys, line ends kept."""
    from toolgate.views.sheet import plain

    return "\n".join(plain(line) for line in text.split("\n"))
