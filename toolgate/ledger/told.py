"""What a host's telemetry says its user answered: an approval that nobody signed."""

import os
from typing import NamedTuple

from toolgate.approval import APPROVE, REFUSE, TELEMETRY
from toolgate.canonical import parse
from toolgate.ledger import calls
from toolgate.ledger.index import Place, decision_digest_of
from toolgate.ledger.policies import read_policy
from toolgate.ledger.session import Session
from toolgate.ledger.spine import Spine
from toolgate.records import entry


class Told(NamedTuple):
    """What a user answered to an ask.

    Args:
        approved: whether they said yes.
        principal: who, if that is said; None for the one the call runs for.
        nonce: 32 hex digits; random if None.
    """

    approved: bool
    principal: str | None = None
    nonce: str | None = None

    @property
    def verdict(self) -> str:
        """Return the answer as an approval's word."""
        return APPROVE if self.approved else REFUSE


def decides(held: Session, line: bytes, told: Told) -> bool:
    """Say whether an answer settles an ask; a yes does not where approvals must be signed."""
    body = parse(line)
    policy = read_policy(held.setting.store, body["ev"]["policy_version"])
    return not (told.approved and body["class"] in (policy.get("composition") or {}))


def decide(held: Session, line: bytes, at: Place, told: Told) -> None:
    """Add what was answered to an ask, and the second decision that follows from it.

    Args:
        held: the session.
        line: the ask.
        at: where that stands.
        told: the answer; it must settle the ask.
    """
    with held.spine() as spine:
        held.join(None)
        held.make_room(1)
        ts = max(held.ts, parse(line)["ts"], held.turn.ts)
        name = _append(spine, held, line, told, ts)
    placed = calls.answered(held, line, at, "allowed" if told.approved else "denied", ts)
    basis = (*placed.fields.basis, name)
    calls.add(held, placed._replace(fields=placed.fields._replace(basis=basis)), [name])


def state(held: Session, line: bytes, told: Told) -> bool:
    """Add what was answered to an ask that stays open, once; say whether it was added."""
    event = decision_digest_of(line)
    needle = f'"decision_digest":"{event}","evidence":"{TELEMETRY}"'.encode("ascii")
    with held.spine() as spine:
        spine.flush()
        for _, said in held.setting.store.spine_lines((needle,), held.state.since):
            if parse(said)["ev"].get("verdict") == told.verdict:
                return False
        _append(spine, held, line, told, max(held.ts, parse(line)["ts"]))
    return True


def _append(spine: Spine, held: Session, line: bytes, told: Told, ts: int) -> str:
    """Append an answer to the spine; return its entry digest."""
    ev = {
        "decision_digest": decision_digest_of(line),
        "args_digest": None,
        "session": held.id,
        "class": None,
        "principal": told.principal or parse(line)["ev"]["principal"],
        "expiry": ts,
        "nonce": told.nonce or os.urandom(16).hex(),
        "verdict": told.verdict,
        "evidence": TELEMETRY,
        "key": None,
        "sig": None,
    }
    return spine.append(entry("approval", session=held.id, turn=None, parents=[], ts=ts, ev=ev))[0]
