"""``toolgate policy sign`` and ``hold``: a policy's author, and policies that decide nothing."""

import os
from typing import TYPE_CHECKING

import click

from toolgate.cli.policy.files import as_used, write
from toolgate.errors import InputError, PolicyError, UnavailableError

if TYPE_CHECKING:
    from toolgate.ledger.store import Store


@click.command()
@click.argument("policy_", metavar="FILE|DIGEST")
@click.option("--key", "key_file", metavar="FILE", help="The author's private key, elsewhere.")
@click.option("--ledger", "path", metavar="PATH", help="The ledger; this user's by default.")
def sign(policy_: str, key_file: str | None, path: str | None) -> None:
    """Sign a policy as its author (authored_by) says.

    The signature of a FILE is written beside it as FILE.sig; the hook's ledger takes that
    along when the policy comes into use. A policy that the ledger holds already, given by
    FILE or DIGEST, has its signature put beside it there.

    Exit codes: 0 done, 2 the policy names no author or another key, 3 it could not be done.
    """
    from toolgate.canonical import digest, profile_bytes
    from toolgate.cli.keys import load_key
    from toolgate.cli.ledger.place import root_of
    from toolgate.ledger import policies
    from toolgate.ledger.append import open_store
    from toolgate.ledger.files import policy_name
    from toolgate.records import is_digest

    store = open_store(root_of(path), durable=True)
    version = policy_ if policy_.startswith("sha256:") else "sha256:" + policy_
    file = None if is_digest(version) else policy_
    text = _held(store, policy_name(version, ".json")) if file is None else as_used(file)
    version = digest(text)
    name, key = _author(text, policy_)
    private = load_key(name, key_file)
    if private.public != key:
        raise InputError(
            f"{policy_} says its author {name!r} has the key {key}; the private key is that of "
            f"{private.public}"
        )
    signed = profile_bytes({"key": key, "sig": private.sign(version.encode("ascii"))})
    if file is not None:
        write(file + ".sig", signed)
        click.echo(file + ".sig")
    if store.has(policy_name(version, ".json")):
        policies.hold(store, version, None, signed)
        click.echo(os.path.join(store.where, policy_name(version, ".sig")))


def _held(store: "Store", name: str) -> bytes:
    data = store.read(name)
    if data is None:
        raise UnavailableError(f"the ledger {store.where} holds no {name}")
    return data


def _author(text: bytes, source: str) -> tuple[str, str]:
    from toolgate.canonical import parse

    author = parse(text).get("authored_by")
    if author is None:
        raise PolicyError(source, ["names no author: authored_by is missing"])
    return author["name"], author["key"]


@click.command()
@click.argument("file")
@click.option("--ledger", "path", metavar="PATH", help="The ledger; this user's by default.")
def hold(file: str, path: str | None) -> None:
    """Keep a policy FILE and its signature in the ledger without using it.

    So that a verifier finds the policy that authorizes the author of another one.

    Exit codes: 0 done, 3 the policy is refused or the ledger cannot be written.
    """
    from toolgate.canonical import digest
    from toolgate.cli.ledger.place import existing_ledger
    from toolgate.gate.bases import policy_source
    from toolgate.ledger import policies
    from toolgate.ledger.append import open_store

    text = as_used(file)
    signature = policy_source(file + ".sig") if os.path.exists(file + ".sig") else None
    store = open_store(existing_ledger(path), durable=True)
    policies.hold(store, digest(text), text, signature)
    click.echo(digest(text))
