"""Which files a program runs without being given their names: targets, scripts, hooks, tests."""

from posixpath import dirname, join

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import flow
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Reading, part_of
from toolgate.gate.shell.model import Command, Word

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
PACKAGE = "package.json"
TESTS = "tests"
"""Name of the part of a workspace that holds its tests."""

FIRST = ""
"""Name of the target that is made when none is named."""

_NAMED_FILES = frozenset(("bun", "coverage run", "gunicorn", "uvicorn", "hypercorn"))
_USUAL_FILES = {
    "pip install": ("setup.py",),
    "pip wheel": ("setup.py",),
    "build": ("setup.py",),
    "inv": ("tasks.py",),
    "invoke": ("tasks.py",),
    "fab": ("fabfile.py",),
    "scons": ("SConstruct",),
    "nox": ("noxfile.py",),
    "composer": ("composer.json",),
    "docker compose": ("Dockerfile",),
    "docker-compose": ("Dockerfile",),
    "docker compose build": ("Dockerfile",),
    "docker compose up": ("Dockerfile",),
}
_PLANNERS = ("terraform", "tofu", "terragrunt")
_MANAGERS = ("npm", "yarn", "pnpm", "bun")
_BY_NAME = ("test", "start", "stop", "restart", "build", "dev", "lint", "serve", "publish", "pack")
_INSTALLS = ("install", "i", "ci", "add")
_INSTALL_SCRIPTS = ("preinstall", "install", "postinstall", "prepublish", "prepare")
_RUNS_TESTS = frozenset(
    (
        "pytest",
        "py.test",
        "unittest",
        "nose2",
        "tox",
        "nox",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "tap",
    )
)
_HOOKS = {
    "git commit": ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    "git merge": ("pre-merge-commit", "post-merge", "commit-msg"),
    "git pull": ("post-merge", "pre-merge-commit"),
    "git push": ("pre-push",),
    "git checkout": ("post-checkout",),
    "git switch": ("post-checkout",),
    "git rebase": ("pre-rebase", "post-rewrite", "post-checkout"),
    "git am": ("applypatch-msg", "pre-applypatch", "post-applypatch"),
}
_HOOK_FOLDERS = (".git/hooks", ".husky")
_NO_HOOKS = {"git commit": ["-n", "--no-verify"], "git push": ["--no-verify"]}


def run(reading: Reading, name: str, parsed: Parsed, command: Command) -> list[Effect]:
    """Return what a program's call runs of files the session has written.

    Args:
        reading: knows the files.
        name: the program with its subcommands, as the catalogue has it.
        parsed: its arguments.
        command: the command.
    """
    names = _files(reading, name, parsed, command)
    return [
        effect for path in dict.fromkeys(names) for effect in reading.run_known(path, name) or []
    ]


def run_module(reading: Reading, module: str, name: str, command: Command) -> list[Effect]:
    """Return what ``python -m MODULE`` runs of files the session has written."""
    if not command.cwd:
        return []
    below = join(command.cwd, module.replace(".", "/"))
    made: list[Effect] = []
    for path in (f"{below}.py", f"{below}/__main__.py", f"{below}/__init__.py"):
        made += reading.run_known(path, name) or []
    return made


