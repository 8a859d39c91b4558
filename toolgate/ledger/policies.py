"""The policies a ledger holds, as the commands and the writer read them."""

import json
import os
from typing import Any

from toolgate.canonical import digest, parse
from toolgate.errors import LedgerError
from toolgate.ledger.files import Locked, make_directory, put_file
from toolgate.ledger.spine import LOCK_FILE, lines_with

_POLICY_SET = b'"kind":"policy_set"'


def read_policy(root: str, version: str) -> dict[str, Any]:
    """Return a policy that the ledger holds.

    Raises:
        LedgerError: it is not there, not readable, or has another digest.
    """
    path = path_of(root, version, ".json")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise LedgerError(f"cannot read the policy {path}: {error.strerror}") from error
    if digest(data) != version:
        raise LedgerError(f"the policy {path} has another digest than its name says")
    body = json.loads(data)
    if type(body) is not dict:
        raise LedgerError(f"the policy {path} is no JSON object")
    return body


def path_of(root: str, version: str, ending: str) -> str:
    """Return where a ledger keeps a policy (``.json``) or its author's signature (``.sig``)."""
    return os.path.join(root, "policies", version[7:] + ending)


def hold(root: str, version: str, text: bytes | None, signature: bytes | None) -> None:
    """Keep a policy's text, its author's signature, or both, in a ledger.

    A policy that is only held decides nothing: it is there for those whose authors it names.

    Args:
        root: the ledger directory.
        version: the policy's digest.
        text: the compiled policy; None if it is there.
        signature: the signature as it is to be kept; None to leave that as it is.

    Raises:
        LedgerError: the disk does not take it.
    """
    make_directory(os.path.join(root, "policies"))
    with Locked(os.path.join(root, LOCK_FILE)):
        if text is not None and not os.path.exists(path_of(root, version, ".json")):
            put_file(path_of(root, version, ".json"), text)
        if signature is not None:
            put_file(path_of(root, version, ".sig"), signature)


def principals_of(root: str) -> list[dict[str, list[str]]]:
    """Return the principals and keys of each policy that the ledger announces."""
    announced = [parse(line) for _, _, line in lines_with(root, (_POLICY_SET,))]
    versions = [body["ev"]["policy"] for body in announced if body.get("kind") == "policy_set"]
    return [read_policy(root, version).get("principals") or {} for version in versions]
