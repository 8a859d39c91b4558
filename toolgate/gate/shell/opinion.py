"""Another parser's reading of shell text beside ours: do both see the same programs?

The other reading is the syntax tree that ``shfmt --to-json`` prints. Names are
compared, not arguments: what one parser takes for a program and the other does
not is what a silent misreading looks like.

Source: mvdan.cc/sh, syntax/typedjson.
"""

from typing import Any, NamedTuple

from toolgate.gate.shell import words
from toolgate.gate.shell.model import HOLE, Script

_SHOWN = 12
_CLAUSES = frozenset(("unset", "let"))
_PREFIXES = frozenset(("time", "coproc", "command", "builtin", "exec"))


class Names(NamedTuple):
    """The programs another parser sees.

    Args:
        run: named outside every function.
        defined: functions, and what is named inside them.
        open: whether a program's name is no literal.
    """

    run: frozenset[str]
    defined: frozenset[str]
    open: bool


def names_in(tree: Any) -> Names:
    """Return the programs in a tree of shfmt."""
    run: set[str] = set()
    defined: set[str] = set()
    is_open = False
    stack: list[tuple[Any, bool]] = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, list):
            stack.extend((item, inside) for item in node)
            continue
        if not isinstance(node, dict):
            continue
        kind = node.get("Type")
        if kind == "FuncDecl":
            inside = True
            defined.add(str(node.get("Name", {}).get("Value", "")))
        name: str | None = None
        if kind == "CallExpr" and node.get("Args"):
            name = _literal(node["Args"][0])
            is_open = is_open or name is None
        elif kind == "DeclClause":
            name = str(node.get("Variant", {}).get("Value", ""))
        if name:
            (defined if inside else run).add(name)
        stack.extend((value, inside) for key, value in node.items() if key not in ("Pos", "End"))
    return Names(frozenset(run), frozenset(defined), is_open)


def _literal(word: Any) -> str | None:
    """Return a word's text; None where a part of it is expanded."""
    out = ""
    for part in word.get("Parts", ()):
        kind, value = part.get("Type"), str(part.get("Value", ""))
        if kind == "Lit":
            out += words.unquoted(value)
        elif kind == "SglQuoted":
            out += words.ansi_c(value) if part.get("Dollar") else words.quoted(value)
        elif kind == "DblQuoted":
            for inner in part.get("Parts", ()):
                if inner.get("Type") != "Lit":
                    return None
                out += words.double_quoted(str(inner.get("Value", "")))
        else:
            return None
    return None if words.is_glob(out) or "{" in out or out[:1] == "~" else words.finish(out)


def difference(script: Script, theirs: Names) -> str:
    """Return both readings in a line where they differ; "" where they agree."""
    ours: set[str] = set()
    wrapped: set[str] = set()
    for command in script.commands:
        texts = [word.text for word in command.words]
        while texts and texts[0] in _PREFIXES:
            ours.add(texts.pop(0))
            wrapped.update(texts)  # behind options, which are not told apart here
        if texts and HOLE not in texts[0] and not wrapped.intersection(texts[:1]):
            ours.add(texts[0])
    passed_over = theirs.run - ours - wrapped - theirs.defined - _PREFIXES - _CLAUSES
    made_up = ours - theirs.run - theirs.defined - _PREFIXES - {"fork-bomb"}
    if not passed_over and (theirs.open or not made_up):
        return ""
    return f"read here: {_list(ours)}; by the second parser: {_list(set(theirs.run))}"


def _list(names: set[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    return " ".join(shown) + (" ..." if len(names) > _SHOWN else "") or "nothing"
