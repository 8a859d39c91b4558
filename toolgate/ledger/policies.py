"""The policies a ledger holds, as the commands and the writer read them."""

from typing import Any

from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError, LedgerError
from toolgate.ledger.files import policy_name
from toolgate.ledger.store import Store

_OPERATORS = ("all-of", "any-of", "staged")
_POLICY_SET = b'"kind":"policy_set"'


def read_policy(store: Store, version: str) -> dict[str, Any]:
    """Return a policy that the ledger holds.

    Raises:
        LedgerError: it is not there, not readable, or has another digest.
    """
    name = policy_name(version, ".json")
    data = store.read(name)
    if data is None:
        raise LedgerError(f"cannot read the policy {name}: {store.where} does not hold it")
    if digest(data) != version:
        raise LedgerError(f"the policy {name} has another digest than its name says")
    try:
        body = parse(data)
    except CanonicalizationError as error:
        raise LedgerError(f"the policy {name} is {error}") from None
    if not _names_people(body):
        raise LedgerError(f"the policy {name} has another form than a compiled policy")
    return dict(body)


def _names_people(body: Any) -> bool:
    """Say whether what a policy says of people, if anything, has the form it must have."""
    if type(body) is not dict:
        return False
    principals, composition = body.get("principals") or {}, body.get("composition") or {}
    return (
        type(principals) is type(composition) is dict
        and all(map(_are_texts, principals.values()))
        and all(
            type(rule) is dict
            and rule.get("operator") in _OPERATORS
            and _are_texts(rule.get("principals"))
            and type(rule.get("n", 1)) is int
            for rule in composition.values()
        )
    )


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def hold(store: Store, version: str, text: bytes | None, signature: bytes | None) -> None:
    """Keep a policy's text, its author's signature, or both, in a ledger.

    A policy that is only held decides nothing: it is there for those whose authors it names.

    Args:
        store: the ledger.
        version: the policy's digest.
        text: the compiled policy; None if it is there.
        signature: the signature as it is to be kept; None to leave that as it is.

    Raises:
        LedgerError: the disk does not take it.
    """
    with store.locked():
        if text is not None and not store.has(policy_name(version, ".json")):
            store.keep(policy_name(version, ".json"), text)
        if signature is not None:
            store.keep(policy_name(version, ".sig"), signature)


def principals_of(store: Store) -> list[dict[str, list[str]]]:
    """Return the principals and keys of each policy that the ledger announces."""
    announced = [parse(line) for _, line in store.spine_lines((_POLICY_SET,), 0)]
    versions = [body["ev"]["policy"] for body in announced if body.get("kind") == "policy_set"]
    return [read_policy(store, version).get("principals") or {} for version in versions]
