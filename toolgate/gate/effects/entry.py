"""A catalogue entry applied to the arguments of one call of its program."""

from posixpath import basename
from typing import Any

from toolgate.gate.catalog.options import Parsed, asks_for_help, assign_roles, role_of, split
from toolgate.gate.effects import code, special, verbs
from toolgate.gate.effects.hosts import host_of, is_local, split_remote
from toolgate.gate.effects.model import MARK, PROVED, Effect, unresolved
from toolgate.gate.effects.patterns import matches
from toolgate.gate.effects.reading import Reading
from toolgate.gate.effects.stated import holds, is_dry, stated
from toolgate.gate.shell.model import Command, Word

_FILE_ROLES = {
    "read": "fs.read",
    "write": "fs.write",
    "append": "fs.write",
    "delete": "fs.delete",
    "permission": "fs.permission",
    "link": "fs.link",
    "measure": "fs.read",
    "folder": "fs.write",
}
_ROLE_MARKS = {"append": ("append",), "measure": ("measured",)}
_ADDRESSES = frozenset(("url", "host", "listen", "index"))
_INSTALLS = ("pkg.install", "exec.code")
_SILENT_ROLES = frozenset(("text", "list"))
CODE = frozenset(("python", "javascript", "ruby", "perl", "php", "awk", "sed", "sql", "lua"))
# Programs that run files they are not given the names of; which ones, ``entrypoints`` says.
_ENTERS = frozenset(
    (
        *("npm", "yarn", "pnpm", "bun", "bunx", "npx", "node", "make", "gmake", "just", "rake"),
        *("pytest", "py.test", "unittest", "nose2", "tox", "nox", "jest", "vitest", "mocha", "ava"),
        *("tap", "docker", "podman", "docker-compose", "crontab", "at", "batch", "terraform"),
        *("tofu", "terragrunt", "go", "cargo", "rustc", "javac", "java", "coverage", "gunicorn"),
        *("uvicorn", "hypercorn", "daphne", "granian", "flask", "celery", "streamlit", "composer"),
        *("pip", "build", "inv", "invoke", "fab", "scons", "doit", "waf", "conan", "task", "bats"),
        *("vagrant", "foreman", "honcho", "overmind", "hivemind", "pre-commit", "lefthook", "act"),
        *("gitlab-runner", "direnv", "vite", "webpack", "rollup", "babel", "eslint", "prettier"),
        *("next", "nuxt", "astro", "svelte-kit", "tailwindcss", "postcss", "tsup", "cypress"),
        *("playwright", "gulp", "grunt", "pm2", "forever", "electron", "tsx", "ts-node", "nodemon"),
        *("deno", "uv", "pdm", "hatch", "bundle", "pod"),
        *("git commit", "git merge", "git pull", "git push", "git checkout", "git switch"),
        *("git rebase", "git am"),
    )
)
_LOOKING_MODULES = frozenset(
    ("json.tool", "tokenize", "ast", "dis", "platform", "site", "calendar")
)


