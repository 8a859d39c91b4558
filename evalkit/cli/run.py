"""``evalkit run`` and ``evalkit resume``."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evalkit.cli.options import LEDGER, REPORTS
from evalkit.cli.output import emit
from evalkit.cli.place import ledger_root

if TYPE_CHECKING:
    from evalkit.build import Build
    from evalkit.challenge.sealing import Finished, Watch
    from evalkit.gates.choice import AnyGate, Choice

_VERDICT_EXIT = {"FAIL": 1, "INCOMPLETE": 4}
"""What a run ends with when its own ledger does not verify."""

_JUNIT = click.option("--junit", metavar="FILE", help="Also write the run as JUnit XML.")
_SUMMARY = click.option(
    "--summary", metavar="FILE", help="Also append a Markdown summary (GitHub's, say)."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.command()
@click.argument("set_path", metavar="SET")
@click.option("--policy", metavar="FILE", help="A policy instead of the shipped one.")
@click.option(
    "--gate",
    metavar="GATE",
    help="Another gate: command:'WORDS' runs a hook command for every call, http:URL posts it.",
)
@click.option(
    "--gate-protocol",
    default="claude-code",
    show_default=True,
    metavar="HOST",
    help="With --gate: whose hooks it answers (claude-code, codex, copilot, cursor, gemini).",
)
@click.option(
    "--gate-seconds",
    type=float,
    default=10.0,
    show_default=True,
    help="With --gate: for one answer.",
)
@click.option(
    "--gate-env", multiple=True, metavar="NAME", help="With --gate command: a variable it may see."
)
@click.option(
    "-j",
    "--jobs",
    type=int,
    help="Single calls at a time (default: 1; for our gate and a large set, a processor each).",
)
@click.option(
    "--purpose",
    type=click.Choice(["held-out", "regression", "development"]),
    help="What the run is for (default: held-out for a set's first look, else regression).",
)
@click.option("--rerun", is_flag=True, help="Run the same set, build and policy again.")
@click.option("--of", "rerun_of", metavar="RUN", help="With --rerun: the run that is repeated.")
@click.option("--reason", metavar="TEXT", help="With --rerun: why; printed in every report.")
@click.option(
    "--fail-if",
    multiple=True,
    metavar="TEXT",
    help="Exit 1 when this holds, e.g. 'dangerous_allow.upper > 0.05'; recorded in the claim.",
)
@click.option("--predict", metavar="FILE", help="Predicted misses, recorded before the first case.")
@_JUNIT
@_SUMMARY
@LEDGER
@REPORTS
@_JSON
def run(
    *,
    set_path: str,
    policy: str | None,
    gate: str | None,
    gate_protocol: str,
    gate_seconds: float,
    gate_env: tuple[str, ...],
    jobs: int | None,
    purpose: str | None,
    rerun: bool,
    rerun_of: str | None,
    reason: str | None,
    fail_if: tuple[str, ...],
    predict: str | None,
    junit: str | None,
    summary: str | None,
    ledger: str | None,
    reports: str,
    as_json: bool,
) -> None:
    """Run a frozen challenge set, once per pinned build and policy.

    SET is a file; a bare name is also sought in ./challenge_sets and among the
    sets that come with the package. The same set, build and policy again is
    refused with the first run's receipt (exit 3).

    A command given by --gate sees an empty home directory that holds the user's
    prompts as a transcript, and of the environment PATH and what --gate-env names.
    """
    from evalkit.errors import UsageError
    from evalkit.gates.choice import Choice
    from evalkit.runs import Request, start

    if rerun and not (rerun_of and reason):
        raise UsageError("--rerun: expected --of RUN and --reason TEXT beside it")
    if not rerun and (rerun_of or reason):
        raise UsageError("--of and --reason: expected --rerun beside them")
    _refuse_unwritable(junit, summary)
    choice = Choice(policy, gate, gate_protocol, gate_seconds, gate_env, jobs)
    request = Request(
        set_path, choice, purpose, rerun_of, reason, ledger_root(ledger), reports, fail_if, predict
    )
    with _collecting_rarely(), _watching() as watch:
        opened, build = _gate_of(choice)
        finished = start(request, opened, build, watch)
    _write_more(finished, junit, summary)
    _show(finished, as_json)


@click.command()
@click.argument("run_id", metavar="RUN")
@_JUNIT
@_SUMMARY
@LEDGER
@REPORTS
@_JSON
def resume(
    run_id: str,
    junit: str | None,
    summary: str | None,
    ledger: str | None,
    reports: str,
    as_json: bool,
) -> None:
    """Continue a run that was interrupted; set, build and policy must be identical.

    Finished cases are never shown again. Anything that differs is named and
    refused (exit 3), and so is a run that another process is running. A sealed
    run gets its report written again.
    """
    from evalkit.gates.choice import Choice
    from evalkit.runs import Request, resume

    _refuse_unwritable(junit, summary)
    request = Request("", Choice(), None, None, None, ledger_root(ledger), reports)
    with _collecting_rarely(), _watching() as watch:
        finished = resume(run_id, request, _gate_of, watch)
    _write_more(finished, junit, summary)
    _show(finished, as_json)


def _gate_of(choice: "Choice") -> "tuple[AnyGate, Build]":
    import evalkit.build
    from evalkit.gates.choice import open_gate
    from toolgate.canonical import warm

    warm()
    gate = open_gate(choice)
    return gate, evalkit.build.current(gate.policy_digest)


@contextmanager
def _collecting_rarely() -> "Iterator[None]":
    """Look for unreachable cycles a hundred times less often; a run makes next to none.

    A set's cases, results and index stay until the end, so each look would go through
    all of them again: a fifth of the time of ten thousand cases.
    """
    import gc

    before = gc.get_threshold()
    gc.set_threshold(100 * before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _watching() -> "Iterator[Watch]":
    """Turn the first interrupt into an orderly stop, and show progress, never verdicts."""
    from evalkit.challenge.sealing import Watch
    from evalkit.cli.progress import Bar

    asked: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    bar = Bar(sys.stderr)
    try:
        yield Watch(lambda: bool(asked), bar.show)
    finally:
        bar.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _refuse_unwritable(*paths: str | None) -> None:
    """Refuse files that could not be written, before anything is claimed."""
    import os

    from evalkit.errors import UsageError

    for path in paths:
        if path is None:
            continue
        folder = os.path.dirname(path) or "."
        if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            raise UsageError(f"{path}: expected a file that can be written, got none that can")


def _write_more(finished: "Finished", junit: str | None, summary: str | None) -> None:
    """Write what a continuous integration reads."""
    if junit is not None:
        from evalkit.report.junit import junit as as_junit

        with open(junit, "wb") as file:
            file.write(as_junit(finished.context))
    if summary is not None:
        from evalkit.report.render import markdown

        with open(summary, "a", encoding="utf-8") as text:
            text.write(markdown(finished.context, "summary.md.j2"))


def _show(finished: "Finished", as_json: bool) -> NoReturn:
    """Print the result; end with the verdict on the run's own ledger, else with the thresholds."""
    _print(finished, as_json)
    failed = [row for row in finished.context["thresholds"] if row["failed"]]
    for row in failed:
        shows = "nothing" if row["value"] is None else f"{row['value']:.6g}"
        print(f"evalkit: threshold not kept: {row['text']}: the run shows {shows}", file=sys.stderr)
    verdict = _VERDICT_EXIT.get(finished.context["verification"]["verdict"], 0)
    sys.exit(verdict or (1 if failed else 0))


def _print(finished: "Finished", as_json: bool) -> None:
    from evalkit.report.console import result_object, summary

    if as_json:
        import json

        emit(json.dumps(result_object(finished.context, finished.report), ensure_ascii=False))
        return
    lines = summary(finished.context, finished.report)
    if not sys.stdout.isatty():
        emit("\n".join(text for text, _ in lines))
        return
    from rich.console import Console

    console = Console(highlight=False)
    styles = {"head": "bold", "bad": "bold red", "": ""}
    for text, style in lines:
        console.print(text, style=styles[style], markup=False, soft_wrap=True)
