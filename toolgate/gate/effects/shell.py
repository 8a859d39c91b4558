"""A shell command's effects: every simple command judged, what flows between them followed."""

from posixpath import basename
from typing import Any

from toolgate.gate.call import Place
from toolgate.gate.catalog.load import Catalog
from toolgate.gate.catalog.options import Parsed, assign_roles, split
from toolgate.gate.catalog.schema import effect_parts
from toolgate.gate.effects import code, flow, special
from toolgate.gate.effects.hosts import host_of, scope_of, split_remote
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.paths import Paths
from toolgate.gate.effects.patterns import matches
from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import HOLE, Command, Redirect, Script, Word
from toolgate.gate.shell.parse import REFUSED, read

MAX_NESTING = 8

_BIN = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin")
_SCRIPT_SUFFIXES = (".py", ".js", ".mjs", ".ts", ".rb", ".sh", ".php", ".pl")
_LOCAL_BIN = ("/.venv/bin/", "/venv/bin/", "/env/bin/", "/node_modules/.bin/", "/.local/bin/")
_FILE_ROLES = {
    "read": "fs.read",
    "write": "fs.write",
    "append": "fs.write",
    "delete": "fs.delete",
    "permission": "fs.permission",
    "link": "fs.link",
}
_SCOPE_OF_TYPE = {
    "vcs": "workspace",
    "exec": "workspace",
    "pkg": "workspace",
    "proc": "outside",
    "sys": "system",
    "gate": "gate",
    "inspect": "inspect-only",
    "secret": "secret",
}
_OUTSIDE = frozenset(("vcs.publish", "pkg.publish"))
_IRREVERSIBLE = frozenset(
    (
        "fs.delete",
        "vcs.discard",
        "vcs.history_rewrite",
        "vcs.publish",
        "infra.destroy",
        "db.destroy",
        "net.send",
        "net.shell",
        "msg.send",
        "pay.spend",
        "pkg.publish",
        "deploy.release",
        "secret.print",
    )
)
_CODE = frozenset(("python", "javascript", "ruby", "perl", "php", "awk", "sed", "sql"))
_LOOKING_MODULES = frozenset(
    ("json.tool", "tokenize", "ast", "dis", "platform", "site", "calendar")
)
_HIJACK = frozenset(
    ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PROMPT_COMMAND")
)
_COMMAND_VARIABLES = frozenset(
    (
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "MANPAGER",
        "BROWSER",
    )
)


