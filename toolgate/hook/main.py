"""The hook's process: read standard input, answer, end.

Written to be run as a file by a resolved interpreter,

    /path/to/python -I -S -E /path/to/toolgate/hook/main.py

because ``-I -S`` spares more time than everything this package does. Such a
start has no site-packages on its path, so this file adds the folder it was
installed in.
"""

import sys

if __name__ == "__main__":
    _here = __file__.rsplit("/", 3)[0] if __file__.count("/") > 2 else "."
    if sys.path and sys.path[0].endswith("toolgate/hook"):
        del sys.path[0]
    if _here not in sys.path:
        sys.path.insert(0, _here)

import os
import signal
import time

from toolgate.hook.hosts import claude_code

DEADLINE_SECONDS = 8.0
"""Our own time limit: below the host's, because a host that stops waiting runs the call."""


class DeadlineError(Exception):
    """The answer took too long."""


def main() -> None:
    """Answer one event and end the process."""
    signal.signal(signal.SIGALRM, _expired)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_SECONDS)
    ts = time.time_ns() // 1000
    try:
        data = sys.stdin.buffer.read(claude_code.MAX_INPUT_BYTES + 1)
        from toolgate.hook.answer import answer

        output, message, code = answer(data, os.environ, ts)
    except BaseException as error:  # whatever it is, silence would let the call run
        reason = f"the gate could not decide ({type(error).__name__}); nothing was run"
        output, message, code = claude_code.write("deny", reason), reason, 0
    signal.setitimer(signal.ITIMER_REAL, 0)
    if message:
        sys.stderr.write(f"toolgate-hook: {message}\n")
    if output:
        sys.stdout.buffer.write(output)
        sys.stdout.buffer.flush()
    sys.stderr.flush()
    # Nothing is left to finish, so the interpreter's own way out is skipped.
    os._exit(code)


def _expired(_number: int, _frame: object) -> None:
    raise DeadlineError


if __name__ == "__main__":
    main()
