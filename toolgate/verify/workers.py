"""Does one piece of work in several forked processes and brings the results together."""

import gc
import os
import signal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from toolgate.errors import CheckError, UnavailableError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Result = TypeVar("Result")
Tell = Callable[[int], None]


def cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def deal(sizes: Mapping[str, int], count: int) -> list[list[str]]:
    """Share out names so that the shares weigh about the same, the heaviest name first.

    Args:
        sizes: what each name weighs.
        count: how many shares.

    Returns:
        The shares, each in ascending order.
    """
    shares: list[list[str]] = [[] for _ in range(count)]
    weights = [0] * count
    for name in sorted(sizes, key=lambda one: (-sizes[one], one)):
        least = weights.index(min(weights))
        shares[least].append(name)
        weights[least] += sizes[name]
    return [sorted(share) for share in shares]


def run(count: int, work: Callable[[int, Tell], Result], tell: Tell) -> list[Result]:
    """Fork processes that work on one share each, and return what they return.

    They end with this call, however it ends.

    Args:
        count: how many processes.
        work: does a share, given its number from 0; tells now and then how far it is.
        tell: told how far all of them are.

    Raises:
        CheckError: what a process raised; UnavailableError if one ended early.
    """
    from multiprocessing import get_context

    context = get_context("fork")
    processes, ends = [], []
    # Held back, an interrupt cannot come between a process's birth and its being known
    # here. Its children never see one: whoever started them is to be interrupted.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # A child's collector would go through all that is there by now, and so copy its pages.
    gc.freeze()
    try:
        for number in range(count):
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_serve, args=(work, number, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            ends.append(mine)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _collect(ends, tell)
    finally:
        gc.unfreeze()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        for end in ends:
            end.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Callable[[int, Tell], Any], number: int, end: "Connection") -> None:
    """Do a share in a process of its own, and send what comes of it."""
    try:
        end.send(("done", work(number, lambda done: end.send(("at", done)))))
    except CheckError as error:
        end.send(("failed", error))


def _collect(ends: "list[Connection]", tell: Tell) -> list[Any]:
    from multiprocessing.connection import wait

    at: dict[Connection, int] = {}
    results: dict[Connection, Any] = {}
    while len(results) < len(ends):
        waiting = [end for end in ends if end not in results]
        ready = wait(waiting)
        for end in [end for end in waiting if end in ready]:
            try:
                what, value = end.recv()
            except EOFError:
                raise UnavailableError("a process of the verification ended early") from None
            if what == "failed":
                raise value
            if what == "done":
                results[end] = value
            else:
                at[end] = value
                tell(sum(at.values()))
    return [results[end] for end in ends]
