"""Where private keys lie: outside of every ledger, one PEM file a name."""

import os
from collections.abc import Mapping

from toolgate.errors import InputError
from toolgate.signing import PrivateKey

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@")


def key_folder(environ: Mapping[str, str]) -> str:
    """Return this user's folder of private keys.

    Args:
        environ: the environment; ``XDG_CONFIG_HOME`` and ``HOME`` are read.
    """
    config = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(config):
        config = os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(config, "toolgate", "keys")


def key_file(name: str) -> str:
    """Return where a name's private key lies.

    Raises:
        InputError: the name is no file name.
    """
    if not name or name.startswith(".") or not _SAFE.issuperset(name):
        raise InputError(
            f"{name!r} cannot name a key file; expected letters, digits, - _ . @, not . first "
            "(or give the file with --key)"
        )
    return os.path.join(key_folder(os.environ), name + ".pem")


def load_key(name: str, file: str | None) -> PrivateKey:
    """Return a private key, from a file that is named or from its usual place."""
    return PrivateKey.load(file or key_file(name))