def _files(reading: Reading, name: str, parsed: Parsed, command: Command) -> list[str]:
    first, _, rest = name.rpartition("/")[2].partition(" ")
    if first in _MANAGERS:
        scripts = _scripts(first, rest.split(), parsed)
        file = _path(reading, PACKAGE, command, parsed, "--prefix", "-C", "--dir", "--cwd")
        return [part_of(file, script) for script in scripts if file]
    if first in ("make", "gmake"):
        return _targets(reading, parsed, command)
    if name in _HOOKS:
        if name in _NO_HOOKS and parsed.has(_NO_HOOKS[name], abbreviated=False):
            return []
        folders = [reading.paths.resolve(folder, _root(reading)) for folder in _HOOK_FOLDERS]
        return [join(folder, hook) for folder in folders for hook in _HOOKS[name]]
    if first in _RUNS_TESTS or rest in _RUNS_TESTS or (first == "node" and parsed.has(["--test"])):
        return _tests(reading, parsed, command)
    if name in _NAMED_FILES:
        words = (*parsed.operands, *parsed.rest)
        found = [reading.paths.resolve(word.text, command.cwd) for word in words if word.known]
        return found if name != "bun" else found[:1]
    if first in _USUAL_FILES or name in _USUAL_FILES:
        own = _USUAL_FILES.get(name) or _USUAL_FILES[first]
        folders = [word.text for word in parsed.operands if word.known] if first == "pip" else []
        folders += [
            v.text for o, v in parsed.options if v is not None and o in ("-e", "--editable")
        ]
        return [
            reading.paths.resolve(join(folder, file), command.cwd)
            for folder in folders or ["."]
            for file in own
        ]
    if first == "docker" and (rest in ("build", "buildx build", "image build")):
        given = parsed.value("-f", "--file")
        folder = parsed.operands[-1].text if parsed.operands else "."
        if given is not None:
            return [reading.paths.resolve(given.text, command.cwd)]
        return [reading.paths.resolve(join(folder, "Dockerfile"), command.cwd)]
    if rest == "apply" and first in _PLANNERS:
        words = (*parsed.operands, *parsed.rest)
        return [reading.paths.resolve(word.text, command.cwd) for word in words if word.known]
    if name in ("go run", "cargo script", "rustc", "javac", "java"):
        words = (*parsed.operands, *parsed.rest)
        files = [word.text for word in words if "." in word.text and word.known]
        return [reading.paths.resolve(text, command.cwd) for text in files]
    if first in ("crontab", "at", "batch", "just", "rake"):
        usual = {"just": "justfile", "rake": "Rakefile"}.get(first)
        named = list(parsed.operands) if usual is None else [Word(usual)]
        given = parsed.value("-f", "--justfile", "--rakefile")
        named += [given] if given is not None else []
        fed = flow.fed_files(reading.script, command)
        return [
            *(reading.paths.resolve(word.text, command.cwd) for word in named if word.text != "-"),
            *(reading.paths.resolve(word.text, where.cwd) for word, where in fed),
        ]
    return []


def _root(reading: Reading) -> str:
    return reading.place.roots[0] if reading.place.roots else reading.place.cwd


def _path(reading: Reading, file: str, command: Command, parsed: Parsed, *folders: str) -> str:
    given = parsed.value(*folders)
    return reading.paths.resolve(join(given.text, file) if given is not None else file, command.cwd)


def _scripts(manager: str, below: list[str], parsed: Parsed) -> list[str]:
    """Return the names of the package's scripts that a call reaches, hooks before and after."""
    words = [word.text for word in (*parsed.operands, *parsed.rest)]
    name = below[0] if below else (words[0] if words else "install")
    if name in ("run", "run-script", "rum"):
        named = words[:1]
    elif name in _INSTALLS:
        return [] if parsed.has(["--ignore-scripts"]) else list(_INSTALL_SCRIPTS)
    elif name in ("t", "tst"):
        named = ["test"]
    elif name in _BY_NAME or (manager != "npm" and not below):
        named = [name]
    else:
        return []
    if parsed.has(["--ignore-scripts"]):
        return named
    return [script for one in named for script in (f"pre{one}", one, f"post{one}")]


def _targets(reading: Reading, parsed: Parsed, command: Command) -> list[str]:
    given = parsed.value("-f", "--file", "--makefile")
    folder = parsed.value("-C", "--directory")
    cwd = command.cwd
    if folder is not None:
        cwd = reading.paths.resolve(folder.text, cwd)
    files = MAKEFILES if given is None else (given.text,)
    words = [word.text for word in (*parsed.operands, *parsed.rest) if "=" not in word.text]
    return [
        part_of(reading.paths.resolve(file, cwd), target)
        for file in files
        for target in words or [FIRST]
    ]


def _tests(reading: Reading, parsed: Parsed, command: Command) -> list[str]:
    """Return the named test files, or all tests where a folder or none is named."""
    words = [word.text.partition("::")[0] for word in (*parsed.operands, *parsed.rest)]
    files = [text for text in words if "." in text.rpartition("/")[2].strip(".")]
    named = [reading.paths.resolve(text, command.cwd) for text in files]
    # What every test below a folder takes in.
    above = dict.fromkeys((_root(reading), command.cwd, *(dirname(path) for path in named)))
    named += [join(folder, "conftest.py") for folder in above if folder]
    if words and len(files) == len(words):
        return named
    return [*named, part_of(_root(reading), TESTS)]
