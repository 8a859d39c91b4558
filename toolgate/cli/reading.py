"""How a call was read, as a tree for a terminal and as JSON."""

from collections.abc import Callable, Iterator
from textwrap import wrap

from toolgate.gate.decision import ALLOW
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.trace import GROUP, PIPE, PROCESS, RUN, SUBSTITUTION, TEXT, Node
from toolgate.gate.policy.rule import Rule
from toolgate.gate.shell.model import HOLE, Redirect, Word
from toolgate.views.sheet import plain

_LONGEST = 240
_LEAST_TEXT = 24
_BARE = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_^…*?~{}[]!"
)
_PLACES = {"container": "in a container: ", "remote-host": "on another machine: "}
_ROLES = {SUBSTITUTION: "$( ) ", PROCESS: "<( ) "}


def tree(node: Node, rules: Callable[[Effect], list[Rule]], *, cwd: str, width: int) -> list[str]:
    """Return a reading as lines.

    Args:
        node: the whole text, or a tool's call as one command.
        rules: returns the rules that speak about an effect.
        cwd: where the call starts; a command says where it runs if that is elsewhere.
        width: columns of the terminal.
    """
    drawing = _Drawing(rules, cwd, width)
    if node.kind == TEXT:
        drawing.effects(node, "  ")  # what could not be read
        drawing.branches(node.below, "  ")
    else:
        drawing.node(node, "  ", "  ")
    return drawing.lines


class _Drawing:
    """Collects the lines of a tree."""

    def __init__(self, rules: Callable[[Effect], list[Rule]], cwd: str, width: int) -> None:
        self._rules = rules
        self._cwd = cwd
        self._width = width
        self.lines: list[str] = []

    def branches(self, nodes: tuple[Node, ...], indent: str) -> None:
        for position, node in enumerate(nodes):
            last = position == len(nodes) - 1
            self.node(
                node, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")
            )

    def node(self, node: Node, first: str, rest: str) -> None:
        below = node.below
        if len(below) == 1 and below[0].kind == TEXT and len(below[0].below) == 1:
            # A text of one command is told by that command, and what it could not read by itself.
            (text,) = below
            below = text.below
            node = node._replace(effects=node.effects + text.effects)
        self._say(_title(node, self._cwd), first, rest + "  ")
        self.effects(node, rest + ("│ " if below else "  "))
        self.branches(below, rest)

    def effects(self, node: Node, indent: str) -> None:
        for effect in node.effects:
            self._say(_effect(effect), indent, indent + "    ")
            for rule in self._rules(effect):
                why = "" if rule.decide == ALLOW else f": {rule.because}"
                self._say(f"{rule.decide} {rule.name}{why}", indent + "  ", indent + "    ")

    def _say(self, text: str, first: str, rest: str) -> None:
        width = max(self._width, len(rest) + _LEAST_TEXT)
        self.lines += wrap(
            plain(text),
            width,
            initial_indent=first,
            subsequent_indent=rest,
            break_on_hyphens=False,
        ) or [first.rstrip()]


def _effect(effect: Effect) -> str:
    marks = f" [{effect.how}]" if effect.how else ""
    return f"{effect.type}  {effect.scope}  {_cut(_shown(effect.resource))}{marks}  {effect.proof}"


def _title(node: Node, cwd: str) -> str:
    role = _ROLES.get(node.role, "")
    if node.kind == PIPE:
        return role + "pipe"
    if node.kind == GROUP:
        return role + "all of"
    if node.kind == TEXT:
        return role + _PLACES.get(node.inside, "") + "shell text"
    title = role + ("runs " if node.kind == RUN else "") + _PLACES.get(node.inside, "")
    title += _cut(" ".join(_command(node)))
    if node.cwd not in ("", cwd):
        title += f"  (in {_shown(node.cwd.removeprefix(cwd + '/'))})"
    return title + (f"  (read {node.times} times)" if node.times > 1 else "")


def _command(node: Node) -> Iterator[str]:
    for name, word in node.assigns:
        yield f"{name}={_quoted(word)}"
    yield from (_quoted(word) for word in node.words)
    if not node.words and not node.assigns:
        yield "{ }"
    for redirect in node.redirects:
        between = "" if redirect.op.endswith("&") else " "
        yield f"{redirect.op}{between}{_target(redirect)}".rstrip()


def _target(redirect: Redirect) -> str:
    text = redirect.target.text
    if redirect.op != "<<":
        return _quoted(redirect.target)
    lines = text.count("\n")
    return f"({lines} {'line' if lines == 1 else 'lines'})"


def _quoted(word: Word) -> str:
    if word.process:
        return "<(…)"
    text = _shown(word.text)
    if text and _BARE.issuperset(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def _shown(text: str) -> str:
    return text.replace(HOLE + HOLE, HOLE).replace(HOLE, "…").replace("\n", "⏎")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def as_json(node: Node) -> dict[str, object]:
    """Return a reading as JSON; what is not known in a text is written as ``…``."""
    made: dict[str, object] = {"kind": node.kind}
    if node.role:
        made["role"] = node.role
    if node.kind == TEXT:
        made["text"] = node.source
    elif node.kind not in (PIPE, GROUP):
        made["words"] = [_exact(word) for word in node.words]
        made["assigns"] = {name: _exact(word) for name, word in node.assigns}
        made["redirects"] = [{"op": r.op, "target": _exact(r.target)} for r in node.redirects]
        made["cwd"] = _exact(Word(node.cwd))
        made["times"] = node.times
    if node.inside:
        made["inside"] = node.inside
    made["effects"] = [effect_json(effect) for effect in node.effects]
    made["below"] = [as_json(one) for one in node.below]
    return made


def effect_json(effect: Effect) -> dict[str, object]:
    """Return an effect as JSON."""
    return {**effect._asdict(), "resource": effect.resource.replace(HOLE, "…")}


def _exact(word: Word) -> str:
    return word.text.replace(HOLE, "…")
