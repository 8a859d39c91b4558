"""Showing several cases at the same time, with what becomes of them in the set's order.

A gate that is not ours waits for others, so threads do. Ours computes, so processes are
forked for it: they get the numbers of cases over a pipe and send back what came of them.
"""

import os
import pickle
import signal
import struct
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import Generic, TypeVar

from evalkit.challenge.case import Case
from evalkit.errors import IncompleteError

Done = TypeVar("Done")
Begin = Callable[[Case], bool]
"""Says that a case is about to be shown; False when no more are to be."""

BATCH = 50
"""How many cases a process gets at a time."""
_SPAN, _LENGTH = struct.Struct(">II"), struct.Struct(">Q")
_MOST_OPEN = 1 << 16  # what the system names as its limit may be none, or a billion
_AHEAD = 2
"""How many times as much is under way as is worked on, so that nobody waits."""


def alone(
    cases: list[Case], begun: Begin, shown: Callable[[Case], Done]
) -> Iterator[tuple[Case, Done]]:
    """Yield what became of each case, one after another."""
    for case in cases:
        if not begun(case):
            return
        yield case, shown(case)


def by_threads(
    cases: list[Case], begun: Begin, shown: Callable[[Case], Done], jobs: int
) -> Iterator[tuple[Case, Done]]:
    """Yield what became of each case in order, ``jobs`` of them under way at the same time."""
    waiting: deque[tuple[Case, Future[Done]]] = deque()
    pool = ThreadPoolExecutor(jobs)
    try:
        for case in cases:
            if not begun(case):
                break
            waiting.append((case, pool.submit(shown, case)))
            if len(waiting) >= _AHEAD * jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def by_processes(
    cases: list[Case], begun: Begin, shown: Callable[[Case], Done], jobs: int
) -> Iterator[tuple[Case, Done]]:
    """Yield what became of each case in order, from ``jobs`` forked processes.

    Args:
        cases: the cases.
        begun: called here, for every case of a batch before it is handed out.
        shown: called in one of the processes; what it returns is pickled.
        jobs: how many processes. They end with this call, however it ends.

    Raises:
        IncompleteError: one of them ended early.
    """
    workers: list[_Worker[Done]] = []
    waiting: deque[tuple[_Worker[Done], int, int]] = deque()
    try:
        workers += (_Worker(cases, shown) for _ in range(jobs))
        turns = cycle(workers)
        for start in range(0, len(cases), BATCH):
            batch = cases[start : start + BATCH]
            told = next((n for n, case in enumerate(batch) if not begun(case)), len(batch))
            if told:
                worker = next(turns)
                worker.hand_out(start, start + told)
                waiting.append((worker, start, start + told))
            if told < len(batch):
                break
            if len(waiting) >= _AHEAD * jobs:
                yield from _taken(cases, *waiting.popleft())
        while waiting:
            yield from _taken(cases, *waiting.popleft())
    finally:
        for worker in workers:
            worker.end()


def _taken(
    cases: list[Case], worker: "_Worker[Done]", start: int, stop: int
) -> Iterator[tuple[Case, Done]]:
    yield from zip(cases[start:stop], worker.take(), strict=True)


class _Worker(Generic[Done]):
    """A forked process that shows cases, and the pipes to it."""

    def __init__(self, cases: list[Case], shown: Callable[[Case], Done]) -> None:
        asked, ask = os.pipe()
        answers, answer = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            _serve(cases, shown, asked, answer)
        os.close(asked)
        os.close(answer)
        self._ask = ask
        self._answers = os.fdopen(answers, "rb")

    def hand_out(self, start: int, stop: int) -> None:
        """Say which cases are the next: from ``start`` up to before ``stop``."""
        try:
            os.write(self._ask, _SPAN.pack(start, stop))
        except BrokenPipeError:
            raise _ended_early() from None

    def take(self) -> list[Done]:
        """Return what became of the cases that were handed out first and not taken yet."""
        head = self._answers.read(_LENGTH.size)
        data = self._answers.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
        if not data or len(data) < _LENGTH.unpack(head)[0]:
            raise _ended_early()
        made: list[Done] = pickle.loads(data)  # from a child of this process
        return made

    def end(self) -> None:
        """End the process; what was not taken from it is lost."""
        os.close(self._ask)
        self._answers.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _ended_early() -> IncompleteError:
    return IncompleteError(
        "a process that shows cases ended early; the run is claimed and what is done is kept. "
        "Continue it: evalkit resume RUN (evalkit list names it)"
    )


def _serve(cases: list[Case], shown: Callable[[Case], Done], asked: int, answer: int) -> None:
    """Show the cases that are asked for until nobody asks any more; never returns.

    Whoever started the run is the one to be interrupted. Of the files that were open at the
    fork none stays so here: a run's lock is to be free when its process is killed.
    """
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        low, high = sorted((asked, answer))
        os.closerange(3, low)
        os.closerange(low + 1, high)
        os.closerange(high + 1, _MOST_OPEN)
        with os.fdopen(asked, "rb") as asking, os.fdopen(answer, "wb") as answers:
            while span := asking.read(_SPAN.size):
                start, stop = _SPAN.unpack(span)
                data = pickle.dumps([shown(case) for case in cases[start:stop]])
                answers.write(_LENGTH.pack(len(data)) + data)
                answers.flush()
    finally:
        os._exit(0)