class Reader:
    """Reads shell text for effects.

    Args:
        place: where it would run.
        settings: names and patterns from the policy.
        catalog: what programs do.
        files: what the text has written so far, path to content (None: not known).
        depth: how many readers this one is inside.
        inside: ``container`` or ``remote-host`` when the text runs elsewhere.
    """

    def __init__(
        self,
        place: Place,
        settings: Settings,
        catalog: Catalog,
        *,
        files: dict[str, flow.Written] | None = None,
        depth: int = 0,
        inside: str = "",
    ) -> None:
        self.place = place._replace(cwd="", roots=("",)) if inside else place
        self.settings = settings
        self.catalog = catalog
        self.paths = Paths(self.place, settings, remote=bool(inside))
        self.files = {} if files is None else files
        self.depth = depth
        self.inside = inside
        self.script = Script((), ())
        self.found: list[list[Effect]] = []

    def effects(self, text: str) -> list[Effect]:
        """Return every effect of a shell text, in source order."""
        if self.depth > MAX_NESTING:
            return [self.unknown("nested-too-deep", "shell")]
        self.script = read(text, cwd=self.place.cwd, home=self.place.home)
        self.found = []
        for command in self.script.commands:
            made = self._redirects(command) + self._environment(command)
            if command.words:
                made += self.invoke(command.words, command)
            made = flow.carried(self.script, self.found, made, command, self)
            self.found.append(made)
        every = [effect for made in self.found for effect in made]
        every += [self._fault(fault) for fault in self.script.faults]
        return flow.ends(every) or [self.inspect("shell")]

    def _fault(self, fault: str) -> Effect:
        effect = self.unknown(fault, "shell")
        return effect._replace(how="refused") if fault in REFUSED else effect

    def inner(self, text: str, *, inside: str = "", cwd: str | None = None) -> list[Effect]:
        """Return the effects of shell text that this text runs."""
        place = self.place if cwd is None else self.place._replace(cwd=cwd)
        reader = Reader(
            place,
            self.settings,
            self.catalog,
            files=self.files,
            depth=self.depth + 1,
            inside=inside or self.inside,
        )
        return reader.effects(text)

    def unknown(self, reason: str, program: str, resource: str = HOLE) -> Effect:
        """Return the effect of code nobody could read."""
        return Effect(
            "exec.code", "unknown", resource, True, unresolved(reason), program, "unknown"
        )

    def inspect(self, program: str) -> Effect:
        """Return the effect of a command that only looks."""
        return Effect("inspect", "inspect-only", program, True, PROVED, program)

    def touch(
        self, kind: str, word: Word, command: Command, program: str, how: tuple[str, ...] = ()
    ) -> list[Effect]:
        """Return the effects of a command touching the path a word names."""
        if word.process:
            return []
        return self.paths.effects(
            kind, word.text, command.cwd, program=program, how=how, glob=word.glob
        )

    def _redirects(self, command: Command) -> list[Effect]:
        made: list[Effect] = []
        for redirect in command.redirects:
            if redirect.op in (">", ">>", "<>"):
                made += self._written_to(redirect, command)
            elif redirect.op == "<":
                made += self._socket(redirect.target) or self.touch(
                    "fs.read", redirect.target, command, "shell"
                )
            elif redirect.op == ">&" and not _is_descriptor(redirect.target.text):
                made += self._written_to(redirect._replace(op=">"), command)
        return made

    def _written_to(self, redirect: Redirect, command: Command) -> list[Effect]:
        how = ("append",) if redirect.op == ">>" else ("truncate",)
        return self._socket(redirect.target) or self.touch(
            "fs.write", redirect.target, command, "shell", how
        )

    def _socket(self, target: Word) -> list[Effect]:
        if not target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            return []
        host = target.text.split("/")[3]
        scope = scope_of(host, self.settings)
        return [Effect("net.send", scope, host, False, PROVED, "shell", "socket")]

    def _environment(self, command: Command) -> list[Effect]:
        made: list[Effect] = []
        for name, word in command.assigns:
            if name in _HIJACK:
                made.append(self.unknown("loader-variable", "shell", name))
            elif name in _COMMAND_VARIABLES:
                made += self.inner(word.text) if word.known else [self.unknown(name, "shell")]
        return made

    def invoke(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        """Return the effects of running a program with arguments."""
        name = words[0].text
        if not words[0].known or words[0].glob or not name:
            return [self.unknown("program-not-known", name or "shell")]
        if "/" in name:
            return self._by_path(words, command)
        entry = self.entry(name)
        if entry is None:
            return [self.unknown("unknown-program", name, name)]
        return self.apply(entry, name, words[1:], command)

    def entry(self, name: str) -> dict[str, Any] | None:
        """Return the catalogue entry of a program, also by its name without a version."""
        found = self.catalog.get(name)
        if found is None:
            bare = name.rstrip("0123456789.-")
            found = self.catalog.get(bare) if bare and bare != name else None
        return found

    def _by_path(self, words: tuple[Word, ...], command: Command) -> list[Effect]:
        path = self.paths.resolve(words[0].text, command.cwd)
        name = basename(path)
        installed = path.rpartition("/")[0] in _BIN or any(part in path for part in _LOCAL_BIN)
        entry = self.entry(name)
        if entry is None:
            return self.run_file(words[0], command, name)
        made = self.apply(entry, name, words[1:], command)
        # A launcher of the project (./gradlew, bin/rails) may do what its name says, or anything.
        return made if installed else [*self.run_file(words[0], command, name), *made]

    def run_file(self, word: Word, command: Command, program: str) -> list[Effect]:
        """Return the effects of executing a file."""
        path = self.paths.resolve(word.text, command.cwd)
        made = self.paths.effects(
            "exec.code", word.text, command.cwd, program=program, how=("file",)
        )
        written = self.files.get(path)
        if written is not None:
            made += flow.executed(written, path, program, self)
        return made

    def apply(
        self,
        entry: dict[str, Any],
        name: str,
        arguments: tuple[Word, ...],
        command: Command,
        how: tuple[str, ...] = (),
    ) -> list[Effect]:
        """Return what an entry says of some arguments."""
        if entry.get("subcommands"):
            return self._subcommand(entry, name, arguments, command)
        parsed = split(arguments, entry)
        if self._asks_for_help(entry, parsed, arguments):
            return [self.inspect(name)]
        clauses = [clause for clause in entry.get("when", ()) if _holds(clause, parsed)]
        looking = parsed.has(entry.get("dry", []), abbreviated=False) or any(
            clause.get("inspect") for clause in clauses
        )
        roles, does = entry.get("operands", []), list(entry.get("does", ()))
        how = (*how, *entry.get("how", ()))
        for clause in clauses:
            roles = clause.get("operands", roles)
            does += clause.get("does", ())
            how = (*how, *clause.get("how", ()))
        made = self._by_options(entry, parsed, name, command, how)
        for role, word in assign_roles(parsed.operands, roles):
            made += self.role(role, word, command, name, how, last=word is parsed.operands[-1])
        made += [self.stated(item, name, how) for item in does]
        if "special" in entry:
            made += special.READINGS[entry["special"]](self, parsed, name, command, how)
        if "wraps" in entry:
            made += self._wrapped(entry, parsed, name, command)
        elif parsed.rest and entry.get("stop"):
            made += self._script_operand(entry, roles, parsed, name, command)
        made += self._standard_input(entry, parsed, name, command)
        if looking:
            made = [effect for effect in made if effect.type in ("fs.read", "secret.read")]
        return made or [self.inspect(name)]

    def _asks_for_help(
        self, entry: dict[str, Any], parsed: Parsed, arguments: tuple[Word, ...]
    ) -> bool:
        if "wraps" in entry or entry.get("special") == "find":
            return False
        alone = len(arguments) == 1 and arguments[0].text in ("--version", "-V", "-version")
        return alone or parsed.has(["--help"], abbreviated=False)

    def _subcommand(
        self, entry: dict[str, Any], name: str, arguments: tuple[Word, ...], command: Command
    ) -> list[Effect]:
        parsed = split(arguments, {**entry, "stop": True})
        made = self._by_options(entry, parsed, name, command, ())
        rest = parsed.rest
        if entry.get("special") == "git":
            made, rest = special.git_globals(self, parsed, command, made)
        if not rest:
            return [*made, *(self.stated(item, name, ()) for item in entry.get("does", ()))] or [
                self.inspect(name)
            ]
        below = self._below(entry, rest[0]) if rest[0].known else None
        if below is None:
            if any(word.text in ("--help", "help") for word in rest[:2]):
                return [*made, self.inspect(name)]
            resource = f"{name} {rest[0].text}"
            return [*made, self.unknown("unknown-subcommand", name, resource)]
        how = tuple(entry.get("how", ()))
        return made + self.apply(below, f"{name} {rest[0].text}", rest[1:], command, how)

    def _below(self, entry: dict[str, Any], word: Word) -> dict[str, Any] | None:
        below: dict[str, Any] = entry["subcommands"]
        if word.text in below:
            return below[word.text] or {}
        patterns = [name for name in below if "*" in name and matches(word.text, name)]
        if patterns:
            return below[max(patterns, key=len)] or {}
        other: dict[str, Any] | None = entry.get("other")
        return other

    def _by_options(
        self,
        entry: dict[str, Any],
        parsed: Parsed,
        name: str,
        command: Command,
        how: tuple[str, ...],
    ) -> list[Effect]:
        made: list[Effect] = []
        roles = entry.get("values", {})
        for option, value in parsed.options:
            role = roles.get(option) or _by_prefix(option, roles)
            if role and value is not None:
                made += self.role(role, value, command, name, how)
        return made

    def role(
        self,
        role: str,
        word: Word,
        command: Command,
        name: str,
        how: tuple[str, ...],
        *,
        last: bool = False,
    ) -> list[Effect]:
        """Return the effects of one argument in its role."""
        if role in _FILE_ROLES:
            marks = (*how, "append") if role == "append" else how
            return self.touch(_FILE_ROLES[role], word, command, name, marks)
        if role in ("url", "host"):
            return [self.net("net.send" if "send" in how else "net.fetch", word.text, name, how)]
        if role == "shell":
            return self.inner(word.text) if word.known else [self.code_not_known(name)]
        if role in _CODE:
            return code.effects(role, word.text, self, command, name)
        if role == "exec":
            return self.run_file(word, command, name)
        if role == "module":
            return self._module(word, command, name)
        if role == "data" and word.text.startswith("@") and word.text != "@-":
            return self.touch("fs.read", word._replace(text=word.text[1:]), command, name)
        if role == "upload":
            return self._upload(word, command, name)
        if role == "transfer":
            return self._transfer(word, command, name, how, last=last)
        return []

    def _module(self, word: Word, command: Command, name: str) -> list[Effect]:
        """Read ``python -m NAME``: a catalogued tool as itself, anything else as project code."""
        position = next((i for i, w in enumerate(command.words) if w is word), -1)
        entry = self.entry(word.text) if position >= 0 else None
        if entry is not None:
            return self.apply(entry, word.text, command.words[position + 1 :], command)
        if word.text in _LOOKING_MODULES:
            return [self.inspect(name)]
        proof = unresolved("project-code" if word.known else "code-not-known")
        scope = "workspace" if word.known else "unknown"
        return [Effect("exec.code", scope, word.text, True, proof, name, "project")]

    def net(self, kind: str, target: str, name: str, how: tuple[str, ...] = ()) -> Effect:
        """Return the effect of reaching a host."""
        host = host_of(target)
        scope = scope_of(host, self.settings)
        proof = unresolved("host-not-known") if scope == "unknown" else PROVED
        return Effect(kind, scope, host, kind == "net.fetch", proof, name, " ".join(how))

    def code_not_known(self, name: str) -> Effect:
        """Return the effect of running text that is not known before it runs."""
        return self.unknown("code-not-known", name)

    def _upload(self, word: Word, command: Command, name: str) -> list[Effect]:
        # curl -F name=@file and name=<file; curl -T file.
        _, marker, tail = word.text.partition("=")
        if marker and tail[:1] in ("@", "<"):
            word = word._replace(text=tail[1:].split(";", 1)[0])
        elif marker:
            return []
        return self.touch("fs.read", word, command, name)

    def _transfer(
        self, word: Word, command: Command, name: str, how: tuple[str, ...], *, last: bool
    ) -> list[Effect]:
        remote = split_remote(word.text)
        if remote is None:
            return self.touch("fs.write" if last else "fs.read", word, command, name, how)
        return [self.net("net.send" if last else "net.fetch", remote[0], name, how)]

    def stated(self, item: str, name: str, how: tuple[str, ...]) -> Effect:
        """Return an effect an entry states outright."""
        kind, own, scope, resource = effect_parts(item)
        area = kind.partition(".")[0]
        default = "outside" if kind in _OUTSIDE else _SCOPE_OF_TYPE.get(area, "outside")
        marks = " ".join(dict.fromkeys((*own, *how)))
        proof = unresolved("project-code") if kind == "exec.code" else PROVED
        return Effect(
            kind,
            scope or default,
            resource or name,
            kind not in _IRREVERSIBLE,
            proof,
            name,
            marks,
        )

    def _wrapped(
        self, entry: dict[str, Any], parsed: Parsed, name: str, command: Command
    ) -> list[Effect]:
        rest = parsed.rest or parsed.operands
        rest = rest[entry["wraps"] :]
        made: list[Effect] = []
        if entry.get("assigns"):
            while rest and _is_assignment(rest[0].text):
                variable, _, value = rest[0].text.partition("=")
                assign = ((variable, Word(value)),)
                made += self._environment(command._replace(assigns=assign))
                rest = rest[1:]
        if not rest:
            return made
        inside = entry.get("inside", "")
        if rest[0].text.endswith(_SCRIPT_SUFFIXES) and self.entry(rest[0].text) is None:
            return made + self.run_file(rest[0], command, name)
        if not inside or self.inside:
            return made + self.invoke(rest, command)
        reader = Reader(
            self.place,
            self.settings,
            self.catalog,
            depth=self.depth + 1,
            inside=inside,
        )
        elsewhere = Effect("exec.code", "outside", name, True, unresolved(inside), name, inside)
        return [*made, elsewhere, *reader.invoke(rest, command._replace(cwd=""))]

    def _script_operand(
        self,
        entry: dict[str, Any],
        roles: list[str],
        parsed: Parsed,
        name: str,
        command: Command,
    ) -> list[Effect]:
        """Read the first operand of an interpreter; what follows belongs to the script."""
        if any(
            entry.get("values", {}).get(option) in (*_CODE, "shell", "module")
            for option, value in parsed.options
            if value is not None
        ):
            return []
        first = parsed.rest[0]
        if first.text == "-":
            return []
        if first.process:
            return [Effect("exec.code", "unknown", name, True, unresolved("stdin"), name, "stdin")]
        if not roles:
            return []
        return self.role(roles[0].rstrip("*?"), first, command, name, ())

    def _standard_input(
        self, entry: dict[str, Any], parsed: Parsed, name: str, command: Command
    ) -> list[Effect]:
        language = entry.get("stdin")
        if not language:
            return []
        operands = [word for word in (*parsed.operands, *parsed.rest) if word.text != "-"]
        given = entry.get("values", {})
        has_code = any(
            given.get(o) in (*_CODE, "shell", "exec", "module") for o, v in parsed.options if v
        )
        # A database's name is an operand; statements still come from standard input.
        reads_anyway = language == "sql" or (
            language == "shell" and parsed.has(["-s"], abbreviated=False)
        )
        if has_code or (operands and not reads_anyway):
            return []
        text = flow.standard_input(self.script, command)
        if text is None:
            if not flow.has_standard_input(command):
                return []  # an interactive start, which ends at once without a terminal
            return [Effect("exec.code", "unknown", name, True, unresolved("stdin"), name, "stdin")]
        if language == "shell":
            return self.inner(text, cwd=command.cwd)
        return code.effects(language, text, self, command, name)


def _holds(clause: dict[str, Any], parsed: Parsed) -> bool:
    if "any" in clause and not parsed.has(clause["any"]):
        return False
    if "none" in clause and parsed.has(clause["none"], abbreviated=False):
        return False
    if "value" in clause and not _has_value(clause["value"], parsed):
        return False
    if "words" in clause:
        return any(
            matches(word.text, pattern)
            for word in (*parsed.operands, *parsed.rest)
            for pattern in clause["words"]
        )
    return True


def _has_value(wanted: dict[str, list[str]], parsed: Parsed) -> bool:
    for option, values in wanted.items():
        for given, value in parsed.options:
            if given != option or value is None:
                continue
            folded = value.text.lower()
            if not value.known or any(folded == str(item).lower() for item in values):
                return True
    return False


def _by_prefix(option: str, roles: dict[str, str]) -> str | None:
    if len(option) > 3 and option.startswith("--"):
        found = [role for name, role in roles.items() if name.startswith(option)]
        return found[0] if found else None
    return None


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.replace("_", "a").isalnum() and not name[:1].isdigit()


def _is_descriptor(text: str) -> bool:
    return text.isdigit() or text in ("", "-") or text.rstrip("-").isdigit()
