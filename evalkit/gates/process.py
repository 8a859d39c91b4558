"""Running a hook's process once: bytes in, bytes out, within a time and a size."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence

from evalkit.gates.heard import NoAnswerError, Output

MAX_OUTPUT = 1024 * 1024
_CHUNK = 65_536


def run_hook(
    words: Sequence[str], payload: bytes, *, environ: dict[str, str], cwd: str, seconds: float
) -> Output:
    """Run a process with a payload on its standard input, and return what it left behind.

    The process and all its children end with the call, whatever happens.

    Args:
        words: program and arguments; no shell reads them.
        payload: bytes for standard input.
        environ: the whole environment of the process.
        cwd: its working directory.
        seconds: how long it may take.

    Raises:
        NoAnswerError: it could not be started, took too long or printed too much.
    """
    try:
        process = subprocess.Popen(
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its words cannot be passed on"
        raise NoAnswerError(f"the gate could not be started: {reason}") from None
    try:
        return _talk(process, payload, time.monotonic() + seconds, seconds)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                with contextlib.suppress(OSError):
                    stream.close()


def _talk(
    process: "subprocess.Popen[bytes]", payload: bytes, deadline: float, seconds: float
) -> Output:
    """Write the payload and read both outputs until the process has closed them."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise NoAnswerError("the gate could not be started: no pipes")
    heard: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    sizes = dict.fromkeys(heard, 0)
    left = memoryview(payload)
    with selectors.DefaultSelector() as selector:
        for descriptor in heard:
            selector.register(descriptor, selectors.EVENT_READ)
        writing = process.stdin.fileno()
        os.set_blocking(writing, False)
        selector.register(writing, selectors.EVENT_WRITE)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready and time.monotonic() >= deadline:
                raise NoAnswerError(f"the gate took longer than {seconds:g} s")
            for key, _ in ready:
                if key.fd == writing:
                    left = _write(writing, left)
                    if not left:
                        selector.unregister(writing)
                        process.stdin.close()
                    continue
                data = os.read(key.fd, _CHUNK)
                sizes[key.fd] += len(data)
                if sizes[key.fd] > MAX_OUTPUT:
                    raise NoAnswerError(f"the gate printed more than {MAX_OUTPUT} bytes")
                if data:
                    heard[key.fd].append(data)
                else:
                    selector.unregister(key.fd)
    try:
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"the gate took longer than {seconds:g} s") from None
    out, err = (b"".join(parts) for parts in heard.values())
    return Output(code, out, err)


def _write(descriptor: int, left: memoryview) -> memoryview:
    """Write what the pipe takes; a process that does not read its input needs no more of it."""
    try:
        return left[os.write(descriptor, left[:_CHUNK]) :]
    except BrokenPipeError:
        return left[:0]
    except BlockingIOError:
        return left
