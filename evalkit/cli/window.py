"""``evalkit window``: declare, close, list and show measurement windows."""

import json
import os
import sys
import time
from typing import Any

import click

from evalkit.cli.options import LEDGER, REPORTS
from evalkit.cli.place import ledger_root

_WINDOWS = click.option(
    "--windows", default="windows", show_default=True, metavar="DIR", help="Where copies are kept."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group(name="window")
def window() -> None:
    """Declare and close measurement windows over a decision ledger."""


@window.command()
@click.argument("file", metavar="FILE")
@LEDGER
@_WINDOWS
@_JSON
def declare(*, file: str, ledger: str | None, windows: str, as_json: bool) -> None:
    """Freeze the declaration in FILE (YAML) and chain its digest, before the window starts.

    All faults of the file are reported at once (exit 2). An id is declared
    once (exit 3). Format: evalkit/spec/window.md; a commented example is
    windows/example.yaml.
    """
    from evalkit.errors import UsageError
    from evalkit.windows.opening import declare as declare_window

    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    made = declare_window(data, file, root=ledger_root(ledger), folder=windows, now=_now())
    body = made.declaration.body
    word = "declared before, copy restored" if made.restored else "declared"
    _print(
        as_json,
        {
            "id": body["id"],
            "digest": made.digest,
            "entry": made.entry,
            "head": made.head,
            "start": body["start"],
            "end": body["end"],
            "retrospective": body["retrospective"],
            "copy": made.copy,
            "restored": made.restored,
        },
        [
            f"window {body['id']}: {word}, {body['start']} <= ts < {body['end']}",
            f"  declaration {made.digest}",
            f"  ledger entry {made.entry}",
            f"  ledger head before it {made.head or 'none (an empty ledger)'}",
            f"  copy {made.copy}; commit it, and do not edit it",
            *(["  retrospective: will be graded EXPLORATORY"] if body["retrospective"] else []),
        ],
    )


@window.command()
@click.argument("window_id", metavar="ID")
@LEDGER
@_WINDOWS
@REPORTS
@_JSON
def close(*, window_id: str, ledger: str | None, windows: str, reports: str, as_json: bool) -> None:
    """Verify the ledger, cut the slice, count, grade and write the report. Once.

    Refused (exit 3): an edited declaration, a window that is not over, a
    window that was closed before. A window graded VOID is closed and printed,
    and ends with exit 1.
    """
    from evalkit.windows.close import close as close_window
    from evalkit.windows.waiting import waiting

    with waiting(f"closing window {window_id}"):
        done = close_window(
            window_id, root=ledger_root(ledger), folder=windows, reports=reports, now=_now()
        )
    record = done.record
    _print(
        as_json,
        {
            "id": record["id"],
            "grade": record["grade"],
            "reasons": record["reasons"],
            "verdict": record["ledger"]["verdict"],
            "calls": record["slice"]["rows"],
            "sessions": record["sessions"]["count"],
            "metrics": record["metrics"],
            "slice": record["slice"]["digest"],
            "close": done.digest,
            "entry": done.entry,
            "report": done.files[1],
        },
        [
            f"window {record['id']}: {record['grade']}",
            *(f"  {reason['grade']}: {reason['sentence']}" for reason in record["reasons"]),
            f"  {record['slice']['rows']} calls in {record['sessions']['count']} sessions; "
            f"ledger {record['ledger']['verdict']}",
            *(
                f"  {metric['name']} v{metric['version']}: {metric['text']}"
                for metric in record["metrics"]
            ),
            f"  slice {record['slice']['digest']}",
            f"  close record {done.digest}, ledger entry {done.entry}",
            f"  report {done.files[1]}",
        ],
    )
    if record["grade"] == "VOID":
        sys.exit(1)


@window.command(name="list")
@LEDGER
@_WINDOWS
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_windows(*, ledger: str | None, windows: str, as_json: bool) -> None:
    """List every window this ledger or the folder knows."""
    from evalkit.windows.state import standings

    found = standings(ledger_root(ledger), windows, _now())
    lines = [
        f"{item.id}: {item.state}"
        + (f", {item.start} <= ts < {item.end}" if item.start else "")
        + (f", {item.grade}" if item.grade else "")
        for item in found
    ]
    _print(as_json, [item._asdict() for item in found], lines or ["no windows"])


@window.command()
@click.argument("window_id", metavar="ID")
@LEDGER
@_WINDOWS
@_JSON
def status(*, window_id: str, ledger: str | None, windows: str, as_json: bool) -> None:
    """Show a window's standing, volume and integrity; rates only come with closing."""
    from evalkit.windows.state import status as window_status
    from evalkit.windows.waiting import waiting

    with waiting(f"reading window {window_id}"):
        body = window_status(window_id, root=ledger_root(ledger), folder=windows, now=_now())
    lines = [f"window {body['id']}: {body['state']}"]
    lines.append(f"  {body['start']} <= ts < {body['end']}; can be closed from {body['ready']}")
    lines.append(f"  declared {body['declared']}, {body['digest']}")
    if "calls" in body:
        counts = body["lines"]
        lines.append(f"  {body['calls']} calls so far in {body['sessions']} sessions")
        lines.append(f"  ledger lines {counts['lines']}, bad {counts['bad']}")
    if body["grade"]:
        lines.append(f"  closed, {body['grade']}")
    _print(as_json, body, lines)


@window.command()
@click.argument("file", metavar="FILE")
@_JSON
def seed(*, file: str, as_json: bool) -> None:
    """Write a new secret seed to FILE (0600) and print its commitment for a declaration."""
    from evalkit.errors import RefusedError
    from evalkit.labels.seed import new_seed

    if os.path.exists(file):
        raise RefusedError(f"{file} is there already; a seed is never replaced")
    commitment = new_seed(file)
    _print(
        as_json,
        {"file": file, "seed_commitment": commitment},
        [f"seed written to {file}; keep it secret until the labels are in", commitment],
    )


def _now() -> int:
    return time.time_ns() // 1000


def _print(as_json: bool, body: Any, lines: list[str]) -> None:
    if as_json:
        print(json.dumps(body, ensure_ascii=False))
    else:
        print("\n".join(lines))