def apply(
    reading: Reading,
    entry: dict[str, Any],
    name: str,
    arguments: tuple[Word, ...],
    command: Command,
    how: tuple[str, ...] = (),
) -> list[Effect]:
    """Return what an entry says of some arguments."""
    if entry.get("subcommands"):
        return _subcommand(reading, entry, name, arguments, command)
    started: tuple[Word, ...] = ()
    for position, word in enumerate(arguments if "runs" in entry else ()):
        if word.text in entry["runs"]:
            arguments, started = arguments[:position], arguments[position + 1 :]
            break
    parsed = split(arguments, entry)
    before = reading.files.mark()
    if not started and asks_for_help(entry, parsed, name, arguments):
        return [reading.inspect(name)]
    looking = "dry" in entry and is_dry(parsed, entry)
    roles, does = entry.get("operands", ()), list(entry.get("does", ()))
    how = (*how, *entry.get("how", ()))
    clauses = entry.get("when", ())
    reading.work.spend(4 * len(clauses))
    for clause in clauses:
        if holds(clause, parsed):
            looking = looking or bool(clause.get("inspect"))
            roles = clause.get("operands", roles)
            does += clause.get("does", ())
            how = (*how, *clause.get("how", ()))
    made = _by_options(reading, entry, parsed, name, command, how) if parsed.options else []
    if roles and parsed.operands:
        for role, word in assign_roles(parsed.operands, roles):
            last = word is parsed.operands[-1]
            made += argument(reading, role, word, command, name, how, last=last)
        made += _into_folder(reading, roles, parsed.operands, name, command, how)
    made = _renamed(reading, made, how)
    made += [stated(item, name, how) for item in does]
    if "special" in entry:
        reading.work.spend(48)
        made += special.READINGS[entry["special"]](reading, parsed, name, command, how)
    if "wraps" in entry:
        from toolgate.gate.effects.wrapped import wrapped

        made += wrapped(reading, entry, parsed, name, command)
    elif parsed.rest and entry.get("stop"):
        from toolgate.gate.effects.interpreted import script

        made += script(reading, entry, roles, parsed, name, command)
    if entry.get("stdin"):
        from toolgate.gate.effects.interpreted import fed

        made += fed(reading, entry, parsed, name, command)
    if started:
        made += reading.invoke(started, command)
    if not looking and _enters(entry, name, parsed):
        from toolgate.gate.effects import entrypoints

        made += entrypoints.run(reading, name, parsed, command)
    if looking:
        reading.files.back_to(before)
        made = [
            effect
            for effect in made
            if effect.type in ("fs.read", "secret.read") and MARK not in effect.how.split()
        ]
    if not made and any(role.startswith("measure") for role in roles):
        return [reading.inspect(name)._replace(how="measured")]
    return made or [reading.inspect(name)]


def _enters(entry: dict[str, Any], name: str, parsed: Parsed) -> bool:
    """Say whether a program may run files it is not given the names of."""
    if name in _ENTERS or name.rpartition("/")[2].partition(" ")[0] in _ENTERS:
        return True
    return entry.get("stdin") == "shell" and parsed.has(["-i", "-l", "--login"], abbreviated=False)


def _into_folder(
    reading: Reading,
    roles: list[str],
    operands: tuple[Word, ...],
    name: str,
    command: Command,
    how: tuple[str, ...],
) -> list[Effect]:
    """Return what copying into a folder writes beyond the folder: the files by their own names.

    Whether a destination is a folder is not known here, so both readings
    count; of this one only what is guarded is told.
    """
    if len(operands) < 2 or roles[-1:] not in (["write"], ["link"], ["transfer*"]):
        return []
    target = operands[-1]
    made: list[Effect] = []
    if any(source.text.endswith(("/", "/.")) or source.glob for source in operands[:-1]):
        made += reading.touch("fs.write", target, command, name, (*how, "extract"))
    for source in operands[:-1]:
        inside = target._replace(text=f"{target.text}/{basename(source.text.rstrip('/'))}")
        made += reading.touch("fs.write", inside, command, name, how)
    return [e for e in made if e.type in ("gate.tamper", "sys.startup") or e.scope == "gate"]


def _renamed(reading: Reading, made: list[Effect], how: tuple[str, ...]) -> list[Effect]:
    """Return the effects of a move without the alarm of one that empties a workspace.

    What is moved within the workspace is still there under another name; where it goes to a
    place that is not known, that place is what is asked about.
    """
    if "move" not in how:
        return made
    from toolgate.gate.effects import moved

    moved.note(reading.files, made)
    into = {effect.scope for effect in made if effect.type == "fs.write"}
    if not into or not into <= {"workspace", "unknown"}:
        return made
    return [
        effect._replace(how=" ".join(mark for mark in effect.how.split() if mark != "anchor"))
        if effect.type == "fs.delete" and effect.scope == "workspace" and "glob" in effect.how
        else effect
        for effect in made
    ]


