"""Gates that are not ours: any hook command of any host protocol, any HTTP hook.

What such a gate answers is recorded like a decision of ours, with no effects and the rule
``answered`` or ``no-opinion``; nobody knows how it came to it.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from evalkit.errors import UsageError
from evalkit.gates.heard import Heard, NoAnswerError, Shown, refuse_another
from evalkit.gates.process import run_hook
from evalkit.gates.protocols import HookProtocol
from evalkit.gates.room import AS_IS, MADE, Room, how_of, make_room, namespaces
from toolgate.canonical import canonical_bytes, digest, digest_of
from toolgate.gate.call import ToolCall
from toolgate.gate.decision import Decision
from toolgate.gate.facts.session import NOTHING, Session

FORMAT = "evalkit.gate/1"
TRANSCRIPT = "transcript.jsonl"
PROOF = "unresolved(not-ours)"
_MAX_FILE = 256 * 1024 * 1024


class Asking(Protocol):
    """How a gate is reached."""

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that start it; none where it is started by somebody else."""

    def ask(self, payload: bytes, room: Room) -> Heard:
        """Return its answer to a payload; raises ``NoAnswerError`` when there is none."""

    def tell(self, payload: bytes, room: Room) -> None:
        """Tell it what became of a call; whatever it answers to that counts for nothing."""


class Command(NamedTuple):
    """A hook command.

    Args:
        words: program and arguments.
        protocol: how a host asks it.
        seconds: how long one answer may take.
        environ: variables it gets beside PATH, HOME and LANG.
    """

    words: tuple[str, ...]
    protocol: HookProtocol
    seconds: float
    environ: tuple[tuple[str, str], ...] = ()

    def ask(self, payload: bytes, room: Room) -> Heard:
        """Run the command once and return what its host would take the output for."""
        environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": room.home,
            "LANG": "C.UTF-8",
            **dict(self.environ),
        }
        output = run_hook(
            (*room.prefix, *self.words),
            payload,
            environ=environ,
            cwd=room.cwd,
            seconds=self.seconds,
        )
        refuse_another(payload, output.stdout)
        return self.protocol.hear(output)

    def tell(self, payload: bytes, room: Room) -> None:
        """Run the command with an event that asks nothing."""
        try:
            self.ask(payload, room)
        except NoAnswerError:
            return  # a hook need not answer an event that asks nothing

    def described(self) -> dict[str, Any]:
        """Return what this gate is, without a path of this machine."""
        return {
            "format": FORMAT,
            "kind": "command",
            "name": self.words[0].rpartition("/")[2],
            "words": [
                word.rpartition("/")[2] if word.startswith("/") else word for word in self.words
            ],
            "files": _files_of(self.words),
            "protocol": self.protocol.name,
            "place": MADE if namespaces() else AS_IS,
            "seconds": str(self.seconds),
            "environ": sorted(name for name, _ in self.environ),
        }


def _files_of(words: Sequence[str]) -> dict[str, str]:
    """Return the digests of the files a command names, by their names without folders.

    Raises:
        UsageError: the program is nowhere on PATH.
    """
    program = shutil.which(words[0])
    if program is None:
        raise UsageError(f"--gate command: expected a program, got {words[0]!r:.100}: not found")
    found: dict[str, str] = {}
    for path in (program, *words[1:]):
        if os.path.isfile(path) and os.path.getsize(path) <= _MAX_FILE:
            with open(path, "rb") as file:
                found[os.path.basename(path)] = digest(file.read())
    return found


class OutsideGate:
    """A gate that is not ours, under the interface of one that is.

    Args:
        reached: how it is asked.
        described: what it is; its digest stands where a policy's would.
        protocol: how payloads are made.
    """

    def __init__(self, reached: Asking, described: dict[str, Any], protocol: HookProtocol) -> None:
        self._reached = reached
        self._protocol = protocol
        self.name = f"{_called(described)} ({described['kind']}, {protocol.name})"
        self.policy_bytes = canonical_bytes(described)
        self.policy_digest = digest(self.policy_bytes)

    def room(self, home: str, cwd: str) -> str:
        """Say what home and working directory a process of this gate finds.

        Args:
            home: the home directory the set says.
            cwd: the working directory it says.
        """
        if not self._reached.words:
            return "those of whoever listens; the case's stand in the payload only"
        if how_of(home, cwd, self._reached.words) == MADE:
            return f"made for every case: {home} and {cwd}, empty"
        return "a temporary home for every case; the case's paths stand in the payload only"

    @contextmanager
    def case(
        self, case: str, prompts: tuple[str, ...], home: str, cwd: str
    ) -> "Iterator[OutsideCase]":
        """Prepare one case: a home directory that is empty but for the user's prompts.

        Args:
            case: text that names the case and its set; only its digest is shown.
            prompts: what the user asked for, oldest first.
            home: the home directory the case says.
            cwd: the working directory it says.
        """
        session = str(UUID(digest_of(case)[7:39]))
        with tempfile.TemporaryDirectory(prefix="case-") as folder:
            room = make_room(folder, home, cwd, self._reached.words)
            with open(room.path(TRANSCRIPT), "wb") as file:
                file.write(_transcript(session, prompts))
            yield OutsideCase(self, self._reached, self._protocol, session, room)


class OutsideCase:
    """A gate that is not ours, with what it keeps of one case."""

    def __init__(
        self,
        gate: OutsideGate,
        reached: Asking,
        protocol: HookProtocol,
        session: str,
        room: Room,
    ) -> None:
        self.policy_bytes = gate.policy_bytes
        self.policy_digest = gate.policy_digest
        self._reached = reached
        self._protocol = protocol
        self._session = session
        self._room = room
        self._last: Shown | None = None

    def decide(self, call: ToolCall, session: Session = NOTHING) -> Decision:
        """Return what the gate answers to a call; facts are its own business.

        Raises:
            NoAnswerError: it gives no answer that can be scored.
        """
        self._last = shown = Shown(
            session=self._session,
            call="toolu_" + digest_of(f"{self._session} {call.call}")[7:31],
            tool=call.tool,
            input=call.input,
            cwd=call.place.cwd,
            mode=call.mode,
            transcript=os.path.join(self._room.home, TRANSCRIPT),
            ts=call.ts,
        )
        heard = self._reached.ask(self._protocol.before(shown), self._room)
        return Decision(
            state=heard.state,
            rule=heard.rule,
            axis=None,
            action_class="other",
            effects=(),
            facts=(),
            proof=PROOF,
            policy=self.policy_digest,
            sentence=heard.reason or heard.state,
        )

    def ended(self, result: str | None) -> None:
        """Tell the gate what became of the call before, where its protocol has a word for it.

        Args:
            result: ``success`` or ``failure``; a call that was not run has no such event.
        """
        if self._last is None or result not in ("success", "failure"):
            return
        payload = self._protocol.after(self._last, result)
        if payload:
            self._reached.tell(payload, self._room)


def _called(described: dict[str, Any]) -> str:
    """Return what a gate is called: its program, and the file that an interpreter is given."""
    script = os.path.basename((*described.get("words", ()), "", "")[1])
    named = script in described.get("files", {}) and script != described["name"]
    return f"{described['name']} {script}" if named else str(described["name"])


def _transcript(session: str, prompts: tuple[str, ...]) -> bytes:
    """Return the user's prompts as lines of a Claude Code transcript."""
    start = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    rows = [
        {
            "type": "user",
            "sessionId": session,
            "uuid": str(UUID(digest_of(f"{session} {number}")[7:39])),
            "timestamp": start,
            "isSidechain": False,
            "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(prompts)
    ]
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
