"""A segment somebody else made: nothing leads out of the ledger, nothing is without bound."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest
from ledgers import START, build

from toolgate.canonical import digest, profile_bytes
from toolgate.errors import LedgerError
from toolgate.ledger import copy, seal
from toolgate.verify import verify

DAY = 86_400_000_000


@pytest.fixture
def sealed(tmp_path):
    """A ledger whose one segment packs one session."""
    root = tmp_path / "deep" / "ledger"
    root.mkdir(parents=True)
    build(root)
    seal.seal(str(root), ts=START + 30 * DAY, with_twin=False)
    segment = next(path for path in (root / "segments").iterdir() if path.is_dir())
    body = manifest(segment)
    first = body["sessions"][0]
    rewrite(segment, sessions=[first], pack={**body["pack"], "bytes": first["length"]})
    return root, segment


def manifest(segment: Path) -> dict:
    return json.loads((segment / "manifest.json").read_bytes())


def rewrite(segment: Path, **values) -> None:
    body = {**manifest(segment), **values}
    (segment / "manifest.json").write_bytes(profile_bytes(body) + b"\n")


@pytest.mark.parametrize("name", ["../../../out", "/tmp/out", "a\0b", "..", "", "beta", "x" * 300])
def test_a_packed_sessions_name_is_its_sessions(sealed, name):
    root, segment = sealed
    before = {path for path in root.parent.parent.rglob("*") if root not in path.parents}
    rewrite(segment, sessions=[{**manifest(segment)["sessions"][0], "name": name}])
    assert "log.segment" in {item.code for item in verify(str(root)).findings}
    for act in (
        lambda: seal.unpack(str(root)),
        lambda: copy.export(str(root), str(root.parent / "copy")),
    ):
        with pytest.raises(LedgerError, match="not the manifest of that segment"):
            act()
    assert {path for path in root.parent.parent.rglob("*") if root not in path.parents} == before


@pytest.mark.parametrize(
    "name", ["../../out", "policies/..", "policies/../../out", "/out", "spine/../x", "out", ""]
)
def test_a_copy_holds_a_ledgers_files_only(tmp_path, name):
    target = copy.NewFolder(str(tmp_path / "copy"))
    with pytest.raises(LedgerError, match="name of none of its files"):
        target.keep(name, b"x")
    with pytest.raises(LedgerError, match="name of none of its files"):
        target.write(f"session/../{name}", iter((b"x\n",)))
    target.abandon()
    assert list(tmp_path.iterdir()) == []


def test_what_unpacks_to_much_is_copied_piece_by_piece(sealed):
    root, segment = sealed
    size = 60_000_000
    pack = gzip.compress((bytes(99) + b"\n") * (size // 100), 1)
    (segment / "sessions.jsonl.gz").write_bytes(pack)
    first = {**manifest(segment)["sessions"][0], "length": len(pack), "bytes": size}
    rewrite(segment, sessions=[first], pack={"bytes": len(pack), "digest": digest(pack)})
    tracemalloc.start()
    with pytest.raises(LedgerError, match="another digest"):
        copy.export(str(root), str(root.parent / "copy"))
    assert tracemalloc.get_traced_memory()[1] < 40_000_000
    tracemalloc.stop()
    assert not (root.parent / "copy").exists()


def test_a_twin_of_other_types_is_none(sealed):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from toolgate.ledger.twin import COLUMNS

    root, segment = sealed
    path = segment / "entries.parquet"
    column = pyarrow.array([2**30] * 3, pyarrow.date32())
    pyarrow.parquet.write_table(pyarrow.table(dict.fromkeys(COLUMNS, column)), path)
    data = path.read_bytes()
    rewrite(segment, twin={"bytes": len(data), "digest": digest(data)})
    said = [item.message for item in verify(str(root)).findings if item.code == "log.segment"]
    assert any("cannot be read as a twin" in message for message in said)
