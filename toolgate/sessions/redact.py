"""Redaction: what of a source's values may stand in a record. It fails closed.

An identifier that is none is dropped and counted; a path never stands in a
record, at most its HMAC under a salt that its owner keeps.
"""

import os
import re
from hmac import new as hmac
from typing import NamedTuple

from toolgate.errors import InputError
from toolgate.ledger.regular import open_regular
from toolgate.sessions.record import is_identifier

DROP, HASH = "drop", "hash"
MIN_SALT_BYTES = 16
_MAX_SALT_BYTES = 4096
_HASH_HEX = 32
_ALIAS = re.compile(r"\[[A-Za-z0-9._-]{1,16}\]\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_SCP_LIKE = re.compile(r"[^/:@]{1,64}@([^/:@]{1,255}):(?!/)")
_OTHERS_READ = 0o077


class Paths(NamedTuple):
    """What becomes of paths.

    Args:
        salt: key of the hashes; None drops every path.
    """

    salt: bytes | None

    def hashed(self, path: str) -> str | None:
        """Return what may stand in a record for a path or repository; None if nothing may."""
        if self.salt is None:
            return None
        made = hmac(self.salt, path.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        return "h:" + made[:_HASH_HEX]


def paths_of(mode: str, salt_file: str | None) -> Paths:
    """Return what becomes of paths, before any source is opened.

    Args:
        mode: ``drop`` or ``hash``.
        salt_file: where the salt lies; needed for ``hash``.

    Raises:
        InputError: the mode is unknown, or the salt is missing, short or readable by others.
    """
    if mode == DROP:
        if salt_file is not None:
            raise InputError("--hash-salt-file says how to hash paths; --paths drop keeps none")
        return Paths(None)
    if mode != HASH:
        raise InputError("--paths is neither drop nor hash")
    if salt_file is None:
        raise InputError("--paths hash needs --hash-salt-file with at least 16 secret bytes")
    return Paths(read_secret(salt_file, "the salt file", MIN_SALT_BYTES, _MAX_SALT_BYTES))


def read_secret(path: str, what: str, least: int, most: int) -> bytes:
    """Read a file that only its owner may read.

    Args:
        path: the file.
        what: what it is called in messages.
        least: how many bytes it must hold.
        most: how many it may.

    Raises:
        InputError: it cannot be read, others may read it, or it is too short or long.
    """
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS_READ:
                raise InputError(f"{what} {path} can be read by others; chmod 600 it first")
            found = file.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot read {what} {path}: {error.strerror}") from None
    if not least <= len(found) <= most:
        raise InputError(
            f"{what} {path} holds {len(found) if len(found) <= most else 'more'} bytes; "
            f"expected {least} to {most}"
        )
    return found


def identifier(value: object) -> str | None:
    """Return a value that may stand in a record as it is; None for any other."""
    return value if isinstance(value, str) and is_identifier(value) else None


def model_name(value: object) -> object:
    """Return a model's name without the ``[1m]`` that only chooses how it is served."""
    return _ALIAS.sub("", value) if isinstance(value, str) else value


def repository(url: str) -> str:
    """Return a repository's name as it is hashed: host and path, without who fetches it.

    Args:
        url: a URL, an scp-like address or ``host/path``.
    """
    text = url.strip()
    scp = _SCP_LIKE.match(text)
    if scp is not None:
        text = f"{scp[1]}/{text[scp.end() :]}"
    elif _SCHEME.match(text):
        text = text.partition("://")[2]
        place, slash, rest = text.partition("/")
        text = place.rpartition("@")[2] + slash + rest
    text = text.partition("?")[0].partition("#")[0].strip("/").removesuffix(".git")
    host, slash, rest = text.partition("/")
    return host.lower() + slash + rest
