"""From the bytes of an event to the bytes of an answer, by way of the ledger.

The decision is in the ledger before the answer leaves. If it cannot be
written there, or anything else goes wrong, the answer is deny.
"""

from collections.abc import Callable, Mapping
from os.path import abspath, dirname, isabs, lexists, normpath, realpath
from typing import TYPE_CHECKING

from toolgate.canonical import digest, digest_of
from toolgate.errors import (
    CanonicalizationError,
    InputError,
    LedgerError,
    PolicyError,
    ToolgateError,
)
from toolgate.gate.call import ToolCall
from toolgate.gate.decision import ALLOW, COMPOSITION, Decision
from toolgate.gate.engine import Gate
from toolgate.gate.open import (
    PROJECT_FOLDER,
    build_digest,
    cache_folder,
    gate_for,
    policy_signature,
    project_policy,
    user_policy,
    usual_policy,
)
from toolgate.gate.recorded import fields_of
from toolgate.hook.disk import Disk
from toolgate.hook.event import Event
from toolgate.hook.hosts import claude_code
from toolgate.ledger.append import Ledger, default_root
from toolgate.ledger.files import beside, is_postgresql
from toolgate.ledger.salt import salt
from toolgate.records import is_digest

if TYPE_CHECKING:
    from toolgate.gate.call import Place
    from toolgate.gate.facts.artifacts import Artifact
    from toolgate.hook.facts import LedgerSession

Answer = tuple[bytes, str, int]
"""Standard output, a line for standard error ("" for none), exit code."""

NOTHING: Answer = (b"", "", 0)
_STORED = b'"type":"stores('
"""Stands in every entry of a call that has written something."""


class Asked:
    """An event's session, which is looked up when the gate asks and not before.

    Args:
        ledger: where its entries stand.
        event: the event.
        place: where its call runs.

    Attributes:
        links: paths that the gate asked about, and where links on the disk take them.
    """

    def __init__(self, ledger: Ledger, event: Event, place: "Place") -> None:
        self.ledger = ledger
        self.links: dict[str, tuple[str, ...]] = {}
        self._event = event
        self._disk = Disk(place)
        self._session: LedgerSession | None = None
        self._wrote: bool | None = None

    def artifact(self, path: str) -> "Artifact | None":
        """Return what a file is known to hold that the session has written."""
        if self._wrote is None:
            # Most of what is looked up in a young session is not there, and little says so.
            self._wrote = not self.ledger.lacks(self._event.session, _STORED)
        return self._opened().artifact(path) if self._wrote else None

    def leads(self, path: str) -> tuple[str, ...]:
        """Return where links on the disk take a path, and note it."""
        found = self._disk.leads(path)
        if found:
            self.links[path] = found
        return found

    def has(self, code: str, turns: int) -> str | None:
        """Return the latest entry that says a fact, or None."""
        return self._opened().has(code, turns)

    def close(self) -> None:
        """Let go of what was opened."""
        if self._session is not None:
            self._session.close()

    def _opened(self) -> "LedgerSession":
        if self._session is None:
            from toolgate.hook.facts import LedgerSession

            event, ledger = self._event, self.ledger
            key = salt(ledger.root)
            self._session = LedgerSession(ledger, event.session, event.key, key)
        return self._session


def answer(data: bytes, environ: Mapping[str, str], ts: int) -> Answer:
    """Answer one event.

    Args:
        data: the host's payload.
        environ: the process environment.
        ts: when the payload arrived, microseconds UTC.
    """
    spawned_by, wrong = _spawned_by(environ)
    try:
        ledger = Ledger(
            _place(environ),
            durability=environ.get("TOOLGATE_DURABILITY", "os"),
            host=claude_code.HOST,
            spawned_by=spawned_by,
            signature=lambda: policy_signature(environ),
        )
    except LedgerError as error:
        return _denied(f"the decision could not be recorded: {error}")
    output, message, code = _answered(ledger, data, environ, ts)
    if wrong and not message:
        # Work is not stopped for it. A session's start is where people see a failed hook.
        return output, wrong, 0 if output else 1
    return output, message, code


def _spawned_by(environ: Mapping[str, str]) -> tuple[str | None, str]:
    """Return who started this agent, and what is wrong with what the environment says of it."""
    named = environ.get("TOOLGATE_SPAWNED_BY")
    if not named or is_digest(named):
        return named or None, ""
    return None, (
        f"TOOLGATE_SPAWNED_BY is {named!r:.90}; expected a decision's digest, so the session's "
        "record names nobody who started it"
    )


