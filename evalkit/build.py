"""The pinned build: which code, policy and packages a run is about.

The build's digest covers the package files as they are imported, not a git
tree: what users install is what is measured. Left out of it are byte code,
``evalkit/challenge_sets`` (a set is named by its own digest; adding one must
not make every build new) and the commit stamp ``build.json`` (where the code
came from is printed, but the same code from an archive is the same build).
"""

import base64
import os
import platform
import re
import sys
from importlib import metadata
from typing import Any, NamedTuple

from toolgate.canonical import digest, digest_of, parse
from toolgate.errors import CanonicalizationError

SCHEMA = "evalkit/build/1"
FIELDS = ("schema", "files", "policy", "model", "distributions", "python")
"""What a build's body holds."""
DISTRIBUTION = "toolgate-evalkit"
PACKAGES = ("toolgate", "evalkit")
STAMP = "toolgate/gate/compiled/build.json"
_SETS = "evalkit/challenge_sets/"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Build(NamedTuple):
    """What a run is about, and whether it may be reported as pinned.

    Args:
        digest: digest of ``body``.
        body: schema, files (path to digest), policy, model, distributions, python.
        refusals: why this is not a pinned build, one sentence each; empty when it is.
        commit: the commit the code was built from, or None when it is not known.
        tree: ``clean``, ``dirty`` or ``unknown``.
    """

    digest: str
    body: dict[str, Any]
    refusals: tuple[str, ...]
    commit: str | None
    tree: str

    @property
    def pinned(self) -> bool:
        """Say whether the build may be reported as pinned."""
        return not self.refusals

    @property
    def short(self) -> str:
        """Return the first twelve hex digits of the digest."""
        return self.digest.removeprefix("sha256:")[:12]


def current(policy: str) -> Build:
    """Return the build of the code that is running.

    Args:
        policy: digest of the compiled policy.
    """
    roots = {name: _root_of(name) for name in PACKAGES}
    files = {path: digest(data) for path, data in _package_files(roots)}
    found = _distribution()
    body = {
        "schema": SCHEMA,
        "files": {path: value for path, value in files.items() if _in_build(path)},
        "policy": policy,
        "model": None,
        "distributions": _requirement_closure(found),
        "python": f"{sys.implementation.name} {platform.python_version()}",
    }
    commit, tree = _stamp(roots["toolgate"])
    return Build(digest_of(body), body, tuple(_refusals(found, roots, files)), commit, tree)


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return how two builds' bodies differ, one sentence a field or file."""
    found = [
        f"{name}: was {before[name]}, is {after[name]}"
        for name in ("schema", "policy", "model", "python")
        if before[name] != after[name]
    ]
    old, new = before["files"], after["files"]
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            word = "added" if path not in old else "removed" if path not in new else "changed"
            found.append(f"file {path}: {word}")
    gone = sorted(set(before["distributions"]) - set(after["distributions"]))
    come = sorted(set(after["distributions"]) - set(before["distributions"]))
    if gone or come:
        found.append(f"distributions: were {gone}, are {come}")
    return found


def _root_of(package: str) -> str:
    return os.path.dirname(os.path.realpath(str(sys.modules[package].__file__)))


def _in_build(path: str) -> bool:
    return path != STAMP and not path.startswith(_SETS)


def _package_files(roots: dict[str, str]) -> list[tuple[str, bytes]]:
    """Return every file of the packages but byte code, as (path from the package, bytes)."""
    found = []
    for package, root in roots.items():
        for directory, names, files in os.walk(root):
            names[:] = sorted(name for name in names if name != "__pycache__")
            for name in sorted(files):
                if not name.endswith((".pyc", ".pyo")):
                    place = os.path.join(directory, name)
                    path = f"{package}/{os.path.relpath(place, root).replace(os.sep, '/')}"
                    with open(place, "rb") as file:
                        found.append((path, file.read()))
    return found


def _distribution() -> metadata.Distribution | None:
    try:
        return metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None


def _refusals(
    found: metadata.Distribution | None, roots: dict[str, str], files: dict[str, str]
) -> list[str]:
    if found is None:
        return [f"{DISTRIBUTION} is not installed; the code was imported from a source path"]
    origin = _direct_url(found)
    if origin.get("dir_info", {}).get("editable"):
        return [f"{DISTRIBUTION} is an editable install; its files can change while it runs"]
    for package, root in roots.items():
        installed = os.path.dirname(os.path.realpath(str(found.locate_file(f"{package}/x"))))
        if installed != root:
            return [f"{package} was imported from a source path, not from the installed package"]
    return _record_faults(found, files)


def _direct_url(found: metadata.Distribution) -> dict[str, Any]:
    text = found.read_text("direct_url.json")
    try:
        value = parse(text.encode("utf-8")) if text else {}
    except CanonicalizationError:
        return {}
    return value if type(value) is dict else {}


def _record_faults(found: metadata.Distribution, files: dict[str, str]) -> list[str]:
    """Compare the files with what the installer recorded (RECORD)."""
    recorded = {
        str(row).replace(os.sep, "/"): row.hash
        for row in found.files or []
        if row.parts[0] in PACKAGES and not str(row).endswith((".pyc", ".pyo"))
    }
    faults = [f"RECORD: {path} is missing" for path in sorted(recorded.keys() - files.keys())]
    for path, value in files.items():
        row = recorded.get(path)
        if path not in recorded:
            faults.append(f"RECORD: {path} is not in it")
        elif row is None or row.mode != "sha256" or _hex_of(row.value) != value[7:]:
            faults.append(f"RECORD: {path} was changed after it was installed")
    return faults


def _hex_of(value: str) -> str:
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()


def _requirement_closure(found: metadata.Distribution | None) -> list[str]:
    """Return ``name==version`` of everything the package requires, extras apart.

    The whole closure counts, loaded or not: which modules a run has loaded by
    some moment depends on the terminal and on the figures, and one build must
    not have two names.
    """
    versions: dict[str, str] = {}
    waiting = list(found.requires or []) if found is not None else []
    while waiting:
        requirement = waiting.pop()
        name = _NAME.match(requirement)
        marker = requirement.partition(";")[2]
        if name is None or "extra" in marker:
            continue
        key = re.sub(r"[-_.]+", "-", name[0]).lower()
        if key in versions:
            continue
        try:
            needed = metadata.distribution(key)
        except metadata.PackageNotFoundError:
            continue  # its marker excludes this platform
        versions[key] = needed.version
        waiting += needed.requires or []
    return [f"{name}=={version}" for name, version in sorted(versions.items())]


def _stamp(root: str) -> tuple[str | None, str]:
    """Return commit and tree state as the build hook wrote them."""
    place = os.path.join(os.path.dirname(root), *STAMP.split("/"))
    try:
        with open(place, "rb") as file:
            body = parse(file.read())
    except (OSError, CanonicalizationError):
        return None, "unknown"
    if type(body) is not dict:
        return None, "unknown"
    commit, tree = body.get("commit"), body.get("tree")
    return (
        commit if type(commit) is str and commit != "unknown" else None,
        tree if tree in ("clean", "dirty") else "unknown",
    )
