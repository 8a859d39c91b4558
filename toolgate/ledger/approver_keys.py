"""The rotation of an approver's key."""

from toolgate.errors import InputError
from toolgate.ledger.known import Known
from toolgate.ledger.policies import principals_of
from toolgate.ledger.rotation import rotation
from toolgate.ledger.spine import Spine
from toolgate.ledger.store import Store
from toolgate.records import entry
from toolgate.signing import PrivateKey


def rotate(spine: Spine, store: Store, name: str, old: PrivateKey, new: PrivateKey, ts: int) -> str:
    """Append the rotation of an approver's key; return its entry digest.

    Args:
        spine: the spine, locked.
        store: the ledger.
        name: the principal.
        old: the private key so far.
        new: the private key from here on.
        ts: microseconds UTC.

    Raises:
        InputError: no policy this ledger holds gives the principal the old key, it was
            replaced before, or the new one is another principal's.
    """
    spine.flush()
    known = Known(store)
    seq, ev = spine.head.seq + 1, rotation("approver", name, old, new, ts)
    policies = principals_of(store)
    if not any(known.keys.speaks(name, old.public, held.get(name, ()), seq) for held in policies):
        raise InputError(
            f"{old.public} is no key of {name!r}: no policy of this ledger gives it, or it was "
            "replaced"
        )
    others = {key for held in policies for one in held for key in held[one] if one != name}
    if ev["new"] in others:
        raise InputError(f"{ev['new']} is another principal's key already")
    if not known.keys.rotate(seq, ev):
        raise InputError(
            f"the new key of {name!r} is not vouched for by the old one, or was a key of theirs"
        )
    said = {key: value for key, value in ev.items() if key != "ts"}
    body = entry("key_rotate", session=None, turn=None, parents=[], ts=ts, ev=said)
    return spine.append(body)[0]
