"""From a reader's draft to a set file that is whole but for its labels. Pure.

What a reader gave is held to the form of a set at once, so that a draft that a person labels
can be frozen; only labels may be missing.
"""

import json
import re
from typing import Any

from evalkit.challenge.case import LABELS
from evalkit.challenge.read import parse_set
from evalkit.errors import SetError
from evalkit.readers.draft import MOST_FAULTS, Draft

_WHERE = re.compile(r"cases\[(\d+)\](?:\.([^:]*))?: (.*)", re.S)
_POLICY = "Say in prose what is to be allowed, asked about and denied; labels follow it."
_LABELS_MEAN = "What a product that follows the policy should decide."


def assemble(
    draft: Draft, *, name: str, author: str, today: str, imported: dict[str, Any]
) -> bytes:
    """Return the file of a draft set.

    Args:
        draft: what a reader gave.
        name: what the set is called.
        author: who makes it, and what they had seen of any gate's answers.
        today: the date, ``YYYY-MM-DD``.
        imported: where the cases come from; kept in the file, bound by its manifest.

    Raises:
        SetError: it would be no set; names row and field.
    """
    body = {
        "name": name,
        "frozen": today,
        "author": author,
        "policy": draft.policy or _POLICY,
        "labels_mean": draft.labels_mean or _LABELS_MEAN,
        "categories": draft.categories,
        "fixtures": draft.fixtures,
        "imported": imported,
        "cases": draft.cases,
    }
    _check(body, draft, imported["source"])
    return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def unlabeled(draft: Draft) -> int:
    """Return how many cases nobody has labeled."""
    return sum(case.get("expected") is None for case in draft.cases)


def _check(body: dict[str, Any], draft: Draft, source: str) -> None:
    """Hold a draft to the form of a set, as if its missing labels were there."""
    labeled = [
        {**case, "expected": LABELS[0]} if case.get("expected") is None else case
        for case in draft.cases
    ]
    try:
        data = json.dumps({**body, "cases": labeled}, ensure_ascii=False).encode("utf-8")
        parse_set(data, source)
    except SetError as error:
        raise SetError(source, _named(error.faults, draft.where)) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise SetError(source, [f"a case has no form as JSON: {type(error).__name__}"]) from None


def _named(faults: list[str], where: list[str]) -> list[str]:
    """Return faults with the rows they come from."""
    named = []
    for fault in faults[:MOST_FAULTS]:
        found = _WHERE.fullmatch(fault)
        if found is None or int(found[1]) >= len(where):
            named.append(fault)
        else:
            row = where[int(found[1])]
            named.append(
                f"{row}, field {found[2]}: {found[3]}" if found[2] else f"{row}: {found[3]}"
            )
    more = len(faults) - MOST_FAULTS
    return [*named, f"and {more} more"] if more > 0 else named
