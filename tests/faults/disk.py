"""Disks that fail and writers that die, at a chosen call of a forked child.

The child's ``os`` functions are replaced. Every call that can change the disk is
counted; the one whose number is asked for is made to fail, and the parent reads
what the child had acknowledged before.
"""

import errno
import gc
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

FAILING = ("write", "fsync", "open", "link", "rename", "unlink", "mkdir", "rmdir", "ftruncate")

Say = Callable[[str], None]


class Fault(NamedTuple):
    """What happens at the chosen call.

    Args:
        name: for the test's id.
        error: the errno to raise; None to die.
        done: how much of the call is carried out first: nothing, half (writes only), all.
        sticky: whether every later change fails alike, as on a disk remounted read-only.
    """

    name: str
    error: int | None
    done: str = "nothing"
    sticky: bool = False


DIE_BEFORE = Fault("killed before", None)
DIE_AFTER = Fault("killed after", None, "all")
DIE_AMID = Fault("killed amid a write", None, "half")
SHORT = Fault("short write", 0, "half")
NO_SPACE = Fault("no space", errno.ENOSPC)
IO_ERROR = Fault("input or output error", errno.EIO)
IO_ERROR_AFTER = Fault("error although done", errno.EIO, "all")
READ_ONLY = Fault("read-only from here", errno.EROFS, "nothing", True)

FAULTS = (
    DIE_BEFORE,
    DIE_AFTER,
    DIE_AMID,
    SHORT,
    NO_SPACE,
    IO_ERROR,
    IO_ERROR_AFTER,
    READ_ONLY,
)


class Ran(NamedTuple):
    """What a child did.

    Args:
        said: what it said before its end.
        reached: name of the call that failed; None when there were fewer calls.
        calls: how many calls it made that can change the disk.
    """

    said: list[str]
    reached: str | None
    calls: int


def applies(fault: Fault, call: str) -> bool:
    """Say whether a fault can befall a call of a name."""
    if fault.done == "half":
        return call == "write"
    # A file system that gives an error has not made the name; half a change is a kill's.
    return fault is not IO_ERROR_AFTER or call in ("write", "fsync")


def run(work: Callable[[Say], None], at: int, fault: Fault) -> Ran:
    """Run something in a child whose disk fails at the nth change.

    Args:
        work: what to run; it is given a way to say what was acknowledged.
        at: number of the failing call, from 1.
        fault: what happens there.

    Raises:
        AssertionError: the child ended in a way the fault does not explain.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _child(work, at, fault, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode().split("\n")[:-1]
    _, status = os.waitpid(child, 0)
    died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert died or status == 0, "\n".join([f"status {status:#x}", *said])
    reached = next((line[8:] for line in said if line.startswith("reached ")), None)
    assert not died or (reached and fault.error is None)
    calls = [int(line[6:]) for line in said if line.startswith("calls ")]
    kept = [line for line in said if not line.startswith(("reached ", "calls "))]
    return Ran(kept, reached, calls[0] if calls else at)


def _child(work: Callable[[Say], None], at: int, fault: Fault, pipe: int) -> NoReturn:
    gc.disable()  # what the parent left lying about may need threads that a fork has not
    shim = _Shim(at, fault, pipe)
    try:
        shim.install()
        work(shim.say)
        shim.say(f"calls {shim.count}")
    except BaseException:
        shim.say(traceback.format_exc())
        os._exit(1)
    os._exit(0)


class _Shim:
    """Stands before the child's ``os`` functions."""

    def __init__(self, at: int, fault: Fault, pipe: int) -> None:
        self.count = 0
        self._at = at
        self._fault = fault
        self._pipe = pipe
        self._broken = False
        self._real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in FAILING}
        # A killed process loses nothing the system has; waiting for the disk would only be slow.
        self._real["fsync"] = lambda fd: None

    def say(self, text: str) -> None:
        """Tell the parent."""
        self._real["write"](self._pipe, text.encode() + b"\n")

    def install(self) -> None:
        """Replace the functions."""
        for name in FAILING:
            setattr(os, name, self._standing_for(name))

    def _standing_for(self, name: str) -> Callable[..., Any]:
        def stand_in(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not _changes(arguments[1]):
                return self._real[name](*arguments, **named)
            self.count += 1
            if self._broken:
                raise OSError(self._fault.error, os.strerror(self._fault.error or 0))
            if self.count != self._at or not applies(self._fault, name):
                return self._real[name](*arguments, **named)
            return self._fail(name, arguments, named)

        return stand_in

    def _fail(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        fault = self._fault
        self.say(f"reached {name}")
        result = None
        if fault.done == "all":
            result = self._real[name](*arguments, **named)
        elif fault.done == "half":
            fd, data = arguments
            result = self._real["write"](fd, data[: len(data) // 2])
        if fault.error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        self._broken = fault.sticky
        if fault.error:
            if name == "open" and result is not None:
                os.close(result)
            raise OSError(fault.error, os.strerror(fault.error))
        return result


def _changes(flags: int) -> bool:
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
