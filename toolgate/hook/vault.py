"""What the hook keeps of a call, where the vault is on."""

from collections.abc import Mapping
from typing import Any

from toolgate.canonical import digest
from toolgate.gate.call import ToolCall
from toolgate.ledger.salt import salt
from toolgate.ledger.vault.input import GateInput
from toolgate.ledger.vault.keep import OFF, REDACTED, keep, setting_of, vault_of

NOTHING_TO_KEEP = digest(b"")
"""The args_digest of an input without canonical form; such a call is denied for that."""


def keep_call(
    root: str,
    call: ToolCall,
    call_id: str,
    args_digest: str,
    environ: Mapping[str, str],
    *,
    durable: bool,
    task: dict[str, object] | None = None,
    links: Mapping[str, tuple[str, ...]] | None = None,
) -> None:
    """Keep a call in the vault of a ledger, if the setting says so.

    Args:
        root: the ledger directory.
        call: the call as the gate was given it.
        call_id: the id its decision will have.
        args_digest: digest of its input.
        environ: the environment, with ``TOOLGATE_VAULT``.
        durable: whether to wait for the disk.
        task: what stands for the prompts it was decided with.
        links: paths, and where links on the disk took them.

    Raises:
        LedgerError: the setting is not known, or the call cannot be kept.
    """
    setting = setting_of(environ)
    if setting == OFF or args_digest == NOTHING_TO_KEEP:
        return
    held = GateInput(True, fields_to_keep(call, call_id, task, links))
    if setting == REDACTED:
        from toolgate.ledger.vault.redact import redacted

        less = redacted(held.call, salt(root))
        held = GateInput(less == held.call, less)
    keep(vault_of(root), args_digest, held, durable=durable)


def fields_to_keep(
    call: ToolCall,
    call_id: str,
    task: dict[str, object] | None = None,
    links: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Any]:
    """Return a call as the vault keeps it; the prompts lie in a file of their own."""
    place = call.place._asdict()
    for name in ("roots", "temp", "gate", "disposable"):
        place[name] = list(place[name])
    if not place["disposable"]:
        del place["disposable"]
    if not place["kept_shell"]:
        del place["kept_shell"]
    if links:
        place["links"] = {path: list(found) for path, found in links.items()}
    kept = {"agent": list(call.agent), "call": call_id, "place": place, "task": task}
    return {**call._asdict(), **kept}
