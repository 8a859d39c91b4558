"""The spine: one chain of entries, each naming the digest of the one before."""

from typing import Any, NamedTuple

from toolgate.canonical import digest
from toolgate.records import ZERO_DIGEST, line_of, on_spine


class Head(NamedTuple):
    """The last entry of a spine.

    Args:
        seq: its number; 0 when the spine is empty.
        digest: its entry digest; ``ZERO_DIGEST`` when the spine is empty.
    """

    seq: int
    digest: str


EMPTY = Head(0, ZERO_DIGEST)


def link(body: dict[str, Any], head: Head) -> tuple[bytes, Head]:
    """Return an entry's line behind a head, and the head it becomes.

    A close also records the head it was written on (``ledger_head_digest``),
    which is the same digest the chain names.

    Raises:
        RecordError: the entry breaks the schema of its kind or is too long.
        CanonicalizationError: a value is outside the ledger's profile.
    """
    if body["kind"] in ("turn_close", "session_close"):
        body = {**body, "ev": {**body["ev"], "ledger_head_digest": head.digest}}
    line = line_of(on_spine(body, seq=head.seq + 1, prev_digest=head.digest))
    return line, Head(head.seq + 1, digest(line))
