"""Which files a program runs without being given their names: targets, scripts, hooks, tests."""

from posixpath import basename, dirname, join

from toolgate.gate.catalog.options import Parsed
from toolgate.gate.effects import flow
from toolgate.gate.effects.defined import SHELL_STARTS, put
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import SETTINGS, Reading, part_of
from toolgate.gate.effects.usual_files import (
    APPLICATION_OPTIONS,
    APPLICATIONS,
    NAMED,
    RUNNERS,
    tool_of,
    usual_files,
)
from toolgate.gate.shell.model import Command

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
PACKAGE = "package.json"
TESTS = "tests"
"""Name of the part of a workspace that holds its tests."""

NPM_SETTINGS = ".npmrc"
SCRIPT_SHELL = "script-shell"
"""Key of the package manager's settings that names the shell its scripts are run by."""

SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))

CI = "ci"
"""Name of the part of a workspace that holds the jobs of its continuous integration."""

LOOSE = (TESTS, CI)
"""Parts of a workspace that many files add to."""

EVERY = "*"
"""Name of the part of a Makefile's file that holds all of its targets."""

FIRST = ""
"""Name of the target that is made when none is named."""

_PLANNERS = ("terraform", "tofu", "terragrunt")
_MANAGERS = ("npm", "yarn", "pnpm", "bun")
_BY_NAME = ("test", "start", "stop", "restart", "build", "dev", "lint", "serve", "publish", "pack")
_INSTALLS = ("install", "i", "ci", "add")
_INSTALL_SCRIPTS = ("preinstall", "install", "postinstall", "prepublish", "prepare")
_PUBLISHES = {
    "publish": ("prepublishOnly", "prepare", "prepack", "postpack", "publish", "postpublish"),
    "pack": ("prepare", "prepack", "postpack"),
    "version": ("preversion", "version", "postversion"),
}
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
HOOKS = {
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
_HOOK_MANAGERS = (".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml")
_SCRIPT_ENDINGS = (".js", ".mjs", ".cjs", ".ts", "/index.js")
_FOLDER_OPTIONS = ("--prefix", "-C", "--dir", "--cwd")
_WORKSPACE_OPTIONS = ("-w", "--workspace", "--filter", "-F")
_WORKSPACES = ("packages", "apps")
_PRINTS_RECIPES = ["-n", "--dry-run", "--just-print", "--recon"]
_SAME_WITH_MORE = frozenset(
    ("exec.code", "inspect", "fs.read", "net.fetch", "pkg.install", "net.listen")
)
"""Kinds of what a script does that more words behind its command make no worse."""
_SETS = ("npm config set", "npm set")
_NO_HOOKS = {"git commit": ["-n", "--no-verify"], "git push": ["--no-verify"]}


def run(reading: Reading, name: str, parsed: Parsed, command: Command) -> list[Effect]:
    """Return what a program's call runs of files the session has written.

    Args:
        reading: knows the files.
        name: the program with its subcommands, as the catalogue has it.
        parsed: its arguments.
        command: the command.
    """
    if name in _SETS:
        _set_shell(reading, parsed)
    if not (reading.files.may_know or reading.files.noted):
        return []  # nothing is known of any file
    names = _files(reading, name, parsed, command)
    made = [
        effect for path in dict.fromkeys(names) for effect in reading.run_known(path, name) or []
    ]
    if any(effect.type not in _SAME_WITH_MORE for effect in made) and _adds(name, command):
        made.append(reading.unknown("arguments-added", name))
    return made


def _adds(name: str, command: Command) -> bool:
    """Say whether a call puts words of its own behind a script's command."""
    manager = name.rpartition("/")[2].partition(" ")[0] in _MANAGERS
    return manager and "--" in [word.text for word in command.words[:-1]]


def run_module(reading: Reading, module: str, name: str, command: Command) -> list[Effect]:
    """Return what ``python -m MODULE`` runs of files the session has written."""
    if not command.cwd or not (reading.files.may_know or reading.files.noted):
        return []
    below = join(command.cwd, module.replace(".", "/"))
    made: list[Effect] = []
    for path in (f"{below}.py", f"{below}/__main__.py", f"{below}/__init__.py"):
        made += reading.run_known(path, name) or []
    return made


def _files(reading: Reading, name: str, parsed: Parsed, command: Command) -> list[str]:
    first, _, rest = name.rpartition("/")[2].partition(" ")
    found = _tools_own(reading, name, parsed, command)
    if parsed.has(["-i", "-l", "--login"], abbreviated=False) and first in SHELLS:
        return [join(reading.place.home, file) for file in sorted(SHELL_STARTS)]
    if first == "bun" and "." in rest:
        return [*found, reading.paths.resolve(rest, command.cwd)]
    if first in _MANAGERS:
        scripts = _scripts(first, rest.split(), parsed)
        if scripts and reading.files.defines(SETTINGS):
            homes = (_root(reading), reading.place.home)
            found += [part_of(join(home, NPM_SETTINGS), SCRIPT_SHELL) for home in homes]
        return found + [part_of(f, one) for f in _packages(reading, command) for one in scripts]
    if first == "node" and parsed.has(["--run"]):
        file = reading.paths.resolve(PACKAGE, command.cwd)
        return [*found, *(part_of(file, word.text) for word in parsed.rest[:1])]
    if first in ("make", "gmake"):
        return _targets(reading, parsed, command)
    if name in HOOKS:
        if name in _NO_HOOKS and parsed.has(_NO_HOOKS[name], abbreviated=False):
            return []
        folders = [reading.paths.resolve(folder, _root(reading)) for folder in _HOOK_FOLDERS]
        managers = [reading.paths.resolve(file, _root(reading)) for file in _HOOK_MANAGERS]
        return [*(join(folder, hook) for folder in folders for hook in HOOKS[name]), *managers]
    if first in _RUNS_TESTS or rest in _RUNS_TESTS or (first == "node" and parsed.has(["--test"])):
        return found + _tests(reading, parsed, command)
    if first in ("docker", "podman") and rest in ("build", "buildx build", "image build"):
        return _image(reading, parsed, command)
    if first in ("act", "gitlab-runner"):
        return [part_of(_root(reading), CI)]
    if rest == "apply" and first in _PLANNERS:
        return _operands(reading, parsed, command)
    if name in ("go run", "cargo script", "rustc", "javac", "java"):
        return [path for path in _operands(reading, parsed, command) if "." in basename(path)]
    if first in ("crontab", "at", "batch"):
        given = parsed.value("-f")
        named = [*parsed.operands, *([given] if given is not None else [])]
        fed = flow.fed_files(reading.script, command)
        return [
            *(reading.paths.resolve(word.text, command.cwd) for word in named if word.text != "-"),
            *(reading.paths.resolve(word.text, where.cwd) for word, where in fed),
        ]
    return found


def _tools_own(reading: Reading, name: str, parsed: Parsed, command: Command) -> list[str]:
    """Return the files a tool looks for by itself, and those of its operands that it runs."""
    tool = tool_of(name)
    found: list[str] = []
    own = usual_files(name)
    if own:
        given = parsed.value("-f", "--file", "--justfile", "--rakefile", "--taskfile", "-c")
        given = given if given is not None else parsed.value("--config")
        folders = [word.text for word in parsed.operands if word.known] if "pip" in name else []
        folders += [
            v.text for o, v in parsed.options if v is not None and o in ("-e", "--editable")
        ]
        named = [given.text] if given is not None and given.known else []
        named += [join(folder, file) for folder in folders or ["."] for file in own]
        found += [reading.paths.resolve(file, command.cwd) for file in named]
    first, _, rest = name.partition(" ")
    if first in RUNNERS and tool and (first != "npm" or rest.startswith("exec")):
        found.append(reading.paths.resolve(f"node_modules/.bin/{tool}", command.cwd))
    if name in NAMED or tool in NAMED:
        for path in _operands(reading, parsed, command):
            found += [path, *(path + ending for ending in _SCRIPT_ENDINGS)]
    if name in APPLICATIONS or tool in APPLICATIONS:
        words = [word.text for word in (*parsed.operands, *parsed.rest) if word.known]
        words += [value for o, value in _given(command, APPLICATION_OPTIONS)]
        words += [word.text for key, word in command.assigns if key == "FLASK_APP"]
        for word in words:
            below = word.partition(":")[0].removesuffix(".py").replace(".", "/")
            module = reading.paths.resolve(below, command.cwd)
            found += [f"{module}.py", f"{module}/__init__.py"]
    return found


def _set_shell(reading: Reading, parsed: Parsed) -> None:
    """Keep which shell the package manager is told to run scripts by."""
    words = (*parsed.operands, *parsed.rest)
    text = "=".join(word.text for word in words)
    key, _, value = text.partition("=")
    if key == SCRIPT_SHELL:
        known = all(word.known for word in words)
        part = part_of(join(reading.place.home, NPM_SETTINGS), SCRIPT_SHELL)
        put(reading, part, value if known else None, "home")


def _operands(reading: Reading, parsed: Parsed, command: Command) -> list[str]:
    words = (*parsed.operands, *parsed.rest)
    return [reading.paths.resolve(word.text, command.cwd) for word in words if word.known]


def _image(reading: Reading, parsed: Parsed, command: Command) -> list[str]:
    given = parsed.value("-f", "--file")
    if given is not None:
        return [reading.paths.resolve(given.text, command.cwd)]
    folder = parsed.operands[-1].text if parsed.operands else "."
    files = ("Dockerfile", "Containerfile")
    return [reading.paths.resolve(join(folder, file), command.cwd) for file in files]


def _given(command: Command, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the values of options wherever they stand in a command."""
    found: list[tuple[str, str]] = []
    for position, word in enumerate(command.words):
        name, equals, value = word.text.partition("=")
        if name in names and (equals or position + 1 < len(command.words)):
            found.append((name, value if equals else command.words[position + 1].text))
    return found


def _packages(reading: Reading, command: Command) -> list[str]:
    """Return the package files a manager's call is about."""
    folders = [value for _, value in _given(command, _FOLDER_OPTIONS)]
    for _, name in _given(command, _WORKSPACE_OPTIONS):
        bare = name.rpartition("/")[2]
        folders += [name, *(join(parent, bare) for parent in _WORKSPACES)]
    return [
        reading.paths.resolve(join(folder, PACKAGE), command.cwd) for folder in folders or ["."]
    ]


def _root(reading: Reading) -> str:
    return reading.place.roots[0] if reading.place.roots else reading.place.cwd


def _scripts(manager: str, below: list[str], parsed: Parsed) -> list[str]:
    """Return the names of the package's scripts that a call reaches, hooks before and after."""
    words = [word.text for word in (*parsed.operands, *parsed.rest)]
    name = below[0] if below else (words[0] if words else "install")
    if name in ("run", "run-script", "rum"):
        named = words[:1]
    elif name in _INSTALLS:
        return [] if parsed.has(["--ignore-scripts"]) else list(_INSTALL_SCRIPTS)
    elif name in _PUBLISHES:
        return [] if parsed.has(["--ignore-scripts"]) else list(_PUBLISHES[name])
    elif name in ("t", "tst"):
        named = ["test"]
    elif name in _BY_NAME or manager != "npm":
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
    paths = [reading.paths.resolve(file, cwd) for file in files]
    if parsed.has(_PRINTS_RECIPES, abbreviated=False):
        return paths  # what is run as the file is read, not its recipes
    words = [word.text for word in (*parsed.operands, *parsed.rest) if "=" not in word.text]
    return [part_of(path, target) for path in paths for target in words or [FIRST]]


def _tests(reading: Reading, parsed: Parsed, command: Command) -> list[str]:
    """Return the named test files, or all tests where a folder or none is named."""
    words = [word.text.partition("::")[0] for word in (*parsed.operands, *parsed.rest)]
    modules = [word.replace(".", "/") + ".py" for word in words if "/" not in word]
    files = [text for text in words if "." in text.rpartition("/")[2].strip(".")]
    named = [reading.paths.resolve(text, command.cwd) for text in (*files, *modules)]
    # What every test below a folder takes in.
    above = dict.fromkeys((_root(reading), command.cwd, *(dirname(path) for path in named)))
    named += [join(folder, "conftest.py") for folder in above if folder]
    if words and len(files) == len(words):
        return named
    return [*named, part_of(_root(reading), TESTS)]
