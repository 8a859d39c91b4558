"""``toolgate ledger reconcile``: what hooks never reported of calls, from a trace."""

import json
from collections import Counter
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.ledger.settle import Shown
    from toolgate.verify.endings import Ending

_DONE = {
    "outcome": "{} recorded",
    "late": "{} recorded after their turn was closed",
    "superseded": "{} recorded in place of unresolved ones",
    "inferred": "{} recorded with the answer that running implies",
    "approved": "{} recorded with the user's approval, which telemetry reports",
    "refused": "{} recorded as refused by the user, as telemetry reports",
    "collected": "{} left open with the user's approval: their class needs signed ones",
    "unanswered": "{} recorded as run although the user's answer, which is recorded, allows none",
    "unmatched": "{} stated as run without a decision",
    "known": "{} left: the ledger knows of it by now",
    "busy": "{} left: their session is still being written",
}
_MOST_SHOWN = 200
_AT_ONCE = 256
"""How many calls are written under one lock: a hook may be waiting for it."""


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--spans",
    "traces",
    multiple=True,
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="A trace of the same sessions: OTLP/JSON, a Claude Code transcript or a Codex rollout. "
    "Repeatable.",
)
@click.option(
    "--idle",
    "idle_s",
    default=300,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="SECONDS",
    help="Leave an open session alone whose last entry is younger than this.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def reconcile(path: str | None, traces: tuple[str, ...], idle_s: int, as_json: bool) -> None:
    """Record what no hook reported and a trace shows: ends of calls, answers to asks.

    Allowed calls without an end, or with none but unresolved, get the one the trace shows.
    Asks get the answer of their user that telemetry reports, as an approval or refusal that
    nobody signed; without one, those that ran get the answer that running implies. Calls of
    known sessions that ran without a decision are stated once. Denied calls stay as they are.
    Running it again writes nothing.

    Exit codes: 0 done or nothing to do, 2 wrong usage, 3 there is no ledger, the trace cannot
    be read or nothing can be written, 130 interrupted.
    """
    from toolgate.errors import CheckError

    root = root_of(path)
    done: list[tuple[Ending, str]] = []
    try:
        _reconcile(root, traces, idle_s, done)
    except CheckError as error:
        stop(str(error), UNCHECKED)
    except KeyboardInterrupt:
        stop("interrupted; run it again to finish", INTERRUPTED)
    if as_json:
        items = [{**ending._asdict(), "done": how} for ending, how in done]
        click.echo(json.dumps({"calls": items}, ensure_ascii=False, indent=1))
        return
    for ending, how in done[:_MOST_SHOWN]:
        click.echo(plain(_sentence(ending, how)))
    for how, count in sorted(Counter(how for _, how in done).items()):
        from toolgate.verify.words import counted

        click.echo(_DONE[how].format(counted(count, "call")))
    if not done:
        click.echo("nothing to reconcile")


def _reconcile(
    root: str, traces: tuple[str, ...], idle_s: int, done: "list[tuple[Ending, str]]"
) -> None:
    """Write what is missing, and note what was done with each call."""
    import time

    from toolgate.ledger.append import Ledger
    from toolgate.verify import verify
    from toolgate.verify.endings import Ending
    from toolgate.verify.traces.load import load_trace

    with Progress("reading: {:,} entries") as progress:
        found = verify(root, spans=load_trace(traces), progress=progress, all_endings=True)
    ledger = Ledger(root)
    sessions: dict[str, list[Ending]] = {}
    for ending in (*found.endings, *found.unmatched):
        sessions.setdefault(ending.session, []).append(ending)
    with Progress("writing: {:,} calls") as progress:
        for session, endings in sessions.items():
            for at in range(0, len(endings), _AT_ONCE):
                some = endings[at : at + _AT_ONCE]
                shown = [_shown(ending) for ending in some]
                now = time.time_ns() // 1000
                how = ledger.settle(session, shown=shown, ts=now, idle_us=idle_s * 1_000_000)
                done += zip(some, how, strict=True)
                progress(len(done))


def _shown(ending: "Ending") -> "Shown":
    """Return an ending as the writer takes it."""
    from toolgate.ledger.calls import Report
    from toolgate.ledger.settle import Shown
    from toolgate.ledger.told import Told

    report = told = None
    if ending.terminal_state is not None:
        report = Report(
            ending.call,
            ending.tool,
            ending.args_digest,
            ending.result_digest,
            ending.terminal_state,
            ending.source,
            ending.join,
        )
    if ending.approved is not None:
        told = Told(ending.approved, ending.principal)
    return Shown(ending.decided, ending.call, report, told)


def _sentence(ending: "Ending", how: str) -> str:
    said: list[str] = []
    if ending.approved is not None:
        by = "" if ending.principal is None else f" {ending.principal}"
        said.append(f"{'approved' if ending.approved else 'refused'} by its user{by} (telemetry)")
    if ending.terminal_state is not None:
        said.append(f"{ending.terminal_state} ({ending.source}, matched by {ending.join})")
    which = f"session {ending.session}: {ending.tool} call {ending.call or 'without id'}"
    return f"{which}: {', '.join(said)}: {how}"
