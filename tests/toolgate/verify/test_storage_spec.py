"""The page on storage says what the code does."""

import re
from importlib.resources import files

from toolgate.canonical import raw_digest
from toolgate.ledger import packs
from toolgate.ledger.append import ROTATE_BYTES
from toolgate.ledger.transactions import SCHEMA, lock_key
from toolgate.ledger.twin import COLUMNS

TEXT = (files("toolgate") / "spec" / "storage.md").read_text("utf-8")


def test_columns_of_the_twin():
    assert f"`{', '.join(COLUMNS)}`" in TEXT


def test_fields_of_the_manifest():
    fields = packs.Packed._fields
    assert f"{{{', '.join(fields)}}}" in TEXT
    made = packs.Manifest("2027-01-15", 1, packs.Kept(0, "sha256:" + "0" * 64), None, ())
    names = re.search(r"`\{(v, [^}]*)\}`", TEXT)
    assert names is not None
    assert sorted(names[1].split(", ")) == sorted(re.findall(r'"(\w+)":', _flat(made)))


def _flat(made: packs.Manifest) -> str:
    return re.sub(r"\{[^{}]*\}(?=,)", "0", made.encoded().decode())


def test_files_of_a_segment_and_tables():
    for name in (packs.PACK, packs.TWIN, packs.MANIFEST):
        assert f"| `{name}` |" in TEXT
    for table, columns in re.findall(r"^\| `(\w+)\(([^)]*)\)` \|", TEXT, re.M):
        body = SCHEMA.partition(f"CREATE TABLE IF NOT EXISTS {table} (")[2].partition(";")[0]
        assert re.findall(r"(?:^|,)\s*(\w+) (?:text|bigint|bytea)", body) == columns.split(", ")


def test_sizes_and_lock_keys():
    assert f"{ROTATE_BYTES >> 20} MiB" in TEXT
    assert "`toolgate ledger spine`" in TEXT
    expected = int.from_bytes(raw_digest(b"toolgate ledger spine")[:8], "big", signed=True)
    assert lock_key("spine") == expected
