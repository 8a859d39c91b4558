"""Shell source text before it is walked: what is refused outright, and its syntax tree."""

import re
from typing import Any, NamedTuple

from toolgate.gate.shell.grammar import parse
from toolgate.gate.shell.words import has_private
from toolgate.gate.shell.work import SPENT, Work

MAX_CHARACTERS = 32_768
MAX_DEPTH = 60
REFUSED = frozenset(
    (
        "too-long",
        "too-deep",
        "too-many-commands",
        "nul-character",
        "private-use-character",
        "lone-surrogate",
        SPENT,
    )
)
"""Faults of text that is not read at all, because it cannot be or would cost too much."""

MAX_REPAIRS = 32
MAX_PASSES = 4
_BEFORE_GROUPS = (b"! ", b"!\n", b"time", b"coproc")
_OPENINGS = (b"{ ", b"{\n", b"{\t")
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{0,200}")
_OVER_ARGUMENTS = re.compile(rb"\b(for[ \t]+[A-Za-z_][A-Za-z0-9_]{0,40})[ \t]*;?\s{0,40}\bdo\b")
_TOUCHING = re.compile(rb"(<<-?['\"]?[A-Za-z_][A-Za-z0-9_]{0,40}['\"]?)([;&|)<>])")


def refusal(text: str) -> str:
    """Return why text is not read at all; "" when it is."""
    if len(text) > MAX_CHARACTERS:
        return "too-long"
    if has_private(text):
        return "private-use-character"
    if "\x00" in text:
        return "nul-character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "lone-surrogate"
    return "too-deep" if _deepest(text) > MAX_DEPTH else ""


def parsed(text: str, work: Work) -> tuple[bytes, Any, str]:
    """Return source bytes, the root of their syntax tree, and a fault ("" for none).

    Where the grammar is known to misread text, the source is put in a form that
    means the same and is read right.

    Args:
        text: the source.
        work: the steps it may cost.

    Raises:
        SpentError: it would cost more.
    """
    source = text.encode("utf-8")
    root = parse(source, work)
    work.spend(root.descendant_count)
    if root.has_error:
        source, root = _respaced(source, root, work)
    finders = []
    if b"\n" in source:
        finders.append(_line_end_inside)
    if source.count(b"$") > 1:
        finders.append(_torn_dollar)
    if any(mark in source for mark in _BEFORE_GROUPS):
        finders.append(_before_group)
    for finder in finders:
        repairs = passes = 0
        while edits := finder(source, root):
            work.spend(root.descendant_count)
            repairs += len(edits)
            passes += 1
            if repairs > MAX_REPAIRS or passes > MAX_PASSES:
                return source, root, "syntax"  # more of it than is put right
            for edit in sorted(edits, reverse=True):
                source = source[: edit.start] + edit.text + source[edit.end :]
            root = parse(source, work)
    return source, root, ""


class Edit(NamedTuple):
    """Bytes of the source to be replaced."""

    start: int
    end: int
    text: bytes


def _respaced(source: bytes, root: Any, work: Work) -> tuple[bytes, Any]:
    """Parse again in a form that means the same and that the grammar reads right.

    It takes ``<<EOF;`` to be the delimiter ``EOF;``, bash does not; and it does not know
    ``for f do``, which goes through the arguments. Only text that did not parse is
    tried, and only a clean parse is taken.
    """
    spaced = _TOUCHING.sub(rb"\1 \2", source)
    if len(_OVER_ARGUMENTS.findall(spaced)) == 1:
        spaced = _OVER_ARGUMENTS.sub(rb'\1 in "$@"; do', spaced)
    if spaced == source:
        return source, root
    again = parse(spaced, work)
    return (source, root) if again.has_error else (spaced, again)


def _line_end_inside(source: bytes, root: Any) -> list[Edit]:
    """Turn each line end that has come to lie inside a simple command into a semicolon.

    Behind a pipeline of three the grammar joins the next line to the last
    command if it has a redirection, or a redirection that begins the next line
    to the pipeline; in bash a line end ends the command. A
    comment before it would swallow the semicolon and is blanked.
    """
    edits: list[Edit] = []
    stack = [root]
    while stack and len(edits) <= MAX_REPAIRS:
        node = stack.pop()
        if node.type in ("command", "redirected_statement"):
            end = node.start_byte
            comment: int | None = None
            for child in node.children:
                gap = source[end : child.start_byte].replace(b"\\\n", b"  ")
                if b"\n" in gap:
                    line_end = int(end + gap.index(b"\n"))
                    start = line_end if comment is None else comment
                    edits.append(Edit(start, line_end + 1, b" " * (line_end - start) + b";"))
                    break
                end = child.end_byte
                comment = child.start_byte if child.type == "comment" else None
        stack.extend(child for child in node.children if child.child_count)
    return edits


def _torn_dollar(source: bytes, root: Any) -> list[Edit]:
    """Put braces around each variable whose dollar sign the grammar has torn off.

    It reads ``$a/$b/c`` as a word ending in a dollar sign and a word ``b/c``;
    ``$a/${b}/c`` it reads right, and means the same.
    """
    edits: list[Edit] = []
    stack = [root]
    while stack and len(edits) <= MAX_REPAIRS:
        node = stack.pop()
        children = node.children
        if node.type == "concatenation" and children and children[-1].type == "$":
            name = _NAME.match(source, children[-1].end_byte)
            if name:
                edits.append(Edit(name.start(), name.end(), b"{" + name[0] + b"}"))
        stack.extend(child for child in children if child.child_count)
    return edits


def _before_group(source: bytes, root: Any) -> list[Edit]:
    """Blank out each ``!``, ``time`` or ``coproc`` before a group, which the grammar misreads.

    It takes ``{`` for a program then and loses what is piped into and out of
    the group. What these words do themselves harms nothing.
    """
    edits: list[Edit] = []
    stack = [root]
    while stack and len(edits) <= MAX_REPAIRS:
        node = stack.pop()
        children = node.children
        if node.type == "negated_command" and source[children[-1].start_byte :][:2] in _OPENINGS:
            edits.append(Edit(node.start_byte, node.start_byte + 1, b" "))
            continue
        if node.type == "command":
            group = _group_behind(source, children)
            if group is not None:
                edits.append(Edit(node.start_byte, group, b" " * (group - node.start_byte)))
                continue
        stack.extend(child for child in children if child.child_count)
    return edits


def _group_behind(source: bytes, children: list[Any]) -> int | None:
    """Return where a group begins behind the word ``time`` or ``coproc``; None without one."""
    texts = [source[child.start_byte : child.end_byte] for child in children[:3]]
    if texts[0] not in (b"time", b"coproc"):
        return None
    skipped = 1 + (texts[0] == b"coproc" or texts[1:2] == [b"-p"])
    for child, text in zip(children[1 : skipped + 1], texts[1 : skipped + 1], strict=False):
        if text == b"{" or child.type in ("subshell", "compound_statement"):
            return int(child.start_byte)
    return None


def _deepest(text: str) -> int:
    """Return a bound on how deep brackets nest, counting every bracket as one.

    Quoted brackets count too: it bounds the work and need not be exact.
    """
    openings = text.count("(") + text.count("{")
    if openings <= MAX_DEPTH:
        return openings
    depth = deepest = 0
    for char in text:
        if char in "({":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")}" and depth:
            depth -= 1
    return deepest
