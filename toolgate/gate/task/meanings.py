"""The part of the compiled lexicon that a call is matched with: what acts and things are.

It is a file of its own: where the prompts were read before, no more of the lexicon is loaded.
"""

import json
from functools import lru_cache
from typing import Any

from toolgate.errors import UnavailableError

FORMAT = "toolgate.lexicon/1"
FILE = "lexicon-acts.json"
KEYS = (
    *("acts", "things", "means", "places", "asked_with"),
    *("broad", "reaches", "runners", "kinds"),
)
"""What of a lexicon matching needs."""


class Meanings:
    """What acts, things and places stand for.

    Args:
        body: the lexicon, or this part of it.
        digest: the whole lexicon's digest.

    Raises:
        UnavailableError: it is something else.
    """

    def __init__(self, body: dict[str, Any], digest: str) -> None:
        if body.get("format") != FORMAT:
            raise UnavailableError(f"the compiled lexicon is not of format {FORMAT}")
        self.digest = digest
        self.acts: dict[str, dict[str, Any]] = body["acts"]
        self.things: dict[str, dict[str, list[str]]] = body["things"]
        self.means: dict[str, list[str]] = body["means"]
        self.places: dict[str, str] = body["places"]
        self.asked_with: dict[str, list[str]] = body["asked_with"]
        self.broad = frozenset(body["broad"])
        self.reaches = frozenset(body["reaches"])
        self.runners = frozenset(body["runners"])
        self.kinds = frozenset(body["kinds"])
        self.through = frozenset(
            act for act, entry in self.acts.items() if any("above" in one for one in entry["does"])
        )
        self.fitting: dict[tuple[str, str, str, str, str], list[dict[str, Any]]] = {}
        """Descriptions of acts that fit a kind of effect, found once."""


@lru_cache(maxsize=1)
def the_meanings() -> Meanings:
    """Return what the shipped lexicon's acts and things stand for, loaded once a process.

    Raises:
        UnavailableError: the package was not built.
    """
    from toolgate.gate.catalog.load import read_compiled

    body = json.loads(read_compiled(FILE))
    return Meanings(body, body["lexicon"])
