"""Splitting a program's arguments into options and operands, by its catalogue entry."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from toolgate.gate.shell.model import Word

Entry = dict[str, Any]
# Roles of an option after which an interpreter leaves the rest to its program: python -m NAME ...
_LAST = frozenset(("module", "python"))

_MOST_ROLES = 64
"""More operand roles than any entry has."""
# What an option begins with.
_SIGNS = frozenset(("-", "+"))


class Parsed(NamedTuple):
    """Arguments, split.

    Args:
        options: each option as written by its canonical spelling, with its value if it takes one.
        operands: the words that are no option.
        rest: for entries whose options stop at the first operand, the words from there on.
        known: options the entry spells out, which are no abbreviation of others.
    """

    options: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]
    rest: tuple[Word, ...]
    known: Collection[str] = ()

    def has(self, names: Collection[str], *, abbreviated: bool = True) -> bool:
        """Say whether one of some options was given.

        Args:
            names: spellings such as ``-r`` or ``--recursive``.
            abbreviated: whether ``--recurs`` counts as ``--recursive``, as GNU programs take it.
        """
        for given, _ in self.options:
            if given in names:
                return True
            if given in self.known:
                continue
            shortened = abbreviated and len(given) > 3 and given.startswith("--")
            if shortened and any(name.startswith(given) for name in names):
                return True
        return False

    def value(self, *names: str) -> Word | None:
        """Return the value of the last of some options, if given."""
        found: Word | None = None
        for given, value in self.options:
            if given in names and value is not None:
                found = value
        return found


def split(arguments: tuple[Word, ...], entry: Entry, *, stop: bool = False) -> Parsed:
    """Split arguments into options and operands.

    Args:
        arguments: the words after the program or subcommand.
        entry: its catalogue entry: ``values`` names the options that take a
            value, ``stop`` ends options at the first operand, ``whole`` means
            that ``-name`` is one option and no cluster, ``late`` options whose
            value is the first operand, behind whatever other options follow.
        stop: whether options end at the first operand whatever the entry says.
    """
    values: dict[str, str] = entry.get("values", {})
    if not arguments:
        return Parsed((), (), (), values)
    if "style" in entry:
        from toolgate.gate.catalog.styles import unfolded

        arguments = unfolded(arguments, entry)
    known = values
    stop = stop or bool(entry.get("stop"))
    if stop and arguments[0].text[:1] not in _SIGNS:
        return Parsed((), (), arguments, known)
    if not any(word.text[:1] in _SIGNS for word in arguments):
        return Parsed((), arguments, (), known)
    late = entry.get("late", ())
    if late:
        values = {name: role for name, role in values.items() if name not in late}
    pending = ""
    whole = bool(entry.get("whole"))
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    position = 0
    while position < len(arguments):
        word = arguments[position]
        text = word.text
        position += 1
        if text == "--":
            if pending and position < len(arguments):
                options.append((pending, arguments[position]))
                position += 1
            if stop:
                return Parsed(tuple(options), tuple(operands), arguments[position:], known)
            operands.extend(arguments[position:])
            break
        first = text[:1]
        if first not in _SIGNS or len(text) < 2 or (first == "+" and text not in values):
            if pending:
                options.append((pending, word))
                return Parsed(tuple(options), tuple(operands), arguments[position:], known)
            if stop:
                return Parsed(tuple(options), tuple(operands), arguments[position - 1 :], known)
            operands.append(word)
            continue
        if whole or first == "+" or text.startswith("--"):
            position = _long(word, arguments, position, values, options)
        else:
            position = _cluster(word, arguments, position, values, options)
        if stop and values.get(options[-1][0]) in _LAST:
            return Parsed(tuple(options), tuple(operands), arguments[position:], known)
        if late and options and options[-1][0] not in values:
            pending = next((name for name, _ in options if name in late), "")
    return Parsed(tuple(options), tuple(operands), (), known)


def _long(
    word: Word,
    arguments: tuple[Word, ...],
    position: int,
    values: dict[str, str],
    options: list[tuple[str, Word | None]],
) -> int:
    name, equals, attached = word.text.partition("=")
    joined = name[:2] + "*"
    if joined in values and len(word.text) > 2:
        options.append((joined, word._replace(text=word.text[2:])))
    elif equals:
        options.append((name, word._replace(text=attached)))
    elif name in values and position < len(arguments):
        options.append((name, arguments[position]))
        position += 1
    elif position < len(arguments) and _may_abbreviate(name, values):
        # Whether it takes the next word is not known: that is read as its value and as operand.
        following = arguments[position]
        options.append((name, None if following.text.startswith("-") else following))
    else:
        options.append((name, None))
    return position


def _may_abbreviate(name: str, values: dict[str, str]) -> bool:
    return len(name) > 3 and any(known.startswith(name) for known in values)


def _cluster(
    word: Word,
    arguments: tuple[Word, ...],
    position: int,
    values: dict[str, str],
    options: list[tuple[str, Word | None]],
) -> int:
    letters = word.text[1:]
    for index, letter in enumerate(letters):
        name = "-" + letter
        if name + "*" in values:
            value = word._replace(text=letters[index + 1 :])
            options.append((name, value if value.text else None))
            break
        if name not in values:
            options.append((name, None))
            continue
        attached = letters[index + 1 :]
        if attached:
            options.append((name, word._replace(text=attached)))
        elif position < len(arguments):
            options.append((name, arguments[position]))
            position += 1
        else:
            options.append((name, None))
        break
    return position


def assign_roles(operands: tuple[Word, ...], roles: Sequence[str]) -> list[tuple[str, Word]]:
    """Pair operands with roles.

    One role may end in ``*`` and takes what the others leave; a role ending in
    ``?`` is dropped when operands run short. Operands beyond the roles repeat
    the last one.
    """
    if not roles:
        return [("text", word) for word in operands]
    before, repeated, after = _arranged(tuple(roles), min(len(operands), _MOST_ROLES))
    if len(before) >= len(operands):
        return list(zip(before, operands, strict=False))
    between = [repeated] * (len(operands) - len(before) - len(after))
    return list(zip((*before, *between, *after), operands, strict=True))


@lru_cache(maxsize=1_024)
def _arranged(roles: tuple[str, ...], count: int) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return the roles that some operands take, those before the repeated one, it, those after.

    Args:
        roles: as in the entry.
        count: how many operands there are; of more than roles, it does not matter how many.
    """
    at = next((i for i, role in enumerate(roles) if role.endswith("*")), len(roles))
    before, after = roles[:at], roles[at + 1 :]
    repeated = roles[min(at, len(roles) - 1)].rstrip("*?")
    head = _shortened(before, count - len(after))[:count]
    kept = min(len(after), count - len(head))
    last = after[len(after) - kept :]
    return (
        tuple(role.rstrip("?") for role in head),
        repeated,
        tuple(role.rstrip("?") for role in last),
    )


def _shortened(roles: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Drop roles that may be absent, from the first on, until no more are left than operands."""
    spare = len(roles) - max(count, 0)
    if spare <= 0:
        return roles
    kept: list[str] = []
    for role in roles:
        if spare and role.endswith("?"):
            spare -= 1
        else:
            kept.append(role)
    return tuple(kept)


def asks_for_help(entry: Entry, parsed: Parsed, name: str, arguments: tuple[Word, ...]) -> bool:
    """Say whether arguments only ask for help or the version; behind a wrapper they do not."""
    if not parsed.options or "wraps" in entry or entry.get("special") == "find":
        return False
    # A subcommand may mean something else by these: docker compose up -V removes volumes.
    program = len(arguments) == 1 and " " not in name
    alone = program and arguments[0].text in ("--version", "-V", "-version")
    return alone or parsed.has(("--help",), abbreviated=False)


def role_of(option: str, roles: dict[str, str]) -> str | None:
    """Return the role of an option's value; a long option may be shortened."""
    found = roles.get(option)
    if found is None and len(option) > 3 and option.startswith("--"):
        return next((role for name, role in roles.items() if name.startswith(option)), None)
    return found
