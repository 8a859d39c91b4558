"""``evalkit build``: which build a run would be about, and how two builds differ."""

import json
import os
import sys
from typing import Any

import click

from evalkit.cli.options import LEDGER
from evalkit.cli.output import emit


@click.group(name="build")
def group() -> None:
    """Show the pinned build that a run would be about, and how two builds differ."""


@group.command()
@click.option("--policy", metavar="FILE", help="A policy instead of the shipped one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, every file in it.")
def show(policy: str | None, as_json: bool) -> None:
    """Print the build's digest, where it comes from, and whether it is pinned.

    `build` names a run of a challenge set. `hook build` is what the hook writes
    into every decision, and so what expected.build of a window is compared
    with; expected.policy is compared with `policy`.
    """
    from evalkit.build import current
    from toolgate.gate.open import build_digest, default_gate, gate_from

    gate = default_gate() if policy is None else gate_from(policy)
    build = current(gate.policy_digest)
    if as_json:
        body = {"build": build.digest, "pinned": build.pinned, "refusals": list(build.refusals)}
        body["hook_build"] = build_digest()
        emit(json.dumps({**body, "commit": build.commit, "tree": build.tree, **build.body}))
        return
    rows = {
        "build": build.digest,
        "hook build": f"{build_digest()} (expected.build of a window)",
        "pinned": "yes" if build.pinned else "no",
        "policy": build.body["policy"],
        "commit": f"{build.commit or 'unknown'} ({build.tree})",
        "files": str(len(build.body["files"])),
        "packages": ", ".join(build.body["distributions"]) or "not known",
        "python": build.body["python"],
    }
    emit("\n".join(f"{name:<12}{value}" for name, value in rows.items()))
    for sentence in build.refusals:
        print(f"not pinned: {sentence}", file=sys.stderr)


@group.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def diff(before: str, after: str, ledger: str | None, as_json: bool) -> None:
    """Name every file, package and setting in which two builds differ.

    A and B are runs of the ledger, files that `build show --json` wrote, or
    `now` for the build that is installed (with the shipped policy).
    """
    from evalkit.build import changed

    one, two = (_body(name, ledger) for name in (before, after))
    found = changed(one, two)
    if as_json:
        emit(json.dumps({"same": not found, "differences": found}))
    else:
        emit("\n".join(found) or "the two builds are the same")


def _body(name: str, ledger: str | None) -> dict[str, Any]:
    """Return the body of the build a name stands for."""
    from evalkit.build import FIELDS, current
    from evalkit.challenge.read import read_bytes
    from evalkit.challenge.rundir import is_run, read_start, run_directory
    from evalkit.cli.place import ledger_that_is_there
    from evalkit.errors import UsageError
    from toolgate.gate.open import default_gate

    if name == "now":
        return current(default_gate().policy_digest).body
    if is_run(name):
        return read_start(run_directory(ledger_that_is_there(ledger), name)).build
    wanted = f"{name}: expected a run, `now` or a file of `evalkit build show --json`, got"
    if not os.path.exists(name):
        raise UsageError(f"{wanted} none of them")
    try:
        body = json.loads(read_bytes(name, "build"))
        return {field: body[field] for field in FIELDS}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{wanted} another") from None
