"""Shell texts made at random from the shell's own grammar, small and mostly valid."""

import random

_WORDS = (
    *("a", "-x", "b1", "./f", "x=y", "a.b", "--opt=v", "-rf", "/", "foo", "é", "ü'ñ'"),
    *("'q $x `y` \\'", '"d $x e"', '"a\\"b\\$c\\`d"', "$'t\\tn\\x41\\'q'", '""', "''"),
    *("$x", "${x}", "$y", "${y:-d}", "${x%a}", "${x##*/}", "${#x}", "${x/a/b}", "${x:1:2}"),
    *("$1", "$@", '"$@"', "$#", "$?", "${arr[0]}", "${arr[@]}", '"${arr[@]}"', "${x:+alt}"),
    *("{a,b}", "{1..3}", "x{a,b}y", "{a,b{c,d}}", "{a}", "{,x}", "*.txt", "a?", "[ab]*", "~/x"),
    *("$((1+2))", "a\\ b", "\\*", "\\\\", "\\#", "a#b", "\\$x", "\\;", "\"$x\"'y'z", "$'a'\"b\"c"),
    *("if", "then", "done", "!", "{", "}", "time", "[", "]", "]]", "in", "function"),
)
_NESTED_WORDS = (
    *("$({list})", '"$({list})"', "<({list})", ">({list})", "`{plain}`", '"a`{plain}`b`{plain}`"'),
    *("${{x:-$({plain})}}", "$(( $({plain}) + 1 ))", "{word}{word}", '"${{x:-`{plain}`}}"'),
)
_REDIRECTIONS = (
    *("> out", "2>&1", ">/dev/null", "2> err", "&> all", ">> app", "< /dev/null", "<&-"),
    *("2>/dev/null", ">| c", "1>&2", "<<< {word}", "< <({list})", "> >({list})"),
)
_BEFORE = (
    *("x=1", "y='a b'", "x=$({plain})", "arr=(p q)", "x+=z", "IFS=,", "command", "time", "!"),
    *("exec 3>&1;", "builtin echo;", "eval", "time -p", "coproc", "set -- p q;"),
)
_COMPOUNDS = (
    "if {list}{end}then {list}{end}fi",
    "if {list}{end}then {list}{end}elif {list}{end}then {list}{end}else {list}{end}fi",
    "for i in {word} {word}{end}do {list}{end}done",
    "for ((i=0;i<2;i++)){end}do {list}{end}done",
    "while {list}{end}do {list}{end}break{end}done",
    "until {list}{end}do {list}; break{end}done",
    "case {word} in a) {list};; *|b) {list}{end};; esac",
    "case x in (x) {list};& y) {list};;& z) ;; esac",
    "({list})",
    "{{ {list}{end}}}",
    "! {{ {list}{end}}}",
    "{name}() {{ {list}{end}}}; {name} {word} {word}",
    "function {name} {{ {list}{end}}}\n{name} {word}",
    '{name}() {{ {simple} "$@"; shift; {simple} "$1"; }}; {name} {word} {word}',
    "[[ -n $x && ! -d y ]] && {simple}",
    "[[ $x =~ ^a|b$ ]] || {simple}",
    "(( x++ )) || {simple}",
    "select i in a b{end}do {list}; break{end}done < /dev/null",
)
_AFTER_COMPOUND = ("> out", "2>&1", "< /dev/null", "2>/dev/null")
_BODIES = ("text", "a $x b", "$({plain}) in", "`{plain}`", "it's \\$(no) ok")
_SPELLINGS = (
    *("\\{0}{1}", "{0}''{1}", "'{0}{1}'", '"{0}{1}"', '{0}"{1}"', "$'{0}{1}'"),
    *("{0}\\\n{1}", "{0}$'{1}'"),
)
_MOST_COMMANDS = 9


