"""The prompts of a session, in the order they came, one line each."""

import os
from typing import NamedTuple

from toolgate.canonical import canonical_bytes, digest, digest_of, parse
from toolgate.errors import CanonicalizationError, LedgerError
from toolgate.ledger.files import fail, make_directory, session_name, sync, write_all

FOLDER = "prompts"
VERSION = 1
MAX_BYTES = 8 * 1024 * 1024
"""Of a session's prompts the latest that fit are read; then they are not whole."""

_FIELDS = frozenset(("v", "key", "after", "entry", "text"))


class KeptPrompt(NamedTuple):
    """One prompt.

    Args:
        key: key of the turn it opened.
        after: key of the session's turn before it, None where there was none.
        entry: digest of the entry that opened its turn.
        text: what the user wrote, redacted where the vault is set to that.
    """

    key: str
    after: str | None
    entry: str
    text: str


def keep_prompt(vault: str, session: str, prompt: KeptPrompt, *, durable: bool) -> None:
    """Add a prompt to those of its session.

    Args:
        vault: the vault's directory; created if absent.
        session: the session id.
        prompt: the prompt.
        durable: whether to wait for the disk.

    Raises:
        LedgerError: it could not be written, or others than its owner may read the vault.
    """
    text = prompt.text.encode("utf-8", "replace").decode("utf-8")
    try:
        data = canonical_bytes({"v": VERSION, **prompt._asdict(), "text": text}) + b"\n"
    except CanonicalizationError as error:
        raise LedgerError(f"cannot keep the prompt in {vault}: it {error}") from None
    folder = os.path.join(vault, FOLDER)
    make_directory(folder)
    path = os.path.join(folder, session_name(session) + ".jsonl")
    try:
        if os.stat(vault).st_mode & 0o077:
            raise LedgerError(f"{vault} can be read by others than its owner; expected mode 700")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            write_all(fd, data, path)
            if durable:
                sync(fd, path)
        finally:
            os.close(fd)
    except OSError as error:
        fail("keep the prompt in", path, error)


def prompts_of(vault: str, session: str) -> tuple[list[KeptPrompt], bool]:
    """Return a session's prompts, oldest first, and whether none is missing or damaged.

    A prompt is missing where the turn before one is not that of the one before it.

    Args:
        vault: the vault's directory.
        session: the session id.

    Raises:
        LedgerError: they are there and cannot be read.
    """
    path = os.path.join(vault, FOLDER, session_name(session) + ".jsonl")
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MAX_BYTES))
            data = file.read(MAX_BYTES)
    except FileNotFoundError:
        return [], True
    except OSError as error:
        fail("read", path, error)
    made: list[KeptPrompt] = []
    whole = size <= MAX_BYTES
    for line in data.split(b"\n"):
        prompt = _read(line) if line else None
        if prompt is None:
            whole = whole and not line
            continue
        whole = whole and prompt.after == (made[-1].key if made else None)
        made.append(prompt)
    return made, whole


def _read(line: bytes) -> KeptPrompt | None:
    try:
        body = parse(line)
    except CanonicalizationError:
        return None
    if not isinstance(body, dict) or body.keys() != _FIELDS or body["v"] != VERSION:
        return None
    key, after, entry, text = body["key"], body["after"], body["entry"], body["text"]
    if not all(isinstance(one, str) for one in (key, entry, text)):
        return None
    return KeptPrompt(key, after, entry, text) if isinstance(after, str | None) else None


def digest_of_prompts(prompts: list[KeptPrompt]) -> str:
    """Return the digest that stands in a kept call for the prompts it was decided with."""
    if not prompts:
        return digest(b"")
    return digest_of([[prompt.entry, prompt.text] for prompt in prompts])
