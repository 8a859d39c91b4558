"""What bash runs for a text, with every program replaced by a recorder.

The shell is started in namespaces of its own (processes, mounts, network) and
below a root that holds nothing but the shell, its libraries, a home and an
empty working directory. No program exists there: whatever the text names is
handed to bash's own handler for commands it does not find, which writes the
arguments down and answers as it was told to. Builtins that would only print or
signal are shadowed in the same way.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

CWD, HOME = "/home/dev/app", "/home/dev"
MOST_SECONDS = 1.0
_SHELL = "/shell-of-the-recorder"
_NOBODY = 65534
_LIMITS = "ulimit -t 1 -f 2048 -u 64 -v 2000000"

_HANDLER = r"""
__note() {
  builtin printf '%s\0' "$#" "$@" >>"/records/$BASHPID"
  builtin printf '%s' "$RECORDER_PRINTS"
  return "$RECORDER_STATUS"
}
command_not_found_handle() { __note "$@"; }
"""
# Builtins that print what the reader may know: recorded, and run.
_PRINTING = ("echo", "printf")
# Builtins that do nothing the rest of the text depends on.
_SHADOWED = (
    *("kill", "type", "hash", "history", "fc", "jobs", "bg", "fg"),
    *("disown", "suspend", "logout", "times", "help", "compgen", "complete", "compopt", "bind"),
    *("enable", "umask", "dirs", "caller"),
)


class Answers(NamedTuple):
    """How every recorded program answers.

    Args:
        status: its exit status.
        prints: what it writes to its standard output.
    """

    status: int
    prints: str


WAYS = (Answers(0, ""), Answers(0, "r1 r2\n"), Answers(1, "r1\n"))


class Recorder:
    """Runs texts below one root.

    Args:
        root: the directory the shell sees as the whole file system.
        prefix: the command that enters the namespaces and the root.
    """

    def __init__(self, root: Path, prefix: list[str]) -> None:
        self._root = root
        self._prefix = prefix

    def valid(self, text: str) -> bool:
        """Say whether bash parses a text."""
        return self._start(["-n", "-c", text], Answers(0, "")) == 0

    def ran(self, text: str) -> list[list[str]]:
        """Return the argument lists of what bash runs, each once, over all ways of answering."""
        found: dict[tuple[str, ...], None] = {}
        for way in WAYS:
            self._empty()
            self._start(["-c", text], way)
            for record in sorted((self._root / "records").iterdir()):
                for argv in _records(record.read_bytes()):
                    found[argv] = None
        return [list(argv) for argv in found]

    def _start(self, arguments: list[str], way: Answers) -> int:
        environment = {
            "PATH": "/nowhere",
            "HOME": HOME,
            "BASH_ENV": "/handler",
            "LC_ALL": "C.UTF-8",
            "RECORDER_STATUS": str(way.status),
            "RECORDER_PRINTS": way.prints,
        }
        entered = f'{_LIMITS}; cd {CWD} && exec {_SHELL} --norc --noprofile "$@"'
        # The limits are set by a first shell, which reads no handler.
        command = [*self._prefix, _SHELL, "-p", "-c", entered, "shell", *arguments]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        try:
            return process.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            # The first process of a namespace takes all others with it, and is waited for.
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            for child in children.split():
                os.kill(int(child), signal.SIGKILL)
            process.wait()
            return -1

    def _empty(self) -> None:
        for name in (CWD, "/records", "/tmp"):
            folder = self._root / name[1:]
            if folder.is_dir():
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
            folder.chmod(0o777)


def _records(data: bytes) -> Iterator[tuple[str, ...]]:
    parts = data.decode("utf-8", "surrogateescape").split("\0")
    position = 0
    while position < len(parts) - 1:
        count = int(parts[position])
        argv = parts[position + 1 : position + 1 + count]
        # A coprocess that is not found is reported behind its variable's name.
        while len(argv) > 1 and argv[0] == "COPROC":
            argv = argv[1:]
        yield tuple(argv)
        position += 1 + count


@contextmanager
def recorder() -> Iterator[Recorder]:
    """Open a recorder.

    Raises:
        OSError: bash is not installed, or this machine lets nobody make namespaces.
    """
    bash = shutil.which("bash")
    if bash is None:
        raise OSError("bash is not installed")
    with tempfile.TemporaryDirectory(prefix="toolgate-recorder-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        _furnish(root, bash)
        made = Recorder(root, _prefix(root))
        made._empty()
        if not made.valid(":") or made.ran("probe one") != [["probe", "one"]]:
            raise OSError("the shell cannot be started in namespaces of its own here")
        yield made


def _prefix(root: Path) -> list[str]:
    unshare, chroot = shutil.which("unshare"), shutil.which("chroot")
    if unshare is None or chroot is None:
        raise OSError("unshare or chroot is not installed")
    own = ["--net", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root / 'proc'}"]
    if os.geteuid() == 0:
        user = f"--userspec={_NOBODY}:{_NOBODY}"
        return [unshare, *own, chroot, user, str(root)]
    return [unshare, "--map-root-user", *own, chroot, str(root)]


def _furnish(root: Path, bash: str) -> None:
    shutil.copy2(bash, root / _SHELL[1:])
    listed = subprocess.run(["ldd", bash], capture_output=True, text=True, check=True).stdout
    for word in listed.split():
        if word.startswith("/") and Path(word).is_file():
            target = root / word[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(word, target)
    for name in ("proc", "dev", "tmp", "records", HOME[1:], CWD[1:]):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "dev" / "fd").symlink_to("/proc/self/fd")
    null = root / "dev" / "null"
    null.touch()
    null.chmod(0o666)
    shadowed = "".join(f'{name}() {{ __note {name} "$@"; }}\n' for name in _SHADOWED)
    shadowed += "".join(
        f'{name}() {{ __note {name} "$@" >/dev/null; builtin {name} "$@"; }}\n'
        for name in _PRINTING
    )
    (root / "handler").write_text(_HANDLER + shadowed)
