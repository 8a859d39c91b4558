"""What a ledger's spine says about sets and runs: the events of its audit entries."""

import glob
import os
from collections.abc import Iterator
from typing import Any

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError


def audit_events(ledger: str, mark: bytes) -> Iterator[dict[str, Any]]:
    """Yield the events of audit entries whose lines hold some bytes, oldest first.

    Args:
        ledger: the ledger's directory; a missing one has none.
        mark: bytes that stand in every line of interest, so that no other is parsed.
    """
    for path in sorted(glob.glob(os.path.join(glob.escape(ledger), "spine-*.jsonl"))):
        with open(path, "rb") as file:
            for line in file:
                if mark not in line:
                    continue
                try:
                    body = parse(line)
                except CanonicalizationError:
                    continue  # a fragment; the verifier names it
                if type(body) is dict and body.get("kind") == "audit":
                    yield body["ev"]
