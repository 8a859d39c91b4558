"""The vault's redacted form: content and secrets replaced by their keyed digests.

What is found, and how, is ``toolgate.redact``; beyond that go the values of
``CONTENT_KEYS``, what is written into files. The mark is the keyed digest and the
length. The key is the ledger's salt, so that a short secret cannot be found by trying.
"""

from typing import Any

from toolgate.canonical import keyed_hash
from toolgate.redact import redact_value

CONTENT_KEYS = frozenset(
    (
        "content",
        "contents",
        "file_text",
        "insert_text",
        "new_source",
        "new_str",
        "new_string",
        "old_str",
        "old_string",
        "patch",
    )
)


def redacted(value: Any, salt: bytes) -> Any:
    """Return a JSON value without content and secrets; equal to it if there are none.

    Args:
        value: any JSON value, at most ``canonical.MAX_DEPTH`` deep.
        salt: the ledger's secret salt, the key of the digests.
    """

    def mark(kind: str, data: bytes, length: int) -> str:
        return f"[redacted h:{keyed_hash(salt, data)[:32]} length:{length}]"

    return redact_value(value, mark, CONTENT_KEYS)
