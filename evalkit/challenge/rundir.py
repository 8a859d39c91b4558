"""A run's directory: a small ledger of its own, its journal, and how it was started.

``<ledger>/runs/<run>/`` holds the run's ledger (the same format as any other),
``journal.jsonl`` and ``run.json``. ``run.json`` is written before the claim,
so a claimed run can always be continued.
"""

import os
import re
import secrets
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from evalkit.challenge.execute import Recorded
from evalkit.challenge.score import Result
from evalkit.errors import RefusedError, StorageError, UsageError
from toolgate.canonical import canonical_bytes, parse
from toolgate.errors import CanonicalizationError
from toolgate.gate.decision import LEDGER_STATE
from toolgate.ledger.directory import spine_files
from toolgate.ledger.files import put_file, session_name
from toolgate.ledger.index import decision_digest_of

NAME = "run.json"
_RUN = re.compile(r"run-\d{8}t\d{6}z-[0-9a-f]{8}")


class Start(NamedTuple):
    """How a run was started.

    Args:
        set_path: where the set was read.
        policy_path: the policy file, or None for the shipped one.
        details: what the claim says.
        build: body of the build.
        gate: which gate, as ``gates.choice`` keeps it; None for ours.
    """

    set_path: str
    policy_path: str | None
    details: dict[str, Any]
    build: dict[str, Any]
    gate: dict[str, Any] | None = None


def new_run_id(ts: int) -> str:
    """Return a new run id.

    Args:
        ts: microseconds UTC.
    """
    when = datetime.fromtimestamp(ts / 1_000_000, UTC).strftime("%Y%m%dt%H%M%Sz")
    return f"run-{when}-{secrets.token_hex(4)}"


def is_run(text: str) -> bool:
    """Say whether a text has the form of a run's id."""
    return _RUN.fullmatch(text) is not None


def run_directory(ledger: str, run: str) -> str:
    """Return a run's directory.

    Raises:
        UsageError: the id has not the form of a run's.
    """
    if not is_run(run):
        raise UsageError(f"run: expected an id such as run-20260101t000000z-01234567, got {run!r}")
    return os.path.join(ledger, "runs", run)


def write_start(directory: str, start: Start) -> None:
    """Write how a run was started into its directory, which is there."""
    put_file(os.path.join(directory, NAME), canonical_bytes(start._asdict()) + b"\n")


def read_start(directory: str) -> Start:
    """Return how a run was started.

    Raises:
        RefusedError: there is no such run here.
        StorageError: the file is damaged.
    """
    path = os.path.join(directory, NAME)
    try:
        with open(path, "rb") as file:
            return Start(**parse(file.read()))
    except OSError as error:
        raise RefusedError(f"{path}: the run cannot be read: {error.strerror}") from None
    except (CanonicalizationError, TypeError):
        raise StorageError(f"{path}: expected how a run was started, got damaged bytes") from None


def recorded_decisions(directory: str, run: str) -> dict[str, Recorded]:
    """Return the decisions in a run's ledger, by call id.

    Args:
        directory: the run's directory.
        run: the run's id.
    """
    found: dict[str, Recorded] = {}
    path = os.path.join(directory, "sessions", session_name(run) + ".jsonl")
    if not os.path.exists(path):
        return found
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"}\n"):
                continue  # a fragment; the verifier names it
            try:
                body = orjson.loads(line)
            except ValueError:
                continue
            if body.get("kind") == "decision":
                ev = body["ev"]
                found[body["intent"]["call"]] = Recorded(
                    ev["decision_state"],
                    body["rule"],
                    ev["args_digest"],
                    decision_digest_of(line[:-1]),
                    line[:-1],
                )
    return found


def session_closed(directory: str) -> bool:
    """Say whether a run's session is closed: by the last line, if that was written whole."""
    last = b""
    for name in spine_files(directory):
        with open(os.path.join(directory, name), "rb") as file:
            for line in file:
                last = line
    return last.endswith(b"}\n") and b'"kind":"session_close"' in last


def hold_to_ledger(results: list[Result], recorded: dict[str, Recorded], run: str) -> None:
    """Check that the journal says what the run's ledger says.

    Raises:
        StorageError: a decision is in one and not, or differently, in the other.
    """
    for result in results:
        found = recorded.get(result.case)
        said = None
        if result.decision_digest is not None:
            said = (LEDGER_STATE[result.decided], result.rule, result.decision_digest)
        kept = None if found is None else (found.state, found.rule, found.decision_digest)
        if said != kept:
            raise StorageError(
                f"run {run}, case {result.case}: the journal says {_words(said)}; "
                f"the ledger says {_words(kept)}; nothing was sealed"
            )


def _words(decision: tuple[str, str, str] | None) -> str:
    if decision is None:
        return "no decision"
    state, rule, decision_digest = decision
    return f"{state} by rule {rule}, decision {decision_digest}"
