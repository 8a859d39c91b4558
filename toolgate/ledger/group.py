"""Group commit: appends of a long-lived process that share their waits for the disk."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from toolgate.errors import LedgerError
from toolgate.ledger.append import Ledger

_MOST = 512

Result = TypeVar("Result")


class _Append(NamedTuple):
    """One append that somebody waits for."""

    call: Callable[[Ledger], Any]
    future: "Future[Any]"


class GroupWriter:
    """Appends for many threads, from a thread of its own.

    What is asked for while the disk is busy goes out together and is acknowledged
    together, after one wait. A ledger with durability ``os`` gains nothing by it.

    Args:
        ledger: the ledger; nobody else may use this object meanwhile.
        most: how many appends share one wait at most.
    """

    def __init__(self, ledger: Ledger, *, most: int = _MOST) -> None:
        self._ledger = ledger
        self._most = most
        self._waiting: SimpleQueue[_Append | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="ledger group", daemon=True)
        self._thread.start()

    def submit(self, call: Callable[[Ledger], Result]) -> "Future[Result]":
        """Ask for an append.

        Args:
            call: makes it, given the ledger: ``lambda ledger: ledger.decide(...)``.

        Returns:
            What the call returns, once it is on the disk; or the error.

        Raises:
            LedgerError: the writer is closed.
        """
        if self._closed:
            raise LedgerError(f"cannot append to {self._ledger.root}: its writer is closed")
        future: Future[Result] = Future()
        self._waiting.put(_Append(call, future))
        return future

    def append(self, call: Callable[[Ledger], Result]) -> Result:
        """Append and wait until it is on the disk; see ``submit``."""
        return self.submit(call).result()

    def close(self) -> None:
        """Finish what was asked for and stop."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join()

    def __enter__(self) -> "GroupWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _work(self) -> None:
        going_on = True
        while going_on:
            group, going_on = self._next_group()
            if group:
                self._commit(group)

    def _next_group(self) -> tuple[list[_Append], bool]:
        """Wait for an append and take what is asked for by then; say whether more may come."""
        group: list[_Append] = []
        item = self._waiting.get()
        while item is not None:
            group.append(item)
            if len(group) == self._most:
                return group, True
            try:
                item = self._waiting.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Append]) -> None:
        made: list[tuple[_Append, Any]] = []
        try:
            with self._ledger.group():
                for item in group:
                    try:
                        made.append((item, item.call(self._ledger)))
                    except Exception as error:
                        item.future.set_exception(error)
        except LedgerError as error:
            for item, _ in made:
                item.future.set_exception(error)
            return
        for item, result in made:
            item.future.set_result(result)
