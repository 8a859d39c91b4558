"""Expansion of shell words over a syntax tree: what is known stays, the rest is a hole."""

from typing import Any

from toolgate.gate.shell import words
from toolgate.gate.shell.model import HOLE, Command, Word
from toolgate.gate.shell.state import MAX_VALUES, State

MAX_WORD = 16_384
_STRING_PARTS = frozenset(('"', "string_content"))
_BLANKS = " \t\n\r\f\v"


class Expander:
    """Turns word nodes into words. ``Walk`` adds the statements."""

    commands: list[Command]

    def __init__(self, source: bytes, state: State) -> None:
        self._source = source
        # Where every character is one byte, text is cut without decoding it anew.
        self._ascii = source.decode("ascii") if source.isascii() else ""
        self.state = state
        self.faults: set[str] = set()

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
        while stack:
            item = stack.pop()
            if item.type in ("command_substitution", "process_substitution"):
                made += self._substitution(item)
            elif item.type == "ERROR":
                self.faults.add("syntax")
            else:
                stack.extend(reversed(item.children))
        return made

    def single(self, node: Any) -> Word:
        """Return a node's one value, as in an assignment: no splitting, no braces."""
        parts = self._pieces(node, False)
        if len(parts) == 1:
            return parts[0]._replace(text=words.finish(self._tilde(parts[0].text)), glob=False)
        return unknown(parts)

    def fields(self, node: Any) -> list[Word]:
        """Return the words a node becomes as an argument."""
        literal = self._literal(node)
        if literal is not None:
            return [Word(literal)]
        return self.spread(self._pieces(node, True))

    def spread(self, pieces: list[Word]) -> list[Word]:
        """Return the words that marked ones become: braces, tilde and patterns taken in."""
        out: list[Word] = []
        for piece in pieces:
            for text in words.braces(piece.text):
                tilde = self._tilde(text)
                out.append(
                    piece._replace(text=words.finish(tilde), glob=piece.glob or words.is_glob(text))
                )
        return out[: words.MAX_FIELDS] if len(out) <= words.MAX_FIELDS else [Word(HOLE)]

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

    def _tilde(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            return (words.quoted(self.state.home) or HOLE) + text[1:]
        if text.startswith("~"):
            # Another user's home: known to be outside, whatever its real path.
            return "/home/" + text[1:] if text[1:2].isalpha() else HOLE + text
        return text

    def heredoc_text(self, node: Any) -> Word:
        """Return the text of an unquoted here-document's body."""
        parts = [self._between(node, node.start_byte, node.children, quote=words.quoted)]
        text = "".join(part.text for part in parts)
        raw = self.text(node)
        if _bare_backtick(raw):
            # The grammar does not see backticks here (they would run), so nobody has read them.
            self.faults.add("backtick-in-heredoc")
        return unknown(parts)._replace(text=words.finish(text))

    def _pieces(self, node: Any, splitting: bool) -> list[Word]:
        """Return marked words: one, or several where an unquoted variable has several values."""
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
            return self._concatenation(node)
        return [Word(HOLE, sources=self.substitutions(node))]

    def _concatenation(self, node: Any) -> list[Word]:
        alternatives: list[Word] = [Word("")]
        for child in node.children:
            pieces = self._pieces(child, True)
            if len(alternatives) * len(pieces) > MAX_VALUES:
                pieces = [Word(HOLE)]
            alternatives = [joined(left, right) for left in alternatives for right in pieces]
        return alternatives

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
        return joined(made, Word(quote(self._slice(start, node.end_byte if end is None else end))))

    def _variable(self, node: Any, splitting: bool) -> list[Word]:
        named = [child for child in node.children if child.is_named]
        sources = self.substitutions(node)
        if node.type == "expansion":
            self._inside_expansion(node, named)
        plain = len(named) == 1 and all(
            child.is_named or child.type in ("$", "${", "}") for child in node.children
        )
        if not plain:
            values = self._cut_from(node, named)
            return [unknown([Word(HOLE, sources=sources), *values])]
        values = self.state.look_up(self.text(named[0]))
        if splitting and "IFS" in self.state.values and not self._whole(values):
            return [unknown(values)]  # how it would be split is not followed
        if not splitting:
            return [_quoted(values[0])] if len(values) == 1 else [unknown(values)]
        out: list[Word] = []
        for value in values:
            if value.known and any(char in _BLANKS for char in value.text):
                # A value with blanks becomes several fields, which keep their pattern characters.
                out.extend(Word(field, sources=value.sources) for field in value.text.split())
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
        text = self._constant(made)
        return Word(HOLE if text is None else words.quoted(text), sources=made)

    def _substitution(self, node: Any) -> tuple[int, ...]:
        raw = self.text(node)
        if raw.startswith("`") and ("\\`" in raw or raw.count("`") != 2):
            self.faults.add("nested-backticks")
        return self.nested(node)

    def _constant(self, made: tuple[int, ...]) -> str | None:
        """Return what a substitution prints, where that is plain from its text."""
        if len(made) != 1:
            return None
        command = self.commands[made[0]]
        if command.redirects or command.assigns or not all(word.known for word in command.words):
            return None
        arguments = [word.text for word in command.words]
        if arguments == ["pwd"]:
            return command.cwd or None
        if arguments[:1] == ["mktemp"]:
            return _made_by_mktemp(arguments[1:])
        if arguments[:1] == ["echo"] and not any(
            word.glob or word.text.startswith("-") or "\\" in word.text
            for word in command.words[1:]
        ):
            return " ".join(arguments[1:])
        return None


def _made_by_mktemp(arguments: list[str]) -> str | None:
    """Return a stand-in for the new file's path: where it lies is known, its name is not."""
    template = [text for text in arguments if not text.startswith("-")]
    if "-p" in arguments or any(text.startswith("--") for text in arguments) or len(template) > 1:
        return None
    if not template or "-t" in arguments:
        return "/tmp/made-by-mktemp"
    return template[0]


def joined(left: Word, right: Word) -> Word:
    """Return two words as the one they make when nothing stands between them."""
    if len(left.text) + len(right.text) > MAX_WORD:
        # Variables doubled again and again would fill the memory.
        return Word(
            HOLE,
            sources=left.sources[:64] + right.sources[:64],
            variables=left.variables[:64] + right.variables[:64],
        )
    return Word(
        left.text + right.text,
        left.glob or right.glob,
        left.sources + right.sources,
        variables=left.variables + right.variables,
    )


def unknown(parts: list[Word]) -> Word:
    """Return a word that is not known and may hold any of some parts."""
    return Word(
        HOLE,
        sources=tuple(index for part in parts for index in part.sources),
        variables=tuple(name for part in parts for name in part.variables),
    )


def _quoted(word: Word) -> Word:
    return word._replace(text=words.quoted(word.text), glob=False)


def _bare_backtick(raw: str) -> bool:
    position = raw.find("`")
    while position != -1:
        slashes = len(raw[:position]) - len(raw[:position].rstrip("\\"))
        if slashes % 2 == 0:
            return True
        position = raw.find("`", position + 1)
    return False
