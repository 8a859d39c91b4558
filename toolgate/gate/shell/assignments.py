"""Variables given values: assignments, and what declares or unsets."""

from typing import TYPE_CHECKING, Any, NamedTuple

from toolgate.gate.shell.model import HOLE, Command, Word

if TYPE_CHECKING:
    from toolgate.gate.shell.parse import Walk

EXPORTS = frozenset(("export", "readonly"))


class Declared(NamedTuple):
    """How variables are declared.

    Args:
        local: as local to the function that runs.
        reference: as names of other variables.
    """

    local: bool = False
    reference: bool = False


def declaration(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk ``export``, ``declare`` and the like."""
    options = [walk.text(child) for child in node.children[1:]]
    flags = "".join(text for text in options if text[:1] == "-")
    if "f" in flags and walk.state.functions:
        walk.faults.add("functions-in-text-run-later")
    keyword = walk.text(node.children[0])
    local = bool(walk.calling) and keyword in ("local", "declare", "typeset")
    declared = Declared(local and "g" not in flags, keyword not in EXPORTS and "n" in flags)
    if walk.state.references and any(text[:2] == "+n" for text in options):
        walk.faults.add("name-reference")
    assigns: list[tuple[str, Word]] = []
    arguments: list[Word] = []
    for position, child in enumerate(node.children):
        if position == 0:
            arguments.append(Word(walk.text(child)))
        elif child.type == "variable_assignment":
            assigns.append(assignment(walk, child, keep=True, declared=declared))
        elif child.type == "variable_name":
            arguments.append(Word(walk.text(child)))
            _declare(walk, walk.text(child), declared)
        else:
            fields = walk.fields(child)
            arguments.extend(fields)
            for word in fields:
                declare_word(walk, word, declared)
    return (walk.add(Command(tuple(arguments), tuple(assigns), (), walk.state.cwd, stdin, piped)),)


def _declare(walk: "Walk", name: str, declared: "Declared") -> None:
    """Take in a variable that is declared without a value."""
    if declared.reference:
        walk.faults.add("name-reference")  # its first value will say which variable it is
    if declared.local:
        walk.state.make_local(name)
        if name in walk.state.values:  # bash unsets it; dash lets it keep its value
            walk.state.set_values(name, [*walk.state.look_up(name), Word("")])


def declare_word(walk: "Walk", word: Word, declared: "Declared") -> None:
    """Take in an assignment that stands in quotes, as a word of its own."""
    name, equals, value = word.text.partition("=")
    if HOLE in name and not name.startswith("-"):
        walk.state.forget()  # which variable is set is not known
    elif equals and name.rstrip("+").isidentifier():
        known = word._replace(text=value if name[-1] != "+" else HOLE)
        _set(walk, name.rstrip("+"), known, None, False, declared)


def _set(
    walk: "Walk",
    label: str,
    word: Word,
    items: tuple[Word, ...] | None,
    appended: bool,
    declared: "Declared",
) -> None:
    """Give a variable its value, or the name of the variable it stands for."""
    if declared.local:
        walk.state.make_local(label)
    if not declared.reference:
        _keep(walk, label, word, items, appended)
    elif not word.known or not walk.state.refer(label, word.text):
        walk.faults.add("name-reference")


def unset(walk: "Walk", node: Any, stdin: tuple[int, ...], piped: bool) -> tuple[int, ...]:
    """Walk ``unset``."""
    for child in node.children[1:]:
        if child.type == "variable_name":
            walk.state.set_values(walk.text(child), [Word("")])
        elif not all(word.known for word in walk.fields(child)):
            walk.state.forget()  # which variables are gone is not known
    return ()


def assignment(
    walk: "Walk", node: Any, *, keep: bool, declared: "Declared | None" = None
) -> tuple[str, Word]:
    """Return the name and the value of an assignment; with ``keep``, later commands see it."""
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    array = value is not None and value.type == "array"
    items = _items(walk, value) if array else None
    if array:
        word = Word(HOLE, sources=tuple(i for item in items or () for i in item.sources))
    else:
        word = walk.single(value) if value is not None else Word("")
    if name is not None and name.type == "subscript":
        walk.substitutions(name)
        word, name = word._replace(text=HOLE), name.children[0]
    label = walk.text(name) if name is not None else ""
    appended = any(child.type == "+=" for child in node.children)
    if appended:
        word = word._replace(text=HOLE)
    if keep:
        _set(walk, label, word, items if array else None, appended, declared or Declared())
    return walk.state.references.get(label, label), word


def _items(walk: "Walk", array: Any) -> tuple[Word, ...] | None:
    """Return an array's words; None where one is put at a place of its own."""
    children = [child for child in array.children if child.is_named]
    items = tuple(item for child in children for item in walk.fields(child))
    return None if any(walk.text(child).startswith("[") for child in children) else items


def _keep(
    walk: "Walk", label: str, word: Word, items: tuple[Word, ...] | None, appended: bool
) -> None:
    before = walk.state.lists.get(label, () if not appended else None)
    walk.state.set_values(label, [word])
    if items is not None and before is not None:
        walk.state.set_list(label, (*before, *items) if appended else items)
