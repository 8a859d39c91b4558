"""What a set says of its labels: in the manifest, in the report, and held to both."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.challenge.freeze import freeze, load_frozen
from evalkit.challenge.provenance import SEEN, Provenance
from evalkit.challenge.read import parse_set
from evalkit.errors import RefusedError, SetError
from evalkit.report.render import markdown

from .place import Place, many
from .sets import body, encoded

STATED = {
    "labelers": ["ann; had read the policy only", "bo"],
    "labeled": "2026-01-30",
    "seen": SEEN[0],
    "evidence": ["incident reports of 2025"],
}


def test_what_is_stated_is_in_manifest_and_report(tmp_path: Path):
    place = Place(tmp_path, {**many(), **STATED})
    frozen = load_frozen(str(place.path))
    assert frozen.manifest["provenance"] == STATED
    assert frozen.set.provenance == Provenance(
        tuple(STATED["labelers"]), "2026-01-30", SEEN[0], tuple(STATED["evidence"])
    )
    page = markdown(place.run().context)
    assert "| labeled by | ann; had read the policy only; bo, 2026-01-30 |" in page
    assert "| had seen of any answers | nothing run |" in page
    assert "| written from | incident reports of 2025 |" in page


def test_a_set_that_states_nothing_has_the_manifest_it_always_had(tmp_path: Path):
    place = Place(tmp_path, many())
    assert "provenance" not in load_frozen(str(place.path)).manifest
    assert "| had seen of any answers | the set does not say |" in markdown(place.run().context)


@pytest.mark.parametrize("edit", [{"seen": SEEN[3]}, None])
def test_a_manifest_that_says_otherwise_is_refused(tmp_path: Path, edit: dict[str, Any] | None):
    path = tmp_path / "one.json"
    path.write_bytes(encoded(body(seen=SEEN[0])))
    freeze(str(path))
    place = tmp_path / "one.manifest.json"
    manifest = json.loads(place.read_bytes())
    if edit is None:
        del manifest["provenance"]
    else:
        manifest["provenance"] = edit
    from toolgate.canonical import canonical_bytes

    place.write_bytes(canonical_bytes(manifest) + b"\n")
    with pytest.raises(RefusedError, match="provenance: differs from what was frozen"):
        load_frozen(str(path))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seen": "all of it"}, "seen: expected one of nothing run, no results seen"),
        ({"labeled": "last week"}, "labeled: expected a date as YYYY-MM-DD"),
        ({"labelers": 3}, "labelers: expected a list of texts"),
        ({"evidence": [1]}, "evidence: expected a list of texts"),
    ],
)
def test_other_values_are_faults(more: dict[str, Any], message: str):
    with pytest.raises(SetError, match=message):
        parse_set(encoded(body(**more)), "s.json")