def _answered(ledger: Ledger, data: bytes, environ: Mapping[str, str], ts: int) -> Answer:
    try:
        event = claude_code.read(
            data, principal=_account(), home=_home(environ), ts=ts, workspace=workspace_roots
        )
    except InputError as error:
        return _refused_input(ledger, data, str(error), ts)
    if event.kind == "pre":
        return _decided(ledger, event, environ, ts)
    try:
        _recorded(ledger, event, environ, ts)
    except ToolgateError as error:
        # The call has run; all that is left is to say loudly that its record is missing.
        return b"", f"{event.kind} was not recorded: {error}", 1
    return NOTHING


def _refused_input(ledger: Ledger, data: bytes, reason: str, ts: int) -> Answer:
    try:
        ledger.audit(
            action="input.refused",
            actor=claude_code.HOST,
            target=None,
            details={"digest": digest(data), "reason": reason, **claude_code.named(data)},
            ts=ts,
        )
    except ToolgateError as error:
        reason = f"{reason}; and the ledger cannot be written: {error}"
    return claude_code.write("deny", reason), reason, 0


def _decided(ledger: Ledger, event: Event, environ: Mapping[str, str], ts: int) -> Answer:
    call = event.call
    if call is None:
        raise InputError("hook input names no call")
    try:
        gate = gate_for(environ)
        own = _own_paths(ledger.root, environ)
        if rules := project_policy(call.place.roots):
            from toolgate.gate.project import gate_in_project

            gate = gate_in_project(gate, rules)
            own += tuple(root + PROJECT_FOLDER for root in call.place.roots)
        call = call._replace(place=call.place._replace(gate=own))
        kept: dict[str, object] | None = None
        note: Callable[[], None] | None = None
        if environ.get("TOOLGATE_VAULT") or event.transcript:
            from toolgate.hook.task import known_task

            known = known_task(ledger, event, environ)
            call, kept, note = call._replace(task=known.task), known.kept, known.note
        session = Asked(ledger, event, call.place)
        decision, args = _decide(gate, call, session, environ)
        if note is not None:
            note()
        call_id = _call_id(call, args)
        if environ.get("TOOLGATE_VAULT"):
            decision = _kept(session, gate, call, call_id, decision, args, environ, kept)
        fields = fields_of(
            call,
            decision,
            call_id=call_id,
            salt=salt(ledger.root),
            ts=ts,
            build=build_digest(),
            args_digest=args,
        )
        if decision.action_class in gate.policy.composition and decision.rule == COMPOSITION:
            from toolgate.hook.composed import settle

            decision = settle(ledger, gate, event, decision, fields, environ, ts)
        elif decision.state != ALLOW and gate.policy.principals:
            from toolgate.hook.lifted import settle

            decision = settle(ledger, gate, event, decision, fields, environ, ts)
        else:
            policy = gate.policy_bytes
            ledger.decide(event.session, key=event.key, fields=fields, policy=policy, ts=ts)
    except PolicyError as error:
        return _denied(f"the policy is refused: {error}")
    except LedgerError as error:
        return _denied(f"the decision could not be recorded: {error}")
    except ToolgateError as error:
        return _denied(str(error))
    return claude_code.write(decision.state, decision.sentence), "", 0


def _kept(
    session: Asked,
    gate: Gate,
    call: ToolCall,
    call_id: str,
    decision: Decision,
    args: str,
    environ: Mapping[str, str],
    task: dict[str, object] | None,
) -> Decision:
    """Keep what was decided on in the vault, if it is set; deny what cannot be kept."""
    from toolgate.hook.vault import keep_call

    try:
        durable = environ.get("TOOLGATE_DURABILITY") == "fsync"
        keep_call(
            session.ledger.root,
            call,
            call_id,
            args,
            environ,
            durable=durable,
            task=task,
            links=session.links,
        )
    except LedgerError as error:
        return gate.refusal("vault", f"Denied: {error}")
    return decision


def _denied(reason: str) -> Answer:
    return claude_code.write("deny", reason), reason, 0


def _call_id(call: ToolCall, args: str) -> str:
    return call.call or f"made-{call.ts}-{args[7:19]}"