class _Writer:
    """Writes one text; every command in it has a name of its own."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._made = 0
        self._open_bodies: list[str] = []

    def text(self) -> str:
        """Return the text, here-document bodies behind the line that opens them."""
        out = self._list(0)
        for _ in range(self._random.choice((0, 1, 1, 2))):
            out += self._break(
                self._random.choice(("; ", " && ", " || ", " & ", "\n", "\n# `x`\n"))
            )
            out += self._list(0)
        return out + (self._break("\n") if self._open_bodies else "")

    def _break(self, operator: str) -> str:
        if not self._open_bodies or "\n" not in operator:
            return operator
        bodies, self._open_bodies = self._open_bodies, []
        return "\n" + "\n".join(bodies) + "\n"

    def _name(self) -> str:
        self._made += 1
        return f"c{self._made}"

    def _filled(self, pattern: str, depth: int) -> str:
        """Fill a pattern's fields; each field is made anew, a name once a pattern."""
        out, name = "", ""
        while pattern:
            before, _, rest = pattern.partition("{")
            if rest.startswith("{"):
                out, pattern = out + before.replace("}}", "}") + "{", rest[1:]
                continue
            field, closed, after = rest.partition("}")
            out += before.replace("}}", "}")
            pattern = after if closed else ""
            if field == "name":
                name = name or self._name()
                out += name
            elif field:
                out += self._field(field, depth)
        return out

    def _field(self, field: str, depth: int) -> str:
        if field == "end":
            return self._random.choice(("; ", "\n"))
        if field == "plain":
            return self._spelled() + self._random.choice(("", " a", " -x 'b'", ' "$x"'))
        made: str = getattr(self, "_" + field)(depth + 1)
        return made

    def _spelled(self) -> str:
        name = self._name()
        if self._random.random() < 0.8:
            return name
        return self._random.choice(_SPELLINGS).format(name[0], name[1:])

    def _word(self, depth: int) -> str:
        if depth < 3 and self._made < _MOST_COMMANDS and self._random.random() < 0.25:
            return self._filled(self._random.choice(_NESTED_WORDS), depth)
        return self._random.choice(_WORDS)

    def _redirection(self, depth: int) -> str:
        if depth == 0 and self._random.random() < 0.15:
            return self._heredoc()
        options = _REDIRECTIONS if depth < 3 else _REDIRECTIONS[:11]
        return self._filled(self._random.choice(options), depth)

    def _heredoc(self) -> str:
        self._made += 1
        mark = f"E{self._made}"
        body = self._filled(self._random.choice(_BODIES), 2)
        self._open_bodies.append(f"{body}\n{mark}")
        return self._random.choice(("<<{}", "<< {}", "<<'{}'", "<<-{}", "<<\\{}")).format(mark)

    def _simple(self, depth: int) -> str:
        chance = self._random.random
        parts = []
        if chance() < 0.15:
            parts.append(self._filled(self._random.choice(_BEFORE), depth))
        if chance() < 0.08:
            parts.append(self._redirection(depth))
        builtin = self._random.choice(("echo", ":", "true", "false"))
        parts.append(self._spelled() if chance() < 0.9 else builtin)
        parts += [self._word(depth) for _ in range(self._random.choice((0, 0, 1, 1, 2)))]
        while chance() < 0.18:
            parts.append(self._redirection(depth))
        if chance() < 0.05:
            parts.append(self._word(depth))
        return " ".join(parts)

    def _command(self, depth: int) -> str:
        if depth >= 3 or self._made > 5 or self._random.random() > 0.35:
            return self._simple(depth)
        # Inside a compound no here-document is opened: its body would need a place there.
        made = self._filled(self._random.choice(_COMPOUNDS), max(depth, 1))
        if self._random.random() < 0.2:
            made += " " + self._random.choice(_AFTER_COMPOUND)
        return made

    def _list(self, depth: int) -> str:
        few = self._made > 6
        stages = 1 if few else self._random.choice((1, 1, 1, 2, 2, 3))
        operator = self._random.choice((" | ", " | ", " |& "))
        made = operator.join(self._command(depth) for _ in range(stages))
        if depth and not few and self._random.random() < 0.4:
            joint = self._random.choice((" && ", " || ", "; ", " & ", "\n"))
            made += joint + self._command(depth)
        return made


def script(seed: int) -> str:
    """Return the text of one seed."""
    return _Writer(seed).text()
