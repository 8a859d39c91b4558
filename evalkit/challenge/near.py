"""Cases that are nearly the same, inside a set and across sets. Pure.

Two cases are near duplicates where their calls share at least ``CALLS`` of their shingles
(Jaccard) and their tasks at least ``TASKS``, or one has no task. A shingle is two words that
follow one another, after case and digits are folded; words end at white space, quotes and the
shell's operators. Twins of a pair with different labels are meant to be close and are left out.

Candidates are found by prefix filtering, which misses none: of two sets of shingles with that
much in common, the rarest few of one hold a rare one of the other. The work grows with the
cases but for hostile input, where it stops at ``MOST_COMPARED`` comparisons, or at
``MOST_SCANNED`` candidates, and says so.

Source: Bayardo, Ma and Srikant (2007), Scaling up all pairs similarity search; the prefix filter.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

from evalkit.challenge.case import PRE, Case, ChallengeSet
from toolgate.canonical import canonical_bytes

CALLS, TASKS = 0.8, 0.5
MOST_COMPARED, MOST_SCANNED = 2_000_000, 20_000_000
_WORDS = re.compile(r"[^\s\"'`;|&()<>{}\[\],=:\\]+")
_DIGITS = re.compile(r"\d+")

Shingle = tuple[str, str]


class Near(NamedTuple):
    """Two cases that are nearly the same.

    Args:
        one: index of the first.
        other: index of the second, the larger.
        share: what their calls have in common, from ``CALLS`` to 1.
    """

    one: int
    other: int
    share: float


class Text(NamedTuple):
    """A case, or an example of somebody else, as far as likeness is concerned.

    Args:
        where: the set it is of.
        case: its id.
        twin: the pair it belongs to, or "".
        label: its label.
        call: shingles of its calls.
        task: shingles of its task.
    """

    where: str
    case: str
    twin: str
    label: str
    call: frozenset[Shingle]
    task: frozenset[Shingle]


def text_of(made: ChallengeSet, case: Case) -> Text:
    """Return a case of a set as it is compared."""
    calls = " ".join(_call(step.tool, step.input) for step in case.delivered() if step.event == PRE)
    return Text(
        where=made.name,
        case=case.id,
        twin=case.pair or "",
        label=case.expected,
        call=shingles(calls),
        task=shingles(" ".join(case.prompts)),
    )


def _call(tool: str | None, value: dict[str, object] | None) -> str:
    body = value or {}
    if tool == "Bash" and isinstance(body.get("command"), str):
        return str(body["command"])
    return f"{tool} {canonical_bytes(body).decode('utf-8')}"


def shingles(text: str) -> frozenset[Shingle]:
    """Return the pairs of words that follow one another, ends included."""
    words = [_DIGITS.sub("0", word) for word in _WORDS.findall(text.casefold())]
    return frozenset(zip(["", *words], [*words, ""], strict=True)) if words else frozenset()


def near(texts: list[Text], *, across: bool = False) -> tuple[list[Near], bool]:
    """Return the near duplicates among some texts, and whether all were compared.

    Args:
        texts: cases of one or several sets.
        across: whether only those of different sets are of interest.
    """
    order = _rarity(text.call for text in texts)
    by_size = sorted(range(len(texts)), key=lambda number: len(texts[number].call))
    seen: dict[Shingle, list[int]] = defaultdict(list)
    found: list[Near] = []
    compared = scanned = 0
    for number in by_size:
        call = texts[number].call
        least = CALLS * len(call)
        prefix = sorted(call, key=order.__getitem__)[: len(call) - ceil(least) + 1]
        candidates = {other for shingle in prefix for other in seen[shingle]} if call else set()
        scanned += len(candidates)
        if scanned > MOST_SCANNED:
            return sorted(found), False
        for other in candidates:
            apart = texts[other].where != texts[number].where
            if len(texts[other].call) < least or (across and not apart):
                continue
            compared += 1
            if compared > MOST_COMPARED:
                return sorted(found), False
            share = _alike(texts[number], texts[other])
            if share:
                found.append(Near(min(number, other), max(number, other), share))
        for shingle in prefix:
            seen[shingle].append(number)
    return sorted(found), True


def _rarity(calls: Iterable[frozenset[Shingle]]) -> dict[Shingle, tuple[int, Shingle]]:
    """Return a rank for each shingle, the rarest first."""
    counts = Counter(shingle for call in calls for shingle in call)
    return {shingle: (count, shingle) for shingle, count in counts.items()}


def _alike(one: Text, other: Text) -> float:
    """Return what two calls have in common, 0 where the two cases are no near duplicates."""
    if (
        one.where == other.where
        and one.twin
        and one.twin == other.twin
        and one.label != other.label
    ):
        return 0.0
    share = _jaccard(one.call, other.call)
    if share < CALLS:
        return 0.0
    apart = one.task and other.task and _jaccard(one.task, other.task) < TASKS
    return 0.0 if apart else share


def _jaccard(one: frozenset[Shingle], other: frozenset[Shingle]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)
