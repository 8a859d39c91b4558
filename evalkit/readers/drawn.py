"""Drawing real calls of a ledger into the draft of a set, blind and without secrets.

The draw is by rank under a seed (``labels/sample.py``), so whoever has ledger, vault and seed
can make it again. Of a decision nothing reaches the draft: no answer, rule, session, time or
order. Each call stands alone, in one working directory and one home directory for the set; the
machine's own are replaced wherever they are named.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from evalkit.challenge.case import DEFAULT_CWD, DEFAULT_HOME
from evalkit.errors import RefusedError
from evalkit.gates.inprocess import HOST
from evalkit.labels.sample import opaque_id, rank
from evalkit.readers.draft import Draft, category_of
from evalkit.readers.kept import Kept, kept_of
from toolgate.canonical import digest_of
from toolgate.redact import by_kind, redact_text, redact_value
from toolgate.verify.place import open_ledger
from toolgate.verify.read import Line
from toolgate.verify.shapes import Decision

STRATUM = "all"
ELSEWHERE = "its working directory is not the root of its workspace"
MOST_PROMPT_CHARACTERS = 20_000


class Drawn(NamedTuple):
    """A draw.

    Args:
        draft: the cases, none labeled.
        calls: calls the ledger has.
        different: how many different calls these are: tool and arguments.
        passed_over: calls that came up in the draw and could not be shown, by reason.
        digest: digest of the sorted decision digests that were drawn.
    """

    draft: Draft
    calls: int
    different: int
    passed_over: dict[str, int]
    digest: str


class _Call(NamedTuple):
    """A decision that may be drawn."""

    entry: Decision
    decision_digest: str


def draw(root: str, vault: str, *, seed: bytes, n: int) -> Drawn:
    """Draw calls of a ledger.

    Args:
        root: the ledger's directory.
        vault: its vault's directory.
        seed: 32 bytes.
        n: how many cases are wanted; fewer where there are fewer.

    Raises:
        LedgerError: there is no ledger, or it or the vault cannot be read.
        RefusedError: nothing can be drawn.
    """
    return draw_from(_decisions(root), lambda entry: kept_of(vault, entry), seed=seed, n=n)


def draw_from(
    decisions: Iterable[tuple[Decision, str]],
    kept: Callable[[Decision], Kept | str],
    *,
    seed: bytes,
    n: int,
) -> Drawn:
    """Draw from decisions, each with its digest.

    Args:
        decisions: the ledger's decisions.
        kept: what is kept of a decided call, or why it cannot be shown.
        seed: 32 bytes.
        n: how many cases are wanted.

    Raises:
        RefusedError: nothing can be drawn.
    """
    first: dict[str, _Call] = {}
    calls: set[tuple[str, str]] = set()
    for entry, decision_digest in decisions:
        if entry.host == HOST:
            continue
        calls.add((entry.session, entry.intent.call))
        key = digest_of([entry.intent.action_type, entry.ev.args_digest])
        first.setdefault(key, _Call(entry, decision_digest))
    ranked = sorted(first.items(), key=lambda item: rank(seed, STRATUM, item[0]))
    passed_over: Counter[str] = Counter()
    taken: list[tuple[_Call, Kept]] = []
    for _, call in ranked:
        if len(taken) == n:
            break
        held = kept(call.entry)
        reason = held if isinstance(held, str) else _unfit(held)
        if reason or isinstance(held, str):
            passed_over[reason] += 1
        else:
            taken.append((call, held))
    if not taken:
        why = "; ".join(f"{number}: {reason}" for reason, number in sorted(passed_over.items()))
        raise RefusedError(
            f"expected calls to draw from, got none of {len(first)} ({why or 'none'})"
        )
    named = sorted((opaque_id(seed, call.decision_digest), _case(held)) for call, held in taken)
    cases = [{"id": name, **case} for name, case in named]
    return Drawn(
        draft=Draft(
            cases=cases,
            categories={case["category"]: "calls of this tool" for case in cases},
            fixtures={"cwd": DEFAULT_CWD, "home": DEFAULT_HOME},
            rows=len(calls),
            left_out={},
            where=[f"case {case['id']}" for case in cases],
        ),
        calls=len(calls),
        different=len(first),
        passed_over=dict(sorted(passed_over.items())),
        digest=digest_of(sorted(call.decision_digest for call, _ in taken)),
    )


def _decisions(root: str) -> Iterator[tuple[Decision, str]]:
    directory = open_ledger(root)
    sessions = (directory.read_session(name) for name in sorted(directory.sessions))
    for item in chain(directory.read_spine(), chain.from_iterable(sessions)):
        if isinstance(item, Line) and isinstance(item.entry, Decision):
            yield item.entry, item.event


def _unfit(held: Kept) -> str:
    """Return why a call cannot stand alone in the set's one working directory; "" if it can."""
    apart = held.cwd not in ("", "/", held.home)
    return "" if apart and held.cwd in held.roots else ELSEWHERE


def _case(held: Kept) -> dict[str, Any]:
    """Return a call as a case: redacted, and moved into the set's directories."""
    moved = _moving(held)
    prompts, left_out = _latest([moved(redact_text(text, by_kind)) for text in held.prompts])
    made: dict[str, Any] = {
        "category": category_of(held.tool),
        "expected": None,
        "tool": held.tool,
        "command": _everywhere(redact_value(held.input, by_kind), moved),
    }
    if prompts:
        made["prompts"] = prompts
    if left_out or not held.whole:
        made["prompts_missing"] = left_out or "the vault no longer has them"
    return made


def _latest(prompts: list[str]) -> tuple[list[str], int]:
    """Return the latest prompts that fit, oldest first, and how many do not."""
    size = 0
    for number, text in enumerate(reversed(prompts)):
        size += len(text)
        if size > MOST_PROMPT_CHARACTERS:
            return prompts[len(prompts) - number :], len(prompts) - number
    return prompts, 0


def _moving(held: Kept) -> Callable[[str], str]:
    """Return what replaces the machine's working and home directories in a text."""
    places = dict.fromkeys((*held.roots, held.cwd), DEFAULT_CWD)
    if held.home not in ("", "/"):
        places.setdefault(held.home, DEFAULT_HOME)
    longest = sorted(places, key=len, reverse=True)
    found = re.compile("(?:" + "|".join(map(re.escape, longest)) + r")(?![\w.-])")
    return lambda text: found.sub(lambda one: places[one[0]], text)


def _everywhere(value: Any, moved: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return moved(value)
    if isinstance(value, dict):
        return {moved(key): _everywhere(child, moved) for key, child in value.items()}
    if isinstance(value, list):
        return [_everywhere(child, moved) for child in value]
    return value
