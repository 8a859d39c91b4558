"""What the user has asked for in a session: the vault's prompts, else the host's transcript.

Whatever goes wrong leaves the task unknown or not whole, which never authorizes; it fails no call.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from toolgate.errors import LedgerError
from toolgate.gate.task.task import Prompt, Task
from toolgate.hook.event import Event
from toolgate.ledger.append import Ledger
from toolgate.ledger.salt import salt

if TYPE_CHECKING:
    from toolgate.hook.hosts.claude_prompts import Said
    from toolgate.hook.quiet import Quiet
    from toolgate.ledger.vault.prompts import KeptPrompt

OFF = "off"
SETTING = "TOOLGATE_TASK"
"""``off``: no prompt is read. Else the vault's, where there is one, or the transcript's."""


class Known(NamedTuple):
    """What is known of a task.

    Args:
        task: the task.
        kept: what stands for it in the vault: how many prompts, their digest, whether whole;
            None where the vault holds none of it.
        note: notes, once the call is decided, what need not be read again.
    """

    task: Task | None
    kept: dict[str, object] | None = None
    note: Callable[[], None] | None = None


def record_prompt(ledger: Ledger, event: Event, environ: Mapping[str, str], ts: int) -> None:
    """Record the turn of a prompt, and keep the prompt where the vault is on.

    Raises:
        LedgerError: either could not be written.
    """
    # The vault's parts are only loaded where it is on: most calls are decided without it.
    from toolgate.ledger.vault.keep import REDACTED, setting_of, vault_of
    from toolgate.ledger.vault.prompts import KeptPrompt, keep_prompt

    setting = setting_of(environ)
    if setting == OFF or not event.prompt or environ.get(SETTING) == OFF:
        ledger.prompt(event.session, key=event.key, ts=ts)
        return
    before = ledger.standing(event.session).key
    ledger.prompt(event.session, key=event.key, ts=ts)
    turn = ledger.standing(event.session).turn
    if turn is None:
        raise LedgerError("the prompt's turn was closed before the prompt was kept")
    text = event.prompt
    if setting == REDACTED:
        from toolgate.ledger.vault.redact import redacted

        text = redacted(text, salt(ledger.root))
    kept = KeptPrompt(turn.key, before, turn.digest, text)
    durable = environ.get("TOOLGATE_DURABILITY") == "fsync"
    keep_prompt(vault_of(ledger.root), event.session, kept, durable=durable)


def known_task(ledger: Ledger, event: Event, environ: Mapping[str, str]) -> Known:
    """Return what is known of the task that an event's call belongs to."""
    if environ.get(SETTING) == OFF:
        return Known(None)
    if environ.get("TOOLGATE_VAULT", OFF) not in ("", OFF):
        return _from_vault(ledger, event)
    return _from_transcript(ledger, event) if event.transcript else Known(None)


def _from_vault(ledger: Ledger, event: Event) -> Known:
    from toolgate.ledger.vault.keep import vault_of
    from toolgate.ledger.vault.prompts import digest_of_prompts, prompts_of

    try:
        prompts, whole = prompts_of(vault_of(ledger.root), event.session)
        if not prompts:
            return Known(None)
        present = event.key or ledger.standing(event.session).key
    except LedgerError:
        return Known(None)
    whole = whole and prompts[-1].key == present
    made = task_of(prompts, whole=whole)
    kept = {"count": len(prompts), "digest": digest_of_prompts(prompts), "whole": whole}
    from toolgate.hook.readings import Readings

    readings = Readings(salt(ledger.root), event.session, str(ledger.root))
    made = made._replace(prompts=tuple(readings.known(one) for one in made.prompts))
    return Known(made, kept, lambda: readings.note(made.prompts))


def task_of(prompts: "list[KeptPrompt]", *, whole: bool) -> Task:
    """Return the task that kept prompts make."""
    return Task(tuple(Prompt(one.text, one.entry) for one in prompts), whole=whole)


def _from_transcript(ledger: Ledger, event: Event) -> Known:
    from toolgate.hook.hosts.claude_prompts import prompts_in
    from toolgate.hook.quiet import Quiet, digest_of_prompt, quiet_of

    key = salt(ledger.root)
    before = quiet_of(key, event.session, event.transcript)
    try:
        said, whole = prompts_in(event.transcript, before.offset)
        if before.offset and (not said or said[0].at != before.offset):
            before = Quiet()  # another file than the one that was read
            said, whole = prompts_in(event.transcript)
    except OSError:
        return Known(None)
    if not said:
        return Known(None)
    # Written behind the session: only a line that bears the present id is surely the latest.
    present = bool(event.key) and said[-1].key == event.key
    quiet = before.prompt and digest_of_prompt(key, said[0].text) == before.prompt
    prompts = [Prompt(one.text, quiet=bool(quiet) and one is said[0]) for one in said]
    task = Task(tuple(prompts), whole=whole and present)
    if task.quiet:
        return Known(task)
    from toolgate.hook.readings import Readings

    readings = Readings(key, event.session, event.transcript)
    task = task._replace(prompts=tuple(readings.known(one) for one in prompts))

    def note() -> None:
        if not _noted(key, event, said, task, before):
            readings.note(task.prompts)

    return Known(task, note=note)


def _noted(key: bytes, event: Event, said: "list[Said]", task: Task, before: "Quiet") -> bool:
    """Note up to which prompt a transcript holds nothing back; say whether that is to its end."""
    if task.quiet or not task.whole:
        return task.quiet  # nothing new
    from toolgate.gate.task.said import holds_back
    from toolgate.hook.quiet import Quiet, digest_of_prompt, note_quiet

    first = next(
        (at for at, one in enumerate(task.prompts) if not one.quiet and holds_back(one)),
        len(said),
    )
    if first == len(said):
        latest = said[-1]
        made = Quiet(latest.at, digest_of_prompt(key, latest.text))
    else:
        made = Quiet(said[first].at)
    if made != before:
        note_quiet(key, event.session, event.transcript, made)
    return first == len(said)
