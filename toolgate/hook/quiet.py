"""How far a transcript's prompts are known to hold nothing back: a note between two calls.

Whoever asks for work seldom forbids any of it. Reading all prompts of a long session for each
call would take longer than everything else, so it is kept from where they have to be read: what
stands before has been read and forbids, limits or reserves nothing. The note holds no word of a
prompt; its name and what it says of one are keyed with the ledger's salt. It is a cache: without
it everything is read.
"""

import json
from posixpath import dirname, join
from typing import NamedTuple

from toolgate.canonical import keyed_hash
from toolgate.gate.kept_files import keep, read_kept
from toolgate.gate.open import build_digest, cache_folder

_PART = "\0"


class Quiet(NamedTuple):
    """What is known of a transcript.

    Args:
        offset: where in the file a prompt begins before which all hold nothing back, bytes.
        prompt: keyed digest of that prompt if it holds nothing back either, else "".
    """

    offset: int = 0
    prompt: str = ""


def quiet_of(salt: bytes, session: str, transcript: str) -> Quiet:
    """Return what was noted of a transcript; the whole file has to be read where nothing was."""
    data = read_kept(_file(salt, session, transcript))
    try:
        body = json.loads(data or b"{}")
        found = Quiet(body["offset"], body["prompt"])
    except (ValueError, KeyError, TypeError):
        return Quiet()
    sound = type(found.offset) is int and found.offset >= 0 and type(found.prompt) is str
    return found if sound else Quiet()


def note_quiet(salt: bytes, session: str, transcript: str, quiet: Quiet) -> None:
    """Note how far a transcript is known to hold nothing back."""
    data = json.dumps(quiet._asdict()).encode("ascii")
    keep(_file(salt, session, transcript), data)


def digest_of_prompt(salt: bytes, text: str) -> str:
    """Return what a prompt is known by, without a word of it."""
    return _keyed(salt, "prompt", text)


def _file(salt: bytes, session: str, transcript: str) -> str:
    # Another build may read other things in the same words.
    name = _keyed(salt, "transcript", session, transcript, build_digest())
    return join(dirname(cache_folder()), "prompts", name)


def _keyed(salt: bytes, *parts: str) -> str:
    return keyed_hash(salt, _PART.join(parts).encode("utf-8", "surrogatepass"))
