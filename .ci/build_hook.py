"""Build step: compile catalogue and policies, and stamp the build.

Writes ``toolgate/gate/compiled/``: one file a program, the index, the shipped
policies, the lexicon, and ``build.json`` with the commit, whether the tree was clean, and a
digest of the package's sources.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = "toolgate/gate/compiled"


class CustomBuildHook(BuildHookInterface):
    """Runs before each wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compiled files."""
        write_compiled(Path(self.root))


def write_compiled(root: Path) -> None:
    """Compile everything below a source root."""
    sys.path.insert(0, str(root))
    from toolgate.canonical import canonical_bytes, digest
    from toolgate.gate.bases import bases_beside
    from toolgate.gate.catalog.compile import compile_families
    from toolgate.gate.catalog.load import entry_file
    from toolgate.gate.policy.compile import compile_policy
    from toolgate.gate.task.compile import compile_lexicon, compile_meanings

    index, entries = compile_families(str(root / "toolgate/gate/catalog/families"))
    folder = root / COMPILED
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    (folder / "catalog.json").write_bytes(index)
    for entry_digest, data in entries.items():
        (folder / entry_file(entry_digest)).write_bytes(data)
    lexicon = compile_lexicon((root / "toolgate/gate/task/lexicon.yaml").read_bytes())
    (folder / "lexicon.json").write_bytes(lexicon)
    (folder / "lexicon-acts.json").write_bytes(compile_meanings(lexicon))
    for policy in sorted((root / "toolgate/gate/policy/defaults").glob("*.yaml")):
        compiled = compile_policy(
            policy.read_bytes(),
            digest(index),
            name=policy.name,
            bases=bases_beside(str(policy)),
            lexicon=digest(lexicon),
        )
        (folder / f"{policy.stem}.json").write_bytes(compiled)
    (folder / "build.json").write_bytes(canonical_bytes(stamp(root)))


def stamp(root: Path) -> dict[str, str]:
    """Return the commit, the tree's state and a digest of the sources."""
    from toolgate.canonical import digest, digest_of

    files = sorted(
        file
        for package in ("toolgate", "evalkit")
        for file in (root / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and "compiled" not in file.parts
    )
    sources = {str(file.relative_to(root)): digest(file.read_bytes()) for file in files}
    commit, status = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain")
    tree = "unknown" if commit is None or status is None else "dirty" if status else "clean"
    return {"commit": commit or "unknown", "digest": digest_of(sources), "tree": tree}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


if __name__ == "__main__":
    write_compiled(Path(__file__).resolve().parent.parent)
