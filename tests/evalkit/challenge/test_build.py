"""The pinned build: what it covers, and what keeps a build from being pinned."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evalkit
import toolgate
from evalkit.build import STAMP, changed, current

POLICY = "sha256:" + "1" * 64
INFO = "toolgate_evalkit-0.1.0.dist-info"
CODE = (
    "import json, evalkit, toolgate\n"
    "from evalkit.build import current\n"
    f"made = current('{POLICY}')\n"
    "print(json.dumps({'digest': made.digest, 'refusals': made.refusals, 'commit': made.commit,"
    " 'tree': made.tree, 'body': made.body}))\n"
)


class Site:
    """A directory the two packages are installed in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for package in (toolgate, evalkit):
            source = Path(str(package.__file__)).parent
            shutil.copytree(
                source, root / source.name, ignore=shutil.ignore_patterns("__pycache__")
            )
        sets = root / "evalkit" / "challenge_sets"
        sets.mkdir(exist_ok=True)
        (sets / "one.json").write_text("{}")
        (root / INFO).mkdir()
        (root / INFO / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: toolgate-evalkit\nVersion: 0.1.0\n"
            "Requires-Dist: click>=8.1\n"
            "Requires-Dist: nothing-of-the-kind>=1; python_version < '3'\n"
            "Requires-Dist: pytest>=8; extra == 'test'\n"
        )
        self.record()

    def record(self) -> None:
        rows = []
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                value = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
                name = path.relative_to(self.root).as_posix()
                rows.append(f"{name},sha256={value.rstrip(b'=').decode()},{path.stat().st_size}")
        (self.root / INFO / "RECORD").write_text("\n".join([*rows, f"{INFO}/RECORD,,"]) + "\n")

    def build(self, *before: str) -> Any:
        path = os.pathsep.join([*before, str(self.root), *sys.path])
        ran = subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=self.root.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(ran.stdout)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


def test_an_installed_package_is_pinned(site: Site):
    made = site.build()
    assert made["refusals"] == []
    names = [row.partition("==")[0] for row in made["body"]["distributions"]]
    assert names == ["click"]
    assert made["body"]["policy"] == POLICY
    assert made["body"]["model"] is None
    assert "toolgate/canonical.py" in made["body"]["files"]
    assert not [path for path in made["body"]["files"] if path.startswith("evalkit/challenge_sets")]
    assert STAMP not in made["body"]["files"]
    assert made == site.build()


def test_byte_code_is_no_part_of_it(site: Site):
    before = site.build()
    cache = site.root / "toolgate" / "__pycache__"
    cache.mkdir()
    (cache / "canonical.cpython-311.pyc").write_bytes(b"x")
    assert site.build() == before


def test_code_policy_and_packages_make_the_digest_and_sets_do_not(site: Site):
    before = site.build()["digest"]
    (site.root / "evalkit" / "challenge_sets" / "two.json").write_text("{}")
    site.record()
    assert site.build()["digest"] == before
    (site.root / "toolgate" / "errors.py").write_bytes(
        (site.root / "toolgate" / "errors.py").read_bytes() + b"# a comment\n"
    )
    site.record()
    after = site.build()
    assert after["refusals"] == []
    assert after["digest"] != before


def test_the_commit_stamp_is_read_and_is_no_part_of_the_digest(site: Site):
    place = site.root / STAMP
    place.parent.mkdir(exist_ok=True)
    found = []
    for tree in ("clean", "dirty", "odd"):
        place.write_text(json.dumps({"commit": "abc", "tree": tree, "digest": "x"}))
        site.record()
        found.append(site.build())
    assert [made["tree"] for made in found] == ["clean", "dirty", "unknown"]
    assert found[0]["commit"] == "abc"
    assert len({made["digest"] for made in found}) == 1


def edit(root: Path) -> None:
    path = root / "toolgate" / "errors.py"
    path.write_bytes(path.read_bytes() + b"\n")


def add(root: Path) -> None:
    (root / "evalkit" / "more.py").write_text("")


def remove(root: Path) -> None:
    (root / "evalkit" / "py.typed").unlink()


def edit_a_set(root: Path) -> None:
    (root / "evalkit" / "challenge_sets" / "one.json").write_text("[]")


def make_editable(root: Path) -> None:
    value = {"url": "file:///x", "dir_info": {"editable": True}}
    (root / INFO / "direct_url.json").write_text(json.dumps(value))


REFUSED = {
    "edited": (edit, "RECORD: toolgate/errors.py was changed after it was installed"),
    "a file more": (add, "RECORD: evalkit/more.py is not in it"),
    "a file less": (remove, "RECORD: evalkit/py.typed is missing"),
    "an edited set": (edit_a_set, "RECORD: evalkit/challenge_sets/one.json was changed"),
    "editable": (make_editable, "editable install"),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_as_installed_is_not_pinned(site: Site, change: Any, reason: str):
    change(site.root)
    refusals = site.build()["refusals"]
    assert len(refusals) == 1
    assert reason in refusals[0]


def test_a_source_path_before_the_installed_package_is_not_pinned(site: Site, tmp_path: Path):
    other = tmp_path / "source"
    shutil.copytree(site.root / "evalkit", other / "evalkit")
    shutil.copytree(site.root / "toolgate", other / "toolgate")
    assert site.build(str(other))["refusals"] == [
        "toolgate was imported from a source path, not from the installed package"
    ]


def test_a_difference_is_named_by_field_and_file():
    one = current(POLICY).body
    two = {
        **one,
        "policy": "sha256:2",
        "distributions": [*one["distributions"], "more==1"],
        "files": {**one["files"], "toolgate/new.py": "x", "toolgate/errors.py": "y"},
    }
    assert changed(one, two) == [
        f"policy: was {POLICY}, is sha256:2",
        "file toolgate/errors.py: changed",
        "file toolgate/new.py: added",
        "distributions: were [], are ['more==1']",
    ]
    assert changed(one, one) == []
