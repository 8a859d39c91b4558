"""The key a judge is asked with: from a private file or the environment."""

import os
import stat
from collections.abc import Mapping

from toolgate.gate.judge.failure import NO_KEY, JudgeError
from toolgate.gate.policy.judge import Judge

_MOST_BYTES = 4096


def key_of(judge: Judge, environ: Mapping[str, str]) -> str:
    """Return a judge's key, "" where its policy names none.

    Args:
        judge: the policy's judge.
        environ: the process environment.

    Raises:
        JudgeError: it is not there, is readable by others, or cannot be a key.
    """
    if judge.key_file:
        return _checked(_read(_place(judge.key_file, environ)), f"key file {judge.key_file}")
    if judge.key_variable:
        where = f"environment variable {judge.key_variable}"
        value = environ.get(judge.key_variable)
        if not value:
            raise JudgeError(NO_KEY, f"{where} is not set; programs of a desktop may not see it")
        return _checked(value, where)
    return ""


def _place(file: str, environ: Mapping[str, str]) -> str:
    if not file.startswith("~/"):
        return file
    home = environ.get("HOME") or ""
    if not os.path.isabs(home):
        raise JudgeError(NO_KEY, f"key file {file}: no home directory is known")
    return home.rstrip("/") + file[1:]


def _read(file: str) -> str:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise JudgeError(NO_KEY, f"key file {file} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise JudgeError(NO_KEY, f"key file {file} is not a regular file")
        if status.st_uid != os.getuid():
            raise JudgeError(NO_KEY, f"key file {file} belongs to another user")
        if status.st_mode & 0o077:
            mode = stat.S_IMODE(status.st_mode)
            raise JudgeError(NO_KEY, f"key file {file} has mode {mode:03o}; expected 600")
        return os.read(handle, _MOST_BYTES).decode("ascii", "replace")
    finally:
        os.close(handle)


def _checked(text: str, where: str) -> str:
    key = text.strip()
    if not key or len(key) >= _MOST_BYTES or not all("!" <= one <= "~" for one in key):
        raise JudgeError(NO_KEY, f"{where} holds no key: expected one line of printable ASCII")
    return key
