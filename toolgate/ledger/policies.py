"""The policies a ledger holds, as the commands and the writer read them."""

import json
import os
from typing import Any

from toolgate.canonical import digest
from toolgate.errors import LedgerError


def read_policy(root: str, version: str) -> dict[str, Any]:
    """Return a policy that the ledger holds.

    Raises:
        LedgerError: it is not there, not readable, or has another digest.
    """
    path = os.path.join(root, "policies", version[7:] + ".json")
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


def principals_of(root: str) -> list[dict[str, list[str]]]:
    """Return the principals and keys of each policy that the ledger holds."""
    try:
        files = os.listdir(os.path.join(root, "policies"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LedgerError(f"cannot read the policies of {root}: {error.strerror}") from error
    held = [file for file in sorted(files) if file.endswith(".json")]
    return [read_policy(root, "sha256:" + file[:-5]).get("principals") or {} for file in held]
