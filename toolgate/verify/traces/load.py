"""Reads trace files of any known format, also several formats in one file."""

from collections.abc import Sequence

from toolgate.errors import UnavailableError
from toolgate.verify.traces.lines import Item, objects
from toolgate.verify.traces.otlp import OtlpTraces
from toolgate.verify.traces.otlp_logs import OtlpLogs
from toolgate.verify.traces.reader import Reader
from toolgate.verify.traces.rollout import Rollout
from toolgate.verify.traces.span import Answer, Loss, Source, Span, Trace
from toolgate.verify.traces.transcript import Transcript

FORMATS: tuple[type[Reader], ...] = (OtlpTraces, OtlpLogs, Rollout, Transcript)
"""The readers; the first that claims an object takes it."""

EXPECTED = "expected OTLP/JSON, a Claude Code transcript or a Codex rollout"


def load_trace(paths: Sequence[str]) -> Trace:
    """Return what some trace files say.

    A record that several of them hold (an exporter sent it twice, a file was
    given twice) counts once.

    Args:
        paths: the files.

    Raises:
        UnavailableError: a file cannot be read or is of no known format.
    """
    calls = _Calls()
    answers: list[Answer] = []
    losses: list[Loss] = []
    sources: list[Source] = []
    for path in dict.fromkeys(paths):
        for reader in _read(path):
            found = reader.calls()
            reader.lose_lines({span.session for span in found})
            repeated = sum(not calls.add(span) for span in found)
            answers += reader.answers
            losses += reader.losses
            sources.append(reader.source(len(found) - repeated, repeated))
    return Trace(tuple(calls.found), tuple(answers), tuple(losses), tuple(sources))


class _Calls:
    """The calls read so far, a record that occurs again counted once."""

    def __init__(self) -> None:
        self.found: list[Span] = []
        self._at: dict[tuple[str, str], int] = {}

    def add(self, span: Span) -> bool:
        """Take a call; say whether it is another one than those before.

        A record under a known id that says something else is a call of its own. One
        that only lacks the end of the call is an older copy.
        """
        if span.id is not None:
            at = self._at.setdefault((span.format, span.id), len(self.found))
            if at < len(self.found):
                first = self.found[at]
                if first.status is None:
                    self.found[at] = span
                    return False
                if span.status is None or first == span._replace(where=first.where):
                    return False
        self.found.append(span)
        return True


def _read(path: str) -> list[Reader]:
    name = path.rpartition("/")[2]
    readers: dict[type[Reader], Reader] = {}
    rest = Reader(name)
    bad: Item | None = None
    for item in objects(path):
        if item.value is None:
            rest.pass_over("(no JSON object)")
            bad = item
            continue
        value = item.value
        kind = next((known for known in FORMATS if known.claims(value)), None)
        if kind is None:
            rest.pass_over(value.get("type"))
            continue
        if kind not in readers:
            readers[kind] = kind(name)
        readers[kind].take(item.number, value)
    if not readers:
        raise UnavailableError(f"cannot read the trace {path}: {EXPECTED}")
    first = next(iter(readers.values()))
    first.absorb(rest)
    if bad is not None:
        how = "ends in a torn line" if bad.torn else "has a line that is no JSON object"
        first.broken = f"{name} {how} ({bad.number})"
    return list(readers.values())
