"""Expansion of shell words over a syntax tree: what is known stays, the rest is a hole."""

from typing import Any

from toolgate.gate.shell import words
from toolgate.gate.shell.model import HOLE, Command, Word
from toolgate.gate.shell.state import MAX_VALUES, State
from toolgate.gate.shell.work import Work

MAX_WORD = 16_384
MAX_SAID_TWICE = 16
_BARE_LEAVES = frozenset(("word", "regex", "extglob_pattern"))
_LIST_NODES = frozenset(("string", "simple_expansion", "expansion"))
_EXPANSIONS = frozenset(("simple_expansion", "expansion"))
_SEPARATORS = frozenset(("$IFS", "${IFS}"))
_STRING_PARTS = frozenset(('"', "string_content"))
BLANKS = " \t\n\r\f\v"


class Expander:
    """Turns word nodes into words. ``Walk`` adds the statements."""

    commands: list[Command]

    def __init__(self, source: bytes, state: State, work: Work) -> None:
        self._source = source
        self.work = work
        # Where every character is one byte, text is cut without decoding it anew.
        self._ascii = source.decode("ascii") if source.isascii() else ""
        self.state = state
        self.faults: set[str] = set()
        self.doubtful = False
        self.looping = 0

    def nested(self, node: Any) -> tuple[int, ...]:
        """Walk a substitution and return its commands."""
        raise NotImplementedError

    def text(self, node: Any) -> str:
        """Return a node's source text."""
        return self._slice(node.start_byte, node.end_byte)

    def _slice(self, start: int, end: int) -> str:
        if self._ascii:
            return self._ascii[start:end]
        try:
            return self._source[start:end].decode("utf-8")
        except UnicodeDecodeError:  # the grammar ended a node inside a character
            self.faults.add("syntax")
            return HOLE

    def continues(self, start: int, end: int) -> bool:
        """Say whether only a line continuation stands between two nodes: they are one word."""
        return self._source[start:end] == b"\\\n"

    def gap(self, start: int, end: int) -> bytes:
        """Return the bytes between two nodes; a fault if they mean anything."""
        if start >= end:
            return b""
        between = self._source[start:end]
        if between != b" " and between.replace(b"\\\n", b"").strip(b" \t\r\n"):
            self.faults.add("unaccounted-bytes")
        return between

    def substitutions(self, node: Any) -> tuple[int, ...]:
        """Walk every substitution below a node that is no word itself."""
        made: tuple[int, ...] = ()
        stack = [node]
        self.work.spend(node.descendant_count)
        while stack:
            item = stack.pop()
            if item.type in ("command_substitution", "process_substitution"):
                made += self._substitution(item)
            elif item.type == "ERROR":
                self.faults.add("syntax")
            else:
                if item.type == "expansion":
                    self._inside_expansion(item, [c for c in item.children if c.is_named])
                elif item.type in _BARE_LEAVES and _bare_backtick(self.text(item)):
                    self.faults.add("nested-backticks")
                stack.extend(reversed(item.children))
        return made

    def single(self, node: Any) -> Word:
        """Return a node's one value, as in an assignment: no splitting, no braces."""
        parts = self._pieces(node, False)
        if len(parts) == 1:
            return parts[0]._replace(text=words.finish(_tilde(parts[0].text, self.state.home)))
        return unknown(parts)

    def fields(self, node: Any) -> list[Word]:
        """Return the words a node becomes as an argument."""
        self.work.spend(2)
        if self.state.lists and node.type in _LIST_NODES:
            listed = self._listed(node)
            if listed is not None:
                return listed
        literal = self._literal(node)
        if literal is not None:
            return [Word(literal)]
        quotes = any(mark in self.text(node) for mark in "'\"")
        pieces = self._pieces(node, True)
        if node.type in _EXPANSIONS and not any(piece.text for piece in pieces):
            return []  # an empty value that nothing quotes makes no word
        return spread(pieces, self.state.home, self.work, quotes=quotes)

    def _literal(self, node: Any) -> str | None:
        """Return a node's text if it stands for itself, as most words do; None to look closer."""
        kind = node.type
        if kind in ("word", "number"):
            raw = self.text(node)
            return raw if not node.child_count and words.is_plain(raw) else None
        if kind == "raw_string":
            return self.text(node)[1:-1]
        if kind == "string" and all(child.type in _STRING_PARTS for child in node.children):
            raw = self.text(node)
            closed = len(raw) > 1 and raw[-1] == '"' and "\\" not in raw
            return raw[1:-1] if closed else None
        return None

    def _listed(self, node: Any) -> list[Word] | None:
        """Return the words of ``"$@"`` or ``"${list[@]}"``; None for any other node."""
        raw = self.text(node)
        quoted = raw[:1] == '"'
        inside = raw[1:-1] if quoted else raw
        if inside in ("$@", "${@}") or (not quoted and inside in ("$*", "${*}")):
            name = "@"
        elif inside.endswith("[@]}") and inside[2:-4].replace("_", "a").isalnum():
            name = inside[2:-4]
        else:
            return None
        items = self.state.lists.get(self.state.references.get(name, name))
        if items is None:
            return None
        if quoted:
            return list(items)
        if "IFS" in self.state.values:
            return None
        return [
            word._replace(text=field)
            for word in items
            for field in (word.text.split() if word.known else [word.text])
        ]

    def heredoc_text(self, node: Any) -> Word:
        """Return the text of an unquoted here-document's body."""
        parts = [self._between(node, node.start_byte, node.children, quote=words.quoted)]
        text = "".join(part.text for part in parts)
        raw = self.text(node)
        if _bare_backtick(raw):
            # The grammar does not see backticks here (they would run), so nobody has read them.
            self.faults.add("backtick-in-heredoc")
        made = unknown(parts)
        self.doubtful = self.doubtful or bool(made.sources)
        return made._replace(text=words.finish(text))

    def _pieces(self, node: Any, splitting: bool) -> list[Word]:
        """Return marked words: one, or several where an unquoted variable has several values."""
        self.work.spend(3 + (node.end_byte - node.start_byte) // 6)
        kind = node.type
        if kind in (
            "word",
            "number",
            "extglob_pattern",
            "regex",
            "test_operator",
            "brace_expression",
        ):
            if node.child_count and kind != "number":
                return [self._between(node, node.start_byte, node.children, quote=words.unquoted)]
            raw = self.text(node)
            if _bare_backtick(raw):
                self.faults.add("nested-backticks")
            if kind == "word" and _blank_inside(raw):
                self.faults.add("syntax")  # the grammar has taken two words for one
            return [Word(words.unquoted(raw))]
        if kind == "raw_string":
            return [Word(words.quoted(self.text(node)[1:-1]))]
        if kind == "ansi_c_string":
            return [Word(words.ansi_c(self.text(node)[2:-1]))]
        if kind == "string":
            return [self._string(node)]
        if kind == "translated_string":
            return self._pieces(node.children[-1], splitting)
        if kind in ("simple_expansion", "expansion"):
            return self._variable(node, splitting)
        if kind in ("command_substitution", "process_substitution"):
            return [self._substituted(node)]
        if kind == "concatenation":
            return self._concatenation(node, splitting)
        if kind == "arithmetic_expansion":
            from toolgate.gate.shell.arithmetic import stands_for

            return [stands_for(self, node)]
        return [Word(HOLE, sources=self.substitutions(node))]

    def _concatenation(self, node: Any, splitting: bool) -> list[Word]:
        alternatives: list[Word] = [Word("")]
        fields: list[Word] = []
        for position, child in enumerate(node.children):
            if splitting and "IFS" not in self.state.values and self.text(child) in _SEPARATORS:
                # Blanks in the midst of a word, written so that none is seen.
                fields += [word for word in alternatives if word.text]
                alternatives = [Word("")]
                continue
            pieces = self._pieces(child, True)
            if child.type == "simple_expansion" and self._braces_follow(node, position):
                return [Word(HOLE, sources=self.substitutions(node))]  # $x{a,b} is $xa $xb
            if len(alternatives) * len(pieces) > MAX_VALUES:
                pieces = [Word(HOLE)]
            alternatives = [joined(left, right) for left in alternatives for right in pieces]
            self.work.spend(2 * len(alternatives) + len(alternatives[0].sources) // 8)
        if not fields:
            return alternatives
        return (fields + [word for word in alternatives if word.text])[: words.MAX_FIELDS + 1]

    def _braces_follow(self, node: Any, position: int) -> bool:
        following = node.children[position + 1 : position + 2]
        return bool(following) and self._source[following[0].start_byte :][:1] == b"{"

    def _string(self, node: Any) -> Word:
        inside = [child for child in node.children if child.type != '"']
        last = node.end_byte - (1 if node.children and node.children[-1].type == '"' else 0)
        return self._between(node, node.start_byte + 1, inside, end=last, quote=words.double_quoted)

    def _between(
        self, node: Any, start: int, children: list[Any], *, quote: Any, end: int | None = None
    ) -> Word:
        """Join a node's substitutions with the literal bytes between them."""
        made = Word("")
        for child in children:
            if child.type in ("string_content", "heredoc_content"):
                continue
            if not child.is_named and child.type != "$":
                continue
            made = joined(made, Word(quote(self._slice(start, child.start_byte))))
            start = child.end_byte
            if child.type == "$":
                made = joined(made, Word("$"))
                continue
            pieces = self._pieces(child, False)
            made = joined(made, pieces[0] if len(pieces) == 1 else unknown(pieces))
            self.work.spend(2 + len(made.sources) // 8)
        return joined(made, Word(quote(self._slice(start, node.end_byte if end is None else end))))

    def _variable(self, node: Any, splitting: bool) -> list[Word]:
        named = [child for child in node.children if child.is_named]
        sources = self.substitutions(node)
        if node.type == "expansion":
            self._inside_expansion(node, named)
        plain = len(named) == 1 and all(
            child.is_named or child.type in ("$", "${", "}") for child in node.children
        )
        if plain and named[0].type != "subscript":
            values = self.state.look_up(self.text(named[0]))
        else:
            values = [Word(HOLE)]
            if not sources:
                from toolgate.gate.shell.parameters import stands_for

                values = stands_for(self, node, named)
            if not all(value.known for value in values):
                shown = self._cut_from(node, named)
                values = [unknown([Word(HOLE, sources=sources), *shown])]
        if splitting and "IFS" in self.state.values and not self._whole(values):
            return [unknown(values)]  # how it would be split is not followed
        if not splitting:
            return [_quoted(values[0])] if len(values) == 1 else [unknown(values)]
        out: list[Word] = []
        for value in values:
            if any(char in BLANKS for char in value.text):
                # A value with blanks becomes several fields, which keep their pattern characters.
                out.extend(
                    Word(field, sources=value.sources, variables=value.variables)
                    for field in value.text.split()
                )
            else:
                out.append(value)
        return out or [Word("")]

    def _cut_from(self, node: Any, named: list[Any]) -> list[Word]:
        """Return the values an expansion shows a part of; its length shows none."""
        marks = {child.type for child in node.children if not child.is_named}
        hides = marks - {"${", "}"}
        if not named or (hides and hides <= {"#", ":+", "+"}):
            return []
        name = self.text(named[0])
        return self.state.look_up(name) if name.isidentifier() else []

    def _whole(self, values: list[Word]) -> bool:
        """Say whether values stay in one piece under the separators the text has set."""
        separators = self.state.values["IFS"]
        if len(separators) != 1 or not separators[0].known:
            return False
        marks = set(separators[0].text)
        return all(word.known and not marks & set(word.text) for word in values)

    def _inside_expansion(self, node: Any, named: list[Any]) -> None:
        """Note what an expansion does: run backticks the grammar leaves as text, or assign."""
        raw = self.text(node)
        if _bare_backtick(raw):
            self.faults.add("backtick-in-expansion")
        if "@P}" in raw:
            self.faults.add("prompt-expansion")
        assigns = any(child.type in (":=", "=") for child in node.children if not child.is_named)
        if assigns and named:
            self.state.set_values(self.text(named[0]), [Word(HOLE)])

    def _substituted(self, node: Any) -> Word:
        made = self._substitution(node)
        if node.type == "process_substitution":
            return Word("/dev/fd/63", sources=made, process=True)
        text = None
        if len(made) == 1:
            from toolgate.gate.shell.substituted import constant

            text = constant(self.commands[made[0]])
        return Word(HOLE if text is None else words.quoted(text), sources=made)

    def _substitution(self, node: Any) -> tuple[int, ...]:
        raw = self.text(node)
        self.doubtful = self.doubtful or raw.startswith("`")
        if raw.startswith("`") and ("\\`" in raw or raw.count("`") != 2):
            self.faults.add("nested-backticks")
        return self.nested(node)


def spread(pieces: list[Word], home: str, work: Work, *, quotes: bool = False) -> list[Word]:
    """Return the words that marked ones become: braces, tilde and patterns taken in.

    Args:
        pieces: the marked words.
        home: the user's home directory; "" when not known.
        work: the steps it may cost.
        quotes: whether anything in their source is quoted, which keeps an empty word.

    Raises:
        SpentError: it would cost more.
    """
    out: list[Word] = []
    for piece in pieces:
        texts = words.braces(piece.text)
        work.spend(len(texts) * (6 + len(piece.text) // 16))
        if len(texts) > 1 and not quotes:
            texts = [text for text in texts if text]  # {,x} makes no empty word
        for text in texts:
            made = words.finish(_tilde(text, home))
            glob = piece.glob or words.is_glob(text)
            out.append(Word(made, glob, piece.sources, piece.process, piece.variables))
    return out[: words.MAX_FIELDS] if len(out) <= words.MAX_FIELDS else [Word(HOLE)]


def _tilde(text: str, home: str) -> str:
    if not text.startswith("~"):
        return text
    if text == "~" or text.startswith("~/"):
        return (words.quoted(home) or HOLE) + text[1:]
    # Another user's home: known to be outside, whatever its real path.
    return "/home/" + text[1:] if text[1:2].isalpha() else HOLE + text


def joined(left: Word, right: Word) -> Word:
    """Return two words as the one they make when nothing stands between them."""
    if len(left.text) + len(right.text) > MAX_WORD:
        # Variables doubled again and again would fill the memory.
        return unknown([left, right])
    return Word(
        left.text + right.text,
        left.glob or right.glob,
        _each(left.sources + right.sources),
        variables=_each(left.variables + right.variables),
    )


def unknown(parts: list[Word]) -> Word:
    """Return a word that is not known and may hold any of some parts."""
    return Word(
        HOLE,
        sources=_each(tuple(index for part in parts for index in part.sources)),
        variables=_each(tuple(name for part in parts for name in part.variables)),
    )


def _each(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return each of many items once: a variable doubled again and again would fill the memory."""
    return items if len(items) < MAX_SAID_TWICE else tuple(dict.fromkeys(items))


def _quoted(word: Word) -> Word:
    # A loop's value that is a pattern stands for the names it finds, in quotes too.
    return word._replace(text=words.quoted(word.text))


def _blank_inside(raw: str) -> bool:
    if " " in raw and " " in raw.replace("\\ ", ""):
        return True
    return "\n" in raw and "\n" in raw.replace("\\\n", "")


def _bare_backtick(raw: str) -> bool:
    position = raw.find("`")
    while position != -1:
        start = position
        while start and raw[start - 1] == "\\":
            start -= 1
        if (position - start) % 2 == 0:
            return True
        position = raw.find("`", position + 1)
    return False
