"""What a signed approval is: what it speaks about, for how long, and whose key signed it.

An approval names what it is about by the fields that are not null, and nothing
else. The writer, the gate and the commands read approvals by these rules; the
verifier has its own reading of them. Specified in ``spec/approvals.md``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from toolgate.canonical import digest, profile_bytes
from toolgate.signing import verifies

APPROVE, REFUSE = "approve", "refuse"
SIGNATURE, TELEMETRY = "signature", "telemetry"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # base32, RFC 4648
_CODE_LETTERS, _HALF = 8, 4
CITED = "approval.cited"
"""Action of the audit entry that says which decision used up which approvals."""


class Target(NamedTuple):
    """What an approval is wanted for.

    Args:
        decision_digest: the ask, if one is answered; None for a call that is being decided.
        args_digest: digest of the call's input.
        session: the session id.
        action_class: the policy's class of the action.
    """

    decision_digest: str | None
    args_digest: str
    session: str
    action_class: str


class Approval(NamedTuple):
    """An approval or refusal that stands on the spine.

    Args:
        entry: its entry digest.
        seq: its number on the spine.
        ts: when it was given, microseconds UTC.
        after: the approval it follows in a staged sequence, if any.
        ev: what it says.
    """

    entry: str
    seq: int
    ts: int
    after: str | None
    ev: Mapping[str, Any]

    @property
    def principal(self) -> str:
        """Return who gave it."""
        return str(self.ev["principal"])

    @property
    def key(self) -> str | None:
        """Return the key it is signed with; None for one that a host reported."""
        key: str | None = self.ev["key"]
        return key

    def about(self, target: Target) -> bool:
        """Say whether it speaks about a target: every field it names must be the target's."""
        ev = self.ev
        return (
            ev["decision_digest"] in (None, target.decision_digest)
            and ev["args_digest"] in (None, target.args_digest)
            and ev["session"] in (None, target.session)
            and ev["class"] in (None, target.action_class)
        )


class Composition(Protocol):
    """How the approvals of several principals make one."""

    @property
    def principals(self) -> tuple[str, ...]:
        """Return who may approve."""

    def choose(self, standing: Sequence[Approval]) -> tuple[Approval, ...]:
        """Return the approvals a decision cites, in order; none when they do not satisfy it."""

    def previous(self, principal: str, standing: Sequence[Approval]) -> Approval | None:
        """Return the approval that one of this principal has to name; None if none.

        Raises:
            InputError: it is not this principal's turn.
        """


class Approvers(NamedTuple):
    """Who approves an action.

    Args:
        composition: how their approvals make one.
        principals: the keys the action's policy gives each principal.
    """

    composition: Composition
    principals: Mapping[str, Sequence[str]]


class Keys:
    """Which keys speak for a principal: those a policy gives, as rotations replaced them."""

    def __init__(self) -> None:
        self._retired: dict[tuple[str, str], int] = {}
        self._before: dict[tuple[str, str], tuple[str, int]] = {}

    def rotate(self, seq: int, ev: Mapping[str, Any]) -> bool:
        """Take a rotation at a place on the spine; say whether it counts.

        It counts when the old key and the new one signed it, neither was retired, and the new
        one has replaced no other.
        """
        name, old, new = ev["name"], ev["old"], ev["new"]
        if old is None or old == new or not {(name, old), (name, new)}.isdisjoint(self._retired):
            return False
        message = rotation_message(ev)
        if (name, new) in self._before:
            return False  # it would be of two origins
        if not all(
            verifies(key, signature, message)
            for key, signature in zip((old, new), ev["signatures"], strict=True)
        ):
            return False
        self._retired[name, old] = seq
        self._before[name, new] = (old, seq)
        return True

    def replaced(self, name: str, old: str, new: str) -> bool:
        """Say whether one key of a principal was replaced by another."""
        return self._before.get((name, new), ("", 0))[0] == old

    def speaks(self, name: str, key: str, given: Iterable[str], seq: int) -> bool:
        """Say whether a key speaks for a principal at a place on the spine.

        Args:
            name: the principal.
            key: the key.
            given: the keys a policy gives the principal.
            seq: number of a spine entry.
        """
        retired = self._retired.get((name, key))
        if retired is not None and retired < seq:
            return False
        known = set(given)
        while key not in known:
            older = self._before.get((name, key))
            if older is None or older[1] >= seq:
                return False
            key = older[0]
        return True


def code_of(session: str, args_digest: str, action_class: str) -> str:
    """Return the short name of a call's arguments and class in a session: ``K7M2-QX4A``.

    40 bits of a SHA-256. It only names them: an approval binds to what it stands for, in
    full, and where two things have one code it names neither.
    """
    bits = int(digest(profile_bytes([session, args_digest, action_class]))[7:17], 16)
    letters = [_LETTERS[bits >> 5 * place & 31] for place in reversed(range(_CODE_LETTERS))]
    return "".join((*letters[:_HALF], "-", *letters[_HALF:]))


def typed_code(text: str) -> str | None:
    """Return a code as it is written, from what a person typed; None if it is no code."""
    letters = text.upper().replace("-", "")
    if len(letters) != _CODE_LETTERS or letters.strip(_LETTERS):
        return None
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def message(ev: Mapping[str, Any]) -> bytes:
    """Return the bytes an approval's signature covers: the canonical form without ``sig``."""
    return profile_bytes({name: value for name, value in ev.items() if name != "sig"})


def rotation_message(ev: Mapping[str, Any]) -> bytes:
    """Return the bytes a rotation's signatures cover."""
    return profile_bytes({name: value for name, value in ev.items() if name != "signatures"})


def is_signed(ev: Mapping[str, Any]) -> bool:
    """Say whether an approval carries a signature that verifies."""
    return ev["evidence"] == SIGNATURE and verifies(ev["key"], ev["sig"], message(ev))


def standing(approvals: Iterable[Approval], target: Target, ts: int) -> list[Approval]:
    """Return the approvals a decision may rest on.

    A refusal takes back what its principal approved before it.

    Args:
        approvals: those whose signature and key were checked, in spine order.
        target: what is being decided.
        ts: when, microseconds UTC.
    """
    found: list[Approval] = []
    for item in approvals:
        if not item.about(target):
            continue
        if item.ev["verdict"] == REFUSE:
            found = [other for other in found if other.principal != item.principal]
        elif ts <= item.ev["expiry"]:
            found.append(item)
    return found
