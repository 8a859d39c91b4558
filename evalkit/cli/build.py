"""``evalkit build``: which build a run would be about."""

import json
import sys

import click

from evalkit.cli.output import emit


@click.group(name="build")
def group() -> None:
    """Show the pinned build that a run would be about."""


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
