"""What a shell text does to its own directory and variables as it runs."""

from collections.abc import Sequence
from posixpath import isabs, join, normpath
from typing import Any, NamedTuple

from toolgate.gate.shell.model import HOLE, Word

MAX_VALUES = 32
OWN_JOB = "%!"
"""Stands for the process id of the last background command of the text itself."""

TEMPORARY = "/tmp/TMPDIR"
"""Stands for the folder that TMPDIR names: temporary, unless the variable is not set at all."""

_SUBSCRIPTS = frozenset(("test", "[", "let", "printf", "read", "unset", "declare", "typeset"))

CHANGES = _SUBSCRIPTS.union(
    ("cd", "pushd", "popd", "set", "shift", "source", ".", "eval", "trap", "alias"),
    ("mapfile", "readarray", "getopts"),
)
"""Builtins that change what the text knows, or may run code while they do."""


class Outer(NamedTuple):
    """What a local variable stands for outside its function.

    Args:
        values: the words it may stand for; None where the text has set none.
        items: the words of the array of that name, where they are known.
        surely: whether it is local on every way through the function.
    """

    values: list[Word] | None
    items: tuple[Word, ...] | None
    surely: bool = True


class State:
    """What the text has set so far: directory and variables.

    ``otherwise`` is the directory if the last ``cd`` failed, ``stops`` whether
    a failure ends the text (``set -e``). A variable holds the words it may
    stand for; none known is one hole. ``lists`` holds arrays, and under ``@``
    the arguments; ``functions`` the bodies a name may have, None among them
    where it may have none. ``outer`` is what variables made local to the function
    that runs stand for outside it, and whether they surely are local; ``references`` the
    variables that other names stand for. All four are replaced, never changed.
    """

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd = cwd
        self.home = home
        self.otherwise = ""
        self.stops = False
        self.aliases: set[str] = set()
        self.lists: dict[str, tuple[Word, ...]] = {}
        self.functions: dict[str, tuple[Any, ...]] = {}
        self.values: dict[str, list[Word]] = {}
        self.outer: dict[str, Outer] = {}
        self.references: dict[str, str] = {}

    def copy(self) -> "State":
        """Return a state that changes apart from this one."""
        other = State.__new__(State)
        other.cwd, other.home = self.cwd, self.home
        other.otherwise, other.stops = self.otherwise, self.stops
        other.values = self.values.copy()
        other.aliases = self.aliases
        other.lists, other.functions = self.lists, self.functions
        other.outer, other.references = self.outer, self.references
        return other

    def refer(self, name: str, target: str) -> bool:
        """Let a name stand for a variable; False where it cannot be followed which one."""
        target = self.references.get(target, target)
        if not target.isidentifier() or target == name:
            return False
        self.references = {**self.references, name: target}
        return True

    def make_local(self, name: str) -> None:
        """Note that a variable is local to the function that runs from here on."""
        if name not in self.outer:
            kept = Outer(self.values.get(name), self.lists.get(name))
            self.outer = {**self.outer, name: kept}

    def leave(self, outer: dict[str, "Outer"], references: dict[str, str]) -> None:
        """Leave a function: its local variables stand again for what they stood for outside.

        Args:
            outer: the local variables of the function around it.
            references: the names that stood for other variables outside.
        """
        self.references = references
        for name, kept in self.outer.items():
            values, items = kept.values, kept.items
            if not kept.surely and name in self.values:
                inside = self.values[name]
                values = list(dict.fromkeys([*(values or [Word(HOLE)]), *inside]))
                items = items if items == self.lists.get(name) else None
            if values is None:
                self.values.pop(name, None)
            else:
                self.set_values(name, values)
            if name in self.lists or items is not None:
                self.set_list(name, items)
        self.outer = outer

    def set_values(self, name: str, values: list[Word]) -> None:
        """Let a variable stand for any of some words."""
        name = self.references.get(name, name)
        self.values[name] = values if len(values) <= MAX_VALUES else [Word(HOLE)]
        if name in self.lists:
            self.set_list(name, None)

    def set_list(self, name: str, items: tuple[Word, ...] | None) -> None:
        """Let an array, or the arguments (``@``), hold some words; None when they are not known."""
        name = self.references.get(name, name)
        self.lists = {key: value for key, value in self.lists.items() if key != name}
        if items is not None and len(items) <= MAX_VALUES:
            self.lists[name] = items

    def item(self, name: str, index: int) -> Word:
        """Return one word of a list; a hole where it is not known which that is."""
        items = self.lists.get(name)
        if items is None or not all(word.known and not word.glob for word in items[:index]):
            return Word(HOLE)
        return items[index] if index < len(items) else Word("")

    def define(self, name: str, body: Any) -> None:
        """Give a name a function's body; None takes in that it may have none."""
        bodies = (body,) if body is not None else (*self.functions.get(name, ()), None)
        self.functions = {**self.functions, name: bodies}

    def forget(self) -> None:
        """Know no variable any more, HOME and PWD included."""
        self.values = {name: [Word(HOLE)] for name in (*self.values, "HOME", "PWD", "TMPDIR")}
        self.lists = {}

    def look_up(self, name: str) -> list[Word]:
        """Return the words a variable may stand for."""
        if self.references:
            name = self.references.get(name, name)
        if name in self.values:
            return self.values[name]
        if name == "!":
            return [Word(OWN_JOB)]
        if name.isdigit() and name != "0":
            return [self.item("@", int(name) - 1)]
        if name == "HOME":
            return [Word(self.home or HOLE)]
        if name == "PWD":
            return [Word(self.cwd or HOLE)]
        if name == "IFS":
            return [Word(" \t\n")]
        if name == "TMPDIR":
            return [Word(TEMPORARY)]
        return [Word(HOLE, variables=(name,) if name.isidentifier() else ())]

    def merge(self, before: "State") -> None:
        """Take in that the changes since ``before`` may not have happened."""
        for name, values in list(self.values.items()):
            earlier = before.look_up(name)
            if values != earlier:
                self.set_values(name, list(dict.fromkeys([*earlier, *values])))
        if self.cwd != before.cwd:
            self.cwd = ""
        if self.lists is not before.lists:
            earlier_lists = before.lists
            self.lists = {
                name: items
                for name, items in self.lists.items()
                if earlier_lists.get(name) == items
            }
        if self.references != before.references:
            self.forget()
        if self.outer is not before.outer:
            earlier_outer = before.outer
            self.outer = {
                name: kept._replace(surely=name in earlier_outer and name in self.outer)
                for name, kept in (*earlier_outer.items(), *self.outer.items())
            }
        if self.functions is not before.functions:
            earlier_bodies = before.functions
            self.functions = {
                name: tuple(
                    dict.fromkeys(
                        (*earlier_bodies.get(name, (None,)), *self.functions.get(name, (None,)))
                    )
                )
                for name in (*earlier_bodies, *self.functions)
            }

    def change(self, arguments: list[Word]) -> set[str]:
        """Follow what a builtin does to directory and variables, or forget them.

        Args:
            arguments: the simple command.

        Returns:
            Faults: what could not be followed.
        """
        faults: set[str] = set()
        while arguments and arguments[0].text in ("command", "builtin"):
            arguments = arguments[1:]
        name = arguments[0].text if arguments else ""
        if name not in CHANGES:
            return faults
        rest = [word.text for word in arguments[1:]]
        if name in ("cd", "pushd"):
            before = self.cwd
            self._change_directory(arguments[1:])
            changed = self.cwd != before and not self.stops
            self.otherwise = before if changed else ""
        elif name == "set":
            self.stops = self.stops or any(_ends_on_failure(text) for text in rest)
            if "--" in rest:
                self.set_list("@", tuple(arguments[2 + rest.index("--") :]))
            elif any(text[:1] not in ("-", "+") for text in rest):
                self.set_list("@", None)
        elif name == "shift":
            self._shift(rest)
        elif name == "popd":
            self.cwd = ""
        elif name in ("source", "."):
            self.forget()  # the file may set anything
        elif name in ("eval", "trap"):
            self.forget()
            self.cwd = ""
            if self.functions:
                faults.add("functions-in-text-run-later")
        elif name == "alias":
            self.aliases.update(text.split("=", 1)[0] for text in rest if "=" in text)
        elif name in ("read", "mapfile", "readarray", "getopts", "let"):
            for text in rest:
                self.set_values(text.partition("=")[0], [Word(HOLE)])
        elif name == "printf" and "-v" in rest[:-1]:
            self.set_values(rest[rest.index("-v") + 1], [Word(HOLE)])
        if name in _SUBSCRIPTS and any(
            "[" in text and HOLE not in text and _runs_code(text) for text in rest
        ):
            faults.add("subscript-runs-code")
        return faults

    def _shift(self, rest: list[str]) -> None:
        count = int(rest[0]) if rest and rest[0].isdigit() and len(rest[0]) < 4 else 1
        items = self.lists.get("@")
        if items is None or (rest and not rest[0].isdigit()):
            self.set_list("@", None)
        elif all(word.known and not word.glob for word in items[:count]):
            # More than there are stay where they are (bash), or the text ends there (dash).
            self.set_list("@", items[count:] if count <= len(items) else items)
        else:
            self.set_list("@", None)  # one of these may be many

    def _change_directory(self, arguments: list[Word]) -> None:
        self.cwd = "" if "CDPATH" in self.values else moved(self.cwd, self.home, arguments)


def moved(cwd: str, home: str, arguments: Sequence[Word]) -> str:
    """Return the directory after a ``cd``; "" when not known.

    Args:
        cwd: the directory before; "" when not known.
        home: the user's home directory; "" when not known.
        arguments: the words behind ``cd``.
    """
    targets = [word for word in arguments if not word.text.startswith("-") or word.text == "-"]
    if not targets:
        return home
    path = targets[0].text
    if HOLE in path or path == "-" or targets[0].glob:
        return ""
    if path.startswith(TEMPORARY):
        return ""  # unset, it leads nowhere, or home
    if isabs(path):
        return normpath(path)
    return normpath(join(cwd, path)) if cwd else ""


def _ends_on_failure(flag: str) -> bool:
    return flag == "errexit" or (flag[:1] == "-" and flag[1:2] != "-" and "e" in flag)


def _runs_code(text: str) -> bool:
    """Say whether text would run a command when bash evaluates it as arithmetic."""
    return "$(" in text or "`" in text