def _subcommand(
    reading: Reading,
    entry: dict[str, Any],
    name: str,
    arguments: tuple[Word, ...],
    command: Command,
) -> list[Effect]:
    reading.work.spend(20 + 4 * len(arguments))
    parsed = split(arguments, entry, stop=True)
    made = _by_options(reading, entry, parsed, name, command, ()) if parsed.options else []
    for clause in entry.get("when", ()):
        if holds(clause, parsed._replace(rest=())):
            made += [stated(item, name, ()) for item in clause.get("does", ())]
    rest = parsed.rest
    if entry.get("special") == "git":
        made, rest = special.git_globals(reading, parsed, command, made)
    told = asks_for_help(entry, parsed, name, arguments)
    if not rest and (told or parsed.has(entry.get("dry", []), abbreviated=False)):
        return [*made, reading.inspect(name)]
    if not rest and entry.get("special") == "fed":
        made += special.READINGS["fed"](reading, parsed, name, command, ())
    if not rest:
        made += [stated(item, name, ()) for item in entry.get("does", ())]
        if name in _ENTERS:
            from toolgate.gate.effects import entrypoints

            made += entrypoints.run(reading, name, parsed, command)
        return made or [reading.inspect(name)]
    rest = verbs.without_track(entry, rest)
    if verbs.only_reads(entry, rest):
        return [*made, reading.inspect(name)]
    below = _below(entry, rest[0], last=len(rest) == 1) if rest[0].known else None
    if below is None and entry.get("keeps"):
        return [*made, *reading.invoke(rest, command)]
    if below is None or verbs.changes_a_noun(rest[0].text, below, rest[1:]):
        if any(word.text in ("--help", "help") for word in rest[:2]):
            return [*made, reading.inspect(name)]
        resource = f"{name} {rest[0].text}"
        return [*made, reading.unknown("unknown-subcommand", name, resource)]
    how = tuple(entry.get("how", ()))
    done = apply(reading, below, f"{name} {rest[0].text}", rest[1:], command, how)
    if not any(effect.type in _INSTALLS for effect in done):
        made = [effect for effect in made if effect.how != "index"]  # nothing comes out of it
    return made + done


def _below(entry: dict[str, Any], word: Word, *, last: bool) -> dict[str, Any] | None:
    below: dict[str, Any] = entry["subcommands"]
    if word.text in below:
        return below[word.text] or {}
    other: dict[str, Any] | None = entry.get("other")
    patterns = [name for name in below if "*" in name and matches(word.text, name)]
    if patterns == ["*"] and last and other is not None and below["*"].get("subcommands"):
        return other  # nothing follows, so this is the verb and no further noun
    if patterns:
        return below[max(patterns, key=len)] or {}
    return other


def _by_options(
    reading: Reading,
    entry: dict[str, Any],
    parsed: Parsed,
    name: str,
    command: Command,
    how: tuple[str, ...],
) -> list[Effect]:
    made: list[Effect] = []
    roles = entry.get("values", {})
    for option, value in parsed.options:
        if value is None:
            continue
        role = role_of(option, roles)
        if role == "shell" and option in entry.get("late", ()):
            if value.known:
                made += reading.inner(value.text, cwd=command.cwd, arguments=parsed.rest)
            else:
                made += _printed(reading, value, name) or [reading.code_not_known(name)]
        elif role:
            made += argument(reading, role, value, command, name, how)
    return made


