"""What lies under a ledger file's name and is no file is refused at once, not read for ever."""

import os
from pathlib import Path

import pytest
from approved import THIRD, approved
from ledgers import SPINE, build

from toolgate.canonical import digest
from toolgate.errors import LedgerError
from toolgate.verify import verify


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("special", [pipe, device])
@pytest.mark.parametrize(
    "name", [SPINE, "sessions/alpha.jsonl", "policies", "spine-000000000002.jsonl"]
)
def test_a_pipe_or_a_device_is_no_ledger_file(tmp_path, name, special):
    build(tmp_path)
    if name == "policies":
        name = str(next((tmp_path / "policies").glob("*.json")).relative_to(tmp_path))
    (tmp_path / name).touch()
    special(tmp_path / name)
    with pytest.raises(LedgerError, match=f"{name}: it is no regular file"):
        verify(str(tmp_path))


def test_a_policy_beyond_all_measure_is_another_one(tmp_path):
    approved(tmp_path)
    policy = tmp_path / "policies" / f"{digest(THIRD)[7:]}.json"
    with policy.open("r+b") as file:
        file.truncate(1 << 40)
    codes = {item.code for item in verify(str(tmp_path)).findings}
    assert "entries.policy_altered" in codes
