"""The only writer of the decision ledger.

Every public call is one append: it takes the lock of its session, writes, and
returns once the bytes are with the operating system (``durability: os``) or on
the disk (``fsync``). Whatever goes wrong is a ``LedgerError``.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolgate.canonical import digest, parse
from toolgate.errors import CanonicalizationError, LedgerError, RecordError
from toolgate.ledger import calls
from toolgate.ledger import state as states
from toolgate.ledger.directory import Files
from toolgate.ledger.files import (
    default_root,
    fail,
    is_postgresql,
    policy_name,
    session_name,
)
from toolgate.ledger.held import Memory, Setting
from toolgate.ledger.index import decision_digest_of
from toolgate.ledger.session import Session
from toolgate.ledger.spine import Spine
from toolgate.records import SHAPES, ZERO_DIGEST, DecisionFields, entry, is_digest
from toolgate.signing import PrivateKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolgate.approval import Approvers, Target
    from toolgate.ledger.approvals import Composing, Given, Settled
    from toolgate.ledger.recall import Keys, Needles, Recall
    from toolgate.ledger.settle import Shown
    from toolgate.ledger.store import Store

__all__ = ["Ledger", "default_root"]

ROTATE_BYTES = 64 * 1024 * 1024


def open_store(place: str, *, durable: bool) -> "Store":
    """Return the store at a place; nothing is touched before the first append.

    Args:
        place: a directory, or ``postgresql://...``.
        durable: whether an append waits for the disk.

    Raises:
        LedgerError: the place needs software that is not installed.
    """
    if not is_postgresql(place):
        return Files(place, durable=durable)
    from toolgate.ledger.address import require_driver

    require_driver()
    from toolgate.ledger.postgres import Database

    return Database(place, durable=durable)


_NO_AUTHOR = b'"authored_by":null'
"""In a compiled policy's canonical bytes; no text in one holds its quotation marks unescaped."""


