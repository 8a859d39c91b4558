"""Freezing: the manifest, what it holds a set to, and what it never does."""

import json
from pathlib import Path

import pytest

from evalkit.challenge.freeze import freeze, load_frozen
from evalkit.challenge.manifest import case_salt
from evalkit.errors import RefusedError
from toolgate.canonical import canonical_bytes, digest

from .sets import body, case, encoded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "one.json"
    made.write_bytes(encoded(body(case(1, pair="p"), case(2, "deny", pair="p"), case(3, "ask"))))
    return made


def manifest_of(path: Path) -> Path:
    return path.with_name("one.manifest.json")


def test_the_manifest_says_what_the_set_is(path: Path):
    frozen, new = freeze(str(path))
    assert new
    data = manifest_of(path).read_bytes()
    manifest = json.loads(data)
    assert data == canonical_bytes(manifest) + b"\n"
    assert manifest["raw_digest"] == digest(path.read_bytes())
    assert manifest["canonical_digest"] == frozen.digest
    assert manifest["counts"] == {
        "cases": 3,
        "pairs": 1,
        "expected": {"allow": 1, "ask": 1, "deny": 1},
        "category": {"first": 3},
    }
    assert manifest["lineage"] == {"supersedes": None}
    assert load_frozen(str(path)).manifest == manifest


def test_one_case_can_be_revealed_without_the_others(path: Path):
    """Leaf and root follow from a case, its salt and the other leaves (RFC 6962, 2.1)."""
    import hashlib

    freeze(str(path))
    manifest = json.loads(manifest_of(path).read_bytes())
    first = json.loads(path.read_bytes())["cases"][0]
    salt = case_salt(manifest["salt"], "c1").hex()
    leaf = hashlib.sha256(b"\0" + canonical_bytes({"case": first, "salt": salt})).digest()
    second, third = (bytes.fromhex(row["leaf"][7:]) for row in manifest["leaves"][1:])
    left = hashlib.sha256(b"\1" + leaf + second).digest()
    root = hashlib.sha256(b"\1" + left + third).hexdigest()
    assert manifest["merkle_root"] == f"sha256:{root}"


def test_freezing_again_changes_nothing(path: Path):
    freeze(str(path))
    before = manifest_of(path).read_bytes()
    _, new = freeze(str(path))
    assert not new
    assert manifest_of(path).read_bytes() == before


def test_two_freezes_differ_in_salt_and_canary(path: Path, tmp_path: Path):
    other = tmp_path / "two.json"
    other.write_bytes(path.read_bytes())
    one, two = freeze(str(path))[0].manifest, freeze(str(other))[0].manifest
    assert one["canonical_digest"] == two["canonical_digest"]
    assert one["salt"] != two["salt"]
    assert one["canary"] != two["canary"]
    assert one["merkle_root"] != two["merkle_root"]


EDITS = {
    "a label": (b'"expected": "ask"', b'"expected": "deny"', "cases changed: c3"),
    "a command": (b"allow 1", b"allow 9", "cases changed: c1"),
    "an id": (b'"id": "c3"', b'"id": "c4"', "cases removed: c3; cases added: c4"),
    "white space": (b'"name": ', b'"name":  ', "raw_digest"),
    "the author": (b'"a test"', b'"b test"', "author"),
}


@pytest.mark.parametrize(("old", "new", "message"), EDITS.values(), ids=EDITS)
def test_an_edited_set_is_refused_everywhere(path: Path, old: bytes, new: bytes, message: str):
    freeze(str(path))
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    before = manifest_of(path).read_bytes()
    for act in (load_frozen, freeze):
        with pytest.raises(RefusedError, match=message):
            act(str(path))
    assert manifest_of(path).read_bytes() == before


def test_cases_in_another_order_are_refused(path: Path):
    freeze(str(path))
    value = json.loads(path.read_bytes())
    value["cases"].reverse()
    path.write_bytes(encoded(value))
    with pytest.raises(RefusedError, match="order of the cases"):
        load_frozen(str(path))


def test_an_unfrozen_set_is_refused_and_says_how(path: Path):
    with pytest.raises(RefusedError, match="evalkit set freeze") as caught:
        load_frozen(str(path))
    assert caught.value.exit_code == 3


MANIFESTS = {
    "empty": b"",
    "not JSON": b"{",
    "another schema": b'{"schema":"x"}\n',
    "a list": b"[]\n",
}


@pytest.mark.parametrize("data", MANIFESTS.values(), ids=MANIFESTS)
def test_a_damaged_manifest_is_refused(path: Path, data: bytes):
    manifest_of(path).write_bytes(data)
    with pytest.raises(RefusedError, match="expected a manifest"):
        load_frozen(str(path))


@pytest.mark.parametrize(
    "change",
    [
        {"salt": "00"},
        {"leaves": [1]},
        {"more": 1},
        {"raw_digest": "x"},
        {"lineage": {}},
        {"frozen_at": "yesterday"},
        {"frozen_at": "2026-02-30"},
        {"frozen_at": "20260131"},
        {"canary": "canary-0"},
        {"canary": "716C7D5C-1E17-4955-8846-A75D42225C17"},
        {"canary": "716c7d5c-1e17-1955-8846-a75d42225c17"},
    ],
)
def test_a_manifest_outside_its_schema_is_refused(path: Path, change: dict[str, object]):
    freeze(str(path))
    manifest = {**json.loads(manifest_of(path).read_bytes()), **change}
    manifest_of(path).write_bytes(canonical_bytes(manifest) + b"\n")
    with pytest.raises(RefusedError, match="expected a manifest of"):
        load_frozen(str(path))


def test_the_digest_of_a_manifest_changes_with_what_nothing_recomputes(path: Path):
    before = freeze(str(path))[0].manifest_digest
    manifest = json.loads(manifest_of(path).read_bytes())
    assert before == digest(canonical_bytes(manifest))
    manifest_of(path).write_bytes(canonical_bytes({**manifest, "frozen_at": "2020-01-01"}) + b"\n")
    assert load_frozen(str(path)).manifest_digest != before


def test_a_manifest_in_other_bytes_is_refused(path: Path):
    freeze(str(path))
    manifest = json.loads(manifest_of(path).read_bytes())
    manifest_of(path).write_text(json.dumps(manifest, indent=1))
    with pytest.raises(RefusedError, match="canonical JSON"):
        load_frozen(str(path))


def test_the_shipped_sets_are_what_their_manifests_say():
    root = Path(__file__).parents[3] / "challenge_sets"
    for path in sorted(root.glob("challenge-set-?.json")):
        assert load_frozen(str(path)).label == path.stem
