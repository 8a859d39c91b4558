"""Shell texts that were read before, for a process that decides many calls.

What a text does depends on the text, the place, the policy and on what the session
knows of the files it touches. It is used again only for the same text at the same
place, and only where the session answers what was asked of it as it did then: with
nothing, and with the same links on the disk. A text for which it knew something is
read anew each time.
"""

from threading import Lock
from typing import NamedTuple

from toolgate.gate.call import Place
from toolgate.gate.effects.model import Effect
from toolgate.gate.effects.reading import Files
from toolgate.gate.facts.session import NOTHING, Session

MOST = 4_096
"""How many texts are kept."""

MAX_TEXT = 2_048
"""Characters of a text that is kept; longer ones seldom come again."""

Key = tuple[str, Place, bool]
"""The text, where it would run, and whether there is a session before it."""


class _Kept(NamedTuple):
    """What was read of a text.

    Args:
        effects: what it does.
        asked: paths of which the session knew nothing.
        led: paths, and where links on the disk took them.
    """

    effects: tuple[Effect, ...]
    asked: tuple[str, ...]
    led: tuple[tuple[str, tuple[str, ...]], ...]


class KeptTexts:
    """The effects of texts, those used last kept longest."""

    def __init__(self) -> None:
        self._kept: dict[Key, _Kept] = {}
        self._lock = Lock()

    def find(self, text: str, place: Place, session: Session) -> tuple[Effect, ...] | None:
        """Return what a text does if it is known, else None."""
        key = (text, place, session is NOTHING)
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                return None
            self._kept[key] = found
        if any(session.artifact(path) is not None for path in found.asked):
            return None
        if any(session.leads(path) != before for path, before in found.led):
            return None
        return found.effects

    def keep(
        self,
        text: str,
        place: Place,
        session: Session,
        effects: tuple[Effect, ...],
        files: Files,
    ) -> None:
        """Keep what a text does, unless the session knew something of it.

        Args:
            text: the text.
            place: where it would run.
            session: the session before the call.
            effects: what was read.
            files: what the session was asked while it was read.
        """
        if files.knew or len(text) > MAX_TEXT:
            return
        nothing = session is NOTHING
        with self._lock:
            while len(self._kept) >= MOST:
                del self._kept[next(iter(self._kept))]
            asked = () if nothing else tuple(files.asked)
            self._kept[text, place, nothing] = _Kept(effects, asked, tuple(files.led.items()))
