"""The hook's process: read standard input, answer, end.

Written to be run as a file by a resolved interpreter,

    /path/to/python -I -S -E /path/to/toolgate/hook/main.py

because ``-I -S`` spares more time than everything this package does. Such a
start has no site-packages on its path, so this file adds the folder it was
installed in.

A host that gets no answer runs the call. So nothing of this package is
imported outside the ``try``, the answer goes out by ``os.write``, and if it
cannot go out the process ends with 2, which blocks too.
"""

import os
import sys

if __name__ == "__main__":
    _here = __file__.rsplit("/", 3)[0] if __file__.count("/") > 2 else "."
    if sys.path and sys.path[0].endswith("toolgate/hook"):
        del sys.path[0]
    if _here not in sys.path:
        sys.path.insert(0, _here)

DEADLINE_SECONDS = 8.0
"""Our own time limit: below the host's, because a host that stops waiting runs the call."""

MAX_STDIN_BYTES = 64 * 1024 * 1024
MAX_MEMORY_BYTES = 1536 * 1024 * 1024
_BLOCK = 2
_DENY = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    b'"permissionDecisionReason":"toolgate: the gate could not decide (%s); nothing was run"}}\n'
)


class DeadlineError(Exception):
    """The answer took too long."""


def main() -> None:
    """Answer one event and end the process."""
    _occupy_descriptors()
    try:
        output, message, code = _answered()
    except BaseException as error:  # whatever it is, silence would let the call run
        name = type(error).__name__
        output, message, code = _DENY % name.encode(), f"the gate could not decide ({name})", 0
    try:
        _write(1, output)
    except OSError:
        os._exit(_BLOCK)
    if message:
        try:
            _write(2, f"toolgate-hook: {message}\n".encode("utf-8", "replace"))
        except OSError:
            pass  # the answer is out; only its echo is lost
    # Nothing is left to finish, so the interpreter's own way out is skipped.
    os._exit(code)


def _answered() -> tuple[bytes, str, int]:
    import signal
    import time

    signal.signal(signal.SIGALRM, _expired)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_SECONDS)
    _limit_memory()
    ts = time.time_ns() // 1000
    from toolgate.hook.answer import answer

    made = answer(_read_all(), os.environ, ts)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return made


def _occupy_descriptors() -> None:
    """Make sure that a file opened later cannot become standard output or error."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            if number == 1:
                os._exit(_BLOCK)
            os.open(os.devnull, os.O_RDWR)


def _limit_memory() -> None:
    """Let a runaway end in MemoryError, hence deny, instead of in a kill, hence silence."""
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or hard > MAX_MEMORY_BYTES:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, hard))
    except (ImportError, OSError, ValueError):
        pass  # not every system has this limit; the caps on input still hold


def _read_all() -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= MAX_STDIN_BYTES:
        part = os.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _write(number: int, data: bytes) -> None:
    while data:
        data = data[os.write(number, data) :]


def _expired(_number: int, _frame: object) -> None:
    raise DeadlineError


if __name__ == "__main__":
    main()