def argument(
    reading: Reading,
    role: str,
    word: Word,
    command: Command,
    name: str,
    how: tuple[str, ...],
    *,
    last: bool = False,
) -> list[Effect]:
    """Return the effects of one argument in its role."""
    if role in _SILENT_ROLES:
        return []
    reading.work.spend(6)
    if role in _FILE_ROLES:
        marks = (*how, *_ROLE_MARKS.get(role, ()))
        made = reading.touch(_FILE_ROLES[role], word, command, name, marks)
        # An empty folder runs nothing by itself, wherever it lies.
        return [e for e in made if role != "folder" or e.type != "sys.startup"]
    if role == "edit":
        shown = reading.touch("fs.read", word, command, name, how)
        return shown + reading.touch("fs.write", word, command, name, how)
    if role == "stage":
        return _staged(reading, word, command, name)
    if role in _ADDRESSES:
        return _address(reading, role, word, name, how)
    if role == "shell":
        if not word.known:
            return _printed(reading, word, name) or [reading.code_not_known(name)]
        return reading.inner(word.text, cwd=command.cwd)
    if role in CODE:
        if not word.known and (run := _printed(reading, word, name)):
            return run
        return code.effects(role, word.text, reading, command, name)
    if role == "exec":
        return reading.run_file(word, command, name)
    if role == "module":
        return _module(reading, word, command, name)
    if role == "data" and word.text.startswith("@") and word.text != "@-":
        return reading.touch("fs.read", word._replace(text=word.text[1:]), command, name)
    if role == "item":
        # HTTPie: name@file is uploaded, name=@file and name:=@file are read into the body.
        before, at, file = word.text.partition("@")
        sends = bool(at) and not before.rstrip(":=").endswith(("/", ":"))
        return reading.touch("fs.read", word._replace(text=file), command, name) if sends else []
    if role == "upload":
        return _upload(reading, word, command, name)
    if role == "transfer":
        return _transfer(reading, word, command, name, how, last=last)
    return []


def _address(
    reading: Reading, role: str, word: Word, name: str, how: tuple[str, ...]
) -> list[Effect]:
    """Return the effects of an address: reached, listened on, or packages come from it."""
    if role == "listen":
        return [_listening(word, name)]
    if role == "index":
        from toolgate.gate.effects import indexes

        return indexes.named(reading, word.text, name)
    return [reading.net("net.send" if "send" in how else "net.fetch", word.text, name, how)]


def _printed(reading: Reading, word: Word, name: str) -> list[Effect]:
    """Return the effects of code that known files are printed into; or none."""
    from toolgate.gate.effects.interpreted import printed

    return printed(reading, word, name)


def _staged(reading: Reading, word: Word, command: Command, name: str) -> list[Effect]:
    """Return that a secret goes under version control, where a push takes it along."""
    return [
        effect._replace(type="secret.persist", how="staged")
        for effect in reading.touch("fs.read", word, command, name)
        if effect.type == "secret.read"
    ]


def _listening(word: Word, name: str) -> Effect:
    """Return the effect of listening on an address; 0.0.0.0 is every network, not this machine."""
    host = host_of(word.text)
    own = is_local(host) and host != "0.0.0.0"
    return Effect("net.listen", "workspace" if own else "outside", host, True, PROVED, name)


def _module(reading: Reading, word: Word, command: Command, name: str) -> list[Effect]:
    """Read ``python -m NAME``: a catalogued tool as itself, anything else as project code."""
    position = next((i for i, w in enumerate(command.words) if w is word), -1)
    entry = reading.entry(word.text) if position >= 0 else None
    if entry is not None:
        return apply(reading, entry, word.text, command.words[position + 1 :], command)
    if word.text in _LOOKING_MODULES:
        return [reading.inspect(name)]
    proof = unresolved("project-code" if word.known else "code-not-known")
    scope = "workspace" if word.known else "unknown"
    made = [Effect("exec.code", scope, word.text, True, proof, name, "project")]
    if word.known:
        from toolgate.gate.effects import entrypoints

        made += entrypoints.run_module(reading, word.text, name, command)
    return made


def _upload(reading: Reading, word: Word, command: Command, name: str) -> list[Effect]:
    # curl -F name=@file and name=<file; curl -T file.
    _, marker, tail = word.text.partition("=")
    if marker and tail[:1] in ("@", "<"):
        word = word._replace(text=tail[1:].split(";", 1)[0])
    elif marker:
        return []
    return reading.touch("fs.read", word, command, name)


def _transfer(
    reading: Reading, word: Word, command: Command, name: str, how: tuple[str, ...], *, last: bool
) -> list[Effect]:
    remote = split_remote(word.text)
    if remote is not None and "container" in how:
        scope, marks = "workspace", " ".join(how)
        changed = Effect("infra.mutate", scope, remote[0], True, PROVED, name, marks)
        return [changed] if last else []
    if remote is None:
        return reading.touch("fs.write" if last else "fs.read", word, command, name, how)
    return [reading.net("net.send" if last else "net.fetch", remote[0], name, how)]