def _decide(
    gate: Gate, call: ToolCall, session: "Asked", environ: Mapping[str, str]
) -> tuple[Decision, str]:
    try:
        args = digest_of(call.input)
    except CanonicalizationError as error:
        sentence = f"Denied: the tool's input has no canonical form: {error}"
        return gate.refusal("input", sentence), digest(b"")
    try:
        decision = gate.decide(call, session)
        if gate.policy.judge is not None:
            from toolgate.hook.judge import judged

            decision = judged(
                session.ledger, gate, call, session, decision, _call_id(call, args), args, environ
            )
        return decision, args
    finally:
        session.close()


def _recorded(ledger: Ledger, event: Event, environ: Mapping[str, str], ts: int) -> None:
    """Record an event that asks nothing."""
    session = event.session
    if event.kind == "session_start":
        ledger.session_open(session, ts=ts)
    elif event.kind == "prompt" and environ.get("TOOLGATE_VAULT"):
        from toolgate.hook.task import record_prompt

        record_prompt(ledger, event, environ, ts)
    elif event.kind == "prompt":
        ledger.prompt(session, key=event.key, ts=ts)
    elif event.kind == "stop":
        ledger.turn_close(session, closed_by="stop", ts=ts)
    elif event.kind == "session_end":
        ledger.session_close(session, closed_by="session_end", ts=ts)
    elif event.kind == "outcome" and event.call is not None:
        ledger.outcome(
            session,
            key=event.key,
            call=event.call.call,
            tool=event.call.tool,
            args_digest=_args_digest(event.call),
            result_digest=event.result_digest,
            terminal_state=event.terminal_state,
            source="hook",
            ts=ts,
        )


def workspace_roots(cwd: str) -> tuple[str, ...]:
    """Return the checkout a directory lies in, as named and as it really is.

    Outside of any checkout it is the directory itself.
    """
    folder = cwd
    while folder not in ("", "/") and not lexists(folder + "/.git"):
        folder = dirname(folder)
    root = folder if folder not in ("", "/") else cwd
    return tuple(dict.fromkeys((root, realpath(root))))


def _own_paths(root: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return what this gate consists of: without any of it a host runs every call."""
    package = dirname(dirname(abspath(__file__)))
    own = [beside(root, ".salt"), beside(root, ".vault"), package]
    own += [*_policies(environ), _keys(environ)]
    own.append(dirname(cache_folder()))  # policies as compiled, and what a judge has said
    if not is_postgresql(root):
        own.append(root)
    folder = dirname(package)
    while folder not in ("", "/"):
        if lexists(folder + "/pyvenv.cfg"):
            own += [folder + "/bin", folder + "/pyvenv.cfg"]
            break
        folder = dirname(folder)
    return tuple(dict.fromkeys(path for item in own if item for path in (item, realpath(item))))


def _policies(environ: Mapping[str, str]) -> list[str]:
    """Return where policies lie: the folder of their own, and a file named elsewhere.

    Beside a file that is named elsewhere lies its signature; the rest of that folder is
    whatever it was before.
    """
    folder, named = dirname(usual_policy(environ)), user_policy(environ)
    beside = [named, named + ".sig"] if named and dirname(named) != folder else []
    return [folder, *beside]


def _keys(environ: Mapping[str, str]) -> str:
    """Return where private keys lie: whoever reads one can approve."""
    config = environ.get("XDG_CONFIG_HOME", "")
    return (config if isabs(config) else _home(environ) + "/.config") + "/toolgate/keys"


def _place(environ: Mapping[str, str]) -> str:
    named = environ.get("TOOLGATE_LEDGER")
    # A relative place would be another one in every directory the agent goes to.
    if named is not None and not isabs(named) and not is_postgresql(named):
        scheme, address, _ = named.partition("://")  # what follows may name who uses it
        shown = scheme + "://..." if address else named
        raise LedgerError(
            f"TOOLGATE_LEDGER is {shown!r}; expected an absolute path or postgresql://..."
        )
    return default_root(environ)


def _args_digest(call: ToolCall) -> str:
    try:
        return digest_of(call.input)
    except CanonicalizationError:
        return digest(b"")


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or ""
    return normpath("/" + home.lstrip("/")).rstrip("/") if isabs(home) else ""


def _account() -> str:
    from os import getuid
    from pwd import getpwuid

    number = getuid()
    try:
        return f"user:{getpwuid(number).pw_name}"
    except KeyError:
        return f"user:{number}"
