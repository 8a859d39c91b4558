"""``toolgate ledger reconcile``: the ends of calls that hooks never reported, from a trace."""

import json
from collections import Counter
from typing import TYPE_CHECKING

import click

from toolgate.cli.ledger.place import INTERRUPTED, UNCHECKED, plain, root_of, stop
from toolgate.cli.ledger.progress import Progress

if TYPE_CHECKING:
    from toolgate.verify.endings import Ending

_DONE = {
    "outcome": "{} recorded",
    "late": "{} recorded after their turn was closed",
    "superseded": "{} recorded in place of unresolved ones",
    "inferred": "{} recorded with the answer that running implies",
    "unmatched": "{} stated as run without a decision",
    "known": "{} left: they have an end by now",
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
    """Record the ends of calls that no hook reported and a trace shows.

    Allowed calls without an end, or with none but unresolved, get the one the trace shows;
    asks that ran get the answer that running implies; calls of known sessions that ran without
    a decision are stated once. Refused asks and denied calls stay as they are. Running it
    again writes nothing.

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
    from toolgate.ledger.calls import Report
    from toolgate.verify import verify
    from toolgate.verify.endings import Ending
    from toolgate.verify.traces.load import load_trace

    with Progress("reading: {:,} entries") as progress:
        found = verify(root, spans=load_trace(traces), progress=progress)
    ledger = Ledger(root)
    sessions: dict[str, list[Ending]] = {}
    for ending in (*found.endings, *found.unmatched):
        sessions.setdefault(ending.session, []).append(ending)
    with Progress("writing: {:,} calls") as progress:
        for session, endings in sessions.items():
            for at in range(0, len(endings), _AT_ONCE):
                some = endings[at : at + _AT_ONCE]
                reports = [(ending.decided, Report(*_fields(ending))) for ending in some]
                now = time.time_ns() // 1000
                how = ledger.settle(session, reports=reports, ts=now, idle_us=idle_s * 1_000_000)
                done += zip(some, how, strict=True)
                progress(len(done))


def _fields(ending: "Ending") -> "tuple[str | None, str, str, str | None, str, str, str]":
    """Return an ending in the order of a writer's report."""
    return (
        ending.call,
        ending.tool,
        ending.args_digest,
        ending.result_digest,
        ending.terminal_state,
        ending.source,
        ending.join,
    )


def _sentence(ending: "Ending", how: str) -> str:
    which = f"session {ending.session}: {ending.tool} call {ending.call or 'without id'}"
    by = f"{ending.source}, matched by {ending.join}"
    return f"{which}: {ending.terminal_state} ({by}): {how}"