class Ledger:
    """A ledger, open for appending. Nothing is touched before the first append.

    Args:
        root: the ledger directory, or ``postgresql://...``.
        durability: ``os`` returns when the operating system has the bytes,
            ``fsync`` when the disk has them.
        shape: ``dag`` or ``linear``, for sessions opened from here on.
        executes: whether an allowed call runs; False for a measuring run.
        host: name of the host adapter, for the sessions opened from here on.
        spawned_by: digest of the decision that started the agent of the sessions opened
            from here on, if another agent did.
        signature: returns the author's signature of the policy in use, as it is to be kept
            beside it; None if there is none. Asked once a policy, when it is announced.
        rotate: size in bytes from which the spine goes on in a new file.

    Raises:
        LedgerError: a value is not one of these.
    """

    def __init__(
        self,
        root: str,
        *,
        durability: str = "os",
        shape: str = "dag",
        executes: bool = True,
        host: str = "claude-code",
        spawned_by: str | None = None,
        signature: Callable[[], bytes | None] | None = None,
        rotate: int = ROTATE_BYTES,
    ) -> None:
        if durability not in ("os", "fsync"):
            raise LedgerError(f"durability is {durability!r}; expected os or fsync")
        if shape not in SHAPES:
            raise LedgerError(f"shape is {shape!r}; expected dag or linear")
        if spawned_by is not None and not is_digest(spawned_by):
            raise LedgerError(f"spawned_by is {spawned_by!r:.90}; expected a decision's digest")
        if rotate < 1:
            raise LedgerError(f"rotate is {rotate}; expected a number of bytes")
        self._store = open_store(root, durable=durability == "fsync")
        self.root = self._store.where
        self._setting = Setting(
            store=self._store,
            linear=shape == "linear",
            executes=executes,
            host=host,
            rotate=rotate,
            spawned_by=spawned_by,
        )
        self._memory = Memory()
        self._signature = signature

    def session_open(self, session: str, *, ts: int, spawned_by: str | None = None) -> None:
        """Open a session; nothing happens if it is open, a closed one gets its next part.

        Args:
            session: the host's session id.
            ts: microseconds UTC.
            spawned_by: digest of the decision that started this session's agent; None for
                the ledger's setting.
        """
        with self._session(session, ts) as held:
            held.open(spawned_by)

    def prompt(self, session: str, *, key: str | None, ts: int) -> None:
        """Begin the turn of a new prompt.

        Args:
            session: the host's session id.
            key: the prompt's id; None where the host has none, then prompts are counted.
            ts: microseconds UTC.
        """
        with self._session(session, ts) as held:
            if key is None or not held.knows(key):
                held.open_prompt(key)
            else:
                held.join(key)

    def decide(
        self, session: str, *, key: str | None, fields: DecisionFields, policy: bytes, ts: int
    ) -> str:
        """Append one decision and return its decision_digest once it is written.

        Args:
            session: the host's session id.
            key: the prompt's id, if the host has one.
            fields: the decision.
            policy: the compiled policy it was decided by.
            ts: when the call was received, microseconds UTC.

        Raises:
            LedgerError: it could not be written; nothing may be allowed on it.
        """
        return self.decide_many(session, key=key, fields=[fields], policy=policy, ts=ts)[0]

    def decide_many(
        self,
        session: str,
        *,
        key: str | None,
        fields: list[DecisionFields],
        policy: bytes,
        ts: int,
    ) -> list[str]:
        """Append many decisions under one lock; return their decision_digests in order."""
        lines = self.decide_lines(session, key=key, fields=fields, policy=policy, ts=ts)
        return [decision_digest_of(line) for line in lines]

    def decide_lines(
        self,
        session: str,
        *,
        key: str | None,
        fields: list[DecisionFields],
        policy: bytes,
        ts: int,
    ) -> list[bytes]:
        """Append many decisions under one lock; return their entries in order."""
        if not fields:
            return []
        ts = min(ts, *(item.ts for item in fields))
        self._announce(policy, fields, ts)
        with self._session(session, ts) as held:
            held.join(key)
            return [calls.add(held, calls.place(held, item)) for item in fields]

    def lacks(self, session: str, needle: bytes) -> bool:
        """Say whether a session's entries surely hold no such bytes, without any lock.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        return self._store.lacks(session_name(session), needle)

    def recall(self, session: str, keys_of: "Keys", needles_of: "Needles") -> "Recall":
        """Return what finds a session's decisions and outcomes, without any lock.

        Args:
            session: the host's session id.
            keys_of: returns the keys a decision's line is to be found under.
            needles_of: returns the bytes by which a key's decisions are found.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        name = session_name(session)
        if self._store.begun(name):
            return self._store.recall(name, keys_of, needles_of)
        state = states.load(self._store, name)
        if not (state.linear if state is not None else self._setting.linear):
            return self._store.recall(name, keys_of, needles_of)
        from toolgate.ledger.recall import Scanned

        known = state or states.from_spine(self._store, session)

        def lines(needles: "Sequence[bytes]") -> "Iterator[bytes]":
            own = states.lines_of(self._store, session, known.since)
            return (line for _, line in own if any(needle in line for needle in needles))

        return Scanned(lines, needles_of)

    def late_outcomes(self, session: str, decisions: "Sequence[str]") -> list[bytes]:
        """Return the outcomes of decisions that came after their turn and stand on the spine.

        Args:
            session: the host's session id.
            decisions: digests of the decisions.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        from toolgate.ledger.index import answered_by, is_outcome

        state = states.load(self._store, session_name(session))
        since = (state or states.from_spine(self._store, session)).since
        wanted = [decision.encode() for decision in decisions]
        lines = self._store.spine_lines(wanted, since)
        return [line for _, line in lines if is_outcome(line) and answered_by(line) in wanted]

    def standing(self, session: str) -> "states.State":
        """Return where a session stands, without any lock.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        state = states.load(self._store, session_name(session))
        return states.from_spine(self._store, session) if state is None else state

    def turn_of(self, session: str, key: str | None) -> int:
        """Return the number of the turn that an event with this key would belong to.

        Args:
            session: the host's session id.
            key: the prompt's id, if the host has one.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        state = self.standing(session)
        turn = state.turn
        if turn is not None and key in (None, turn.key):
            return turn.number
        known = key is not None and states.parts_of(self._store, session, state, key) > 0
        return turn.number if turn is not None and known else state.turns + 1

    def decide_composed(
        self, session: str, *, key: str | None, composing: "Composing", policy: bytes, ts: int
    ) -> "Settled":
        """Append the decision on a call that approvals allow, and use them up, once.

        It is allowed if approvals that nobody used satisfy the composition, else what it is.
        Arguments as ``decide``; ``composing`` holds the decision without them.
        """
        from toolgate.ledger import approvals

        self._announce(policy, [composing.fields], min(ts, composing.fields.ts))
        with self._session(session, ts) as held:
            held.join(key)
            return approvals.decide(held, composing)

    def approve(
        self, ev: Mapping[str, Any], *, target: "Target", call: str, approvers: "Approvers"
    ) -> "Given":
        """Append a signed approval or refusal; one that names an ask also answers it.

        An ask of a class with a composition is answered once that is satisfied; until then
        approvals are collected and it stays open.

        Args:
            ev: the approval, signed.
            target: the action it is given for.
            call: the call id of that action.
            approvers: who approves that action.

        Raises:
            InputError: nobody may give this approval, or nothing waits for it.
        """
        from toolgate.ledger import approvals

        if ev["decision_digest"] is not None:
            with self._session(target.session, ev["ts"]) as held:
                return approvals.answer(held, call, ev, approvers)
        with self._spine(ev["ts"]) as spine:
            return approvals.collect(spine, self._store, ev, target, approvers)

    def rotate_approver(self, name: str, *, old: PrivateKey, new: PrivateKey, ts: int) -> str:
        """Replace an approver's key from here on; return the entry's digest.

        Raises:
            InputError: no policy of this ledger gives the principal the old key, it was
                replaced before, or the new one is another principal's.
        """
        from toolgate.ledger import approver_keys

        with self._spine(ts) as spine:
            return approver_keys.rotate(spine, self._store, name, old, new, ts)

    def outcome(
        self,
        session: str,
        *,
        key: str | None,
        call: str | None,
        tool: str,
        args_digest: str,
        result_digest: str | None,
        terminal_state: str,
        source: str,
        ts: int,
    ) -> str:
        """Append what became of a call.

        If the call is known by its id and ran with other arguments than were decided,
        an audit entry ``execution.args_differ`` goes before the outcome.

        Args:
            session: the host's session id.
            key: the prompt's id, if the host has one.
            call: the host's call id; None joins by tool and arguments.
            tool: the tool's name.
            args_digest: digest of the tool's input.
            result_digest: digest of the host's result; None for refused and unresolved.
            terminal_state: one of ``records.TERMINAL_STATES``.
            source: one of ``records.SOURCES``.
            ts: microseconds UTC.

        Returns:
            ``outcome``, or how it differs: ``inferred`` (an ask answered by its
            own execution), ``late`` (its turn was closed), ``superseded`` (it
            replaces an unresolved one), ``after_deny`` (the call had been
            denied), ``unmatched`` (no decision waits for it), ``repeated`` (the
            same report again; nothing is written).
        """
        with self._session(session, ts) as held:
            place = calls.find(held, call, tool, args_digest)
            report = calls.Report(call, tool, args_digest, result_digest, terminal_state, source)
            done = None if place is None else calls.answer(held, place, key, report)
            # Without an id an equal report may be about another call.
            return done or calls.state_unmatched(held, report, always=call is None)

    def settle(
        self,
        session: str,
        *,
        shown: "list[Shown]",
        ts: int,
        idle_us: int = 0,
    ) -> list[str]:
        """Append what other systems saw of calls and no hook reported, under one lock.

        An ask that its user answered, as the host's telemetry says, has that answer first, as
        an approval that nobody signed, then the decision it makes, then the end.

        Args:
            session: the host's session id.
            shown: what was seen of each call.
            ts: now, microseconds UTC.
            idle_us: leave an open session alone whose last entry is younger than this.

        Returns:
            For each as ``outcome``, or ``approved`` or ``refused`` (an ask, by its user),
            ``collected`` (the user's yes is kept, the class needs signatures and the ask stays
            open), ``unanswered`` (it ran although the answer does not let it), ``known`` (there
            is nothing to add by now) or ``busy`` (the session is still being written); in the
            last two cases nothing is written.
        """
        from toolgate.ledger import settle

        with self._session(session, ts) as held:
            return settle.settle(held, shown, idle_us)

    def turn_close(self, session: str, *, closed_by: str, ts: int) -> None:
        """Close the session's open turn, if there is one."""
        with self._session(session, ts) as held:
            held.close_turn(closed_by)

    def session_close(self, session: str, *, closed_by: str, ts: int) -> None:
        """Close a session; allowed calls nobody reported on become ``unresolved``."""
        with self._session(session, ts) as held:
            calls.close(held, closed_by)

    def audit(
        self,
        *,
        action: str,
        actor: str,
        target: str | None,
        details: dict[str, Any],
        ts: int,
        session: str | None = None,
    ) -> str:
        """Append an audit entry to the spine and return its digest."""
        with self._spine(ts) as spine:
            ev = {"action": action, "actor": actor, "target": target, "details": details}
            body = entry("audit", session=session, turn=None, parents=[], ts=ts, ev=ev)
            return spine.append(body)[0]

    def checkpoint(self, key: PrivateKey, *, ts: int, origin: str | None = None) -> bytes:
        """Append a signed checkpoint over the sessions closed so far and return its note.

        The ledger's first checkpoint is preceded by the entry that names its key.

        Args:
            key: the key the ledger's checkpoints are signed with.
            ts: microseconds UTC.
            origin: the log's name; chosen once, at the first checkpoint.

        Raises:
            LedgerError: the key or origin is another than the ledger's, an earlier
                checkpoint does not fit, or it could not be written.
            InputError: the origin cannot name a log.
        """
        from toolgate.ledger import anchor

        with self._spine(ts) as spine:
            return anchor.checkpoint(spine, key, origin, ts)

    def rotate_key(self, old: PrivateKey, new: PrivateKey, *, ts: int) -> str:
        """Append the entry that retires the checkpoints' key and return its digest.

        Args:
            old: the key in force.
            new: the key that signs from here on.
            ts: microseconds UTC.

        Raises:
            LedgerError: the old key is not in force, or it could not be written.
        """
        from toolgate.ledger import anchor

        with self._spine(ts) as spine:
            return anchor.rotate(spine, old, new, ts)

    def head(self) -> tuple[int, str]:
        """Return the number and digest of the last spine entry; (0, zeros) when empty."""
        tail = self._store.spine_tail()
        if tail.last is None:
            return 0, ZERO_DIGEST
        body = parse(tail.last)
        if tail.open:  # no entry before the next append supplies its line feed
            return body["seq"] - 1, body["prev_digest"]
        return body["seq"], digest(tail.last)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Let the appends of a block share one wait for the disk, at its end.

        With durability ``fsync`` none of them is acknowledged before the block has
        ended without an error: allow nothing on them earlier. With ``os`` it does nothing.

        Raises:
            LedgerError: the disk did not take them.
        """
        with self._store.group():
            yield

    def recover(self, *, ts: int, idle_us: int = 0) -> list[str]:
        """Seal torn ends and close the sessions that have been idle.

        A torn end behind a closed session is sealed in its next part, which is
        closed at once.

        Args:
            ts: now, microseconds UTC.
            idle_us: close a session whose last entry is at least this old.

        Returns:
            One sentence for everything that was done.
        """
        done: list[str] = []
        if not self._store.exists():
            return done
        with self._spine(ts) as spine:
            if spine.sealed:
                done.append(spine.sealed)
        for session, is_open in states.sessions(self._store).items():
            if is_open or self._is_torn(session):
                done += self._recover(session, ts, idle_us)
        return done

    def _recover(self, session: str, ts: int, idle_us: int) -> list[str]:
        with self._session(session, ts) as held:
            done = held.sealed
            if held.reopened:
                calls.close(held, "recovery")
                done.append(f"session {session}: opened its next part for that and closed it")
            elif held.state.opened and calls.last_ts(held) + idle_us <= ts:
                calls.close(held, "recovery")
                done.append(f"session {session}: closed")
            return done

    def _is_torn(self, session: str) -> bool:
        """Say whether a session's file ends in something the next writer would seal."""
        tail = self._store.session_tail(session_name(session))
        return tail.open or bool(tail.fragment)

    @contextmanager
    def _session(self, session: str, ts: int) -> Iterator[Session]:
        with self._translated(), Session(self._setting, self._memory, session, ts) as held:
            yield held

    @contextmanager
    def _spine(self, ts: int) -> Iterator[Spine]:
        with self._translated():
            rotate = self._setting.rotate
            with Spine(self._store, self._memory.spine, rotate=rotate, ts=ts) as spine:
                yield spine

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn whatever an append can run into, other than ``LedgerError``, into one."""
        try:
            yield
        except OSError as error:
            fail("append to", self.root, error)
        except (RecordError, CanonicalizationError) as error:
            raise LedgerError(f"cannot append to {self.root}: {error}") from error
        except (KeyError, TypeError, IndexError) as error:
            raise LedgerError(
                f"cannot append to {self.root}: an earlier entry has not the expected form"
            ) from error

    def _announce(self, policy: bytes, fields: list[DecisionFields], ts: int) -> None:
        """Keep the policy's text and say on the spine that it is in use, once."""
        wanted = {item.policy_version for item in fields}
        if wanted <= self._memory.policies:
            return
        version = digest(policy)
        if wanted != {version}:
            raise LedgerError(
                f"cannot append to {self.root}: the policy's digest is {version}; "
                f"the decisions name {', '.join(sorted(wanted))}"
            )
        if not self._store.has(policy_name(version, ".json")):
            with self._spine(ts) as spine:
                if not self._store.has(policy_name(version, ".json")):
                    ev = {"policy": version}
                    spine.append(
                        entry("policy_set", session=None, turn=None, parents=[], ts=ts, ev=ev)
                    )
                    spine.flush()
                    self._store.keep(policy_name(version, ".json"), policy)
                    # Who names no author is signed by nobody, such as what a project has added to.
                    authored = _NO_AUTHOR not in policy
                    signed = self._signature() if self._signature and authored else None
                    if signed is not None:
                        self._store.keep(policy_name(version, ".sig"), signed)
        self._memory.policies.add(version)
