"""Whatever bytes a ledger consists of, a view answers or says in one sentence why it cannot."""

import random
import shutil

import ledgers
import pytest
from click.testing import CliRunner

from toolgate.cli.ledger import ledger

from . import cases

ROUNDS = 40


def commands(root, page):
    return [
        ["tail", str(root), "-n", "all"],
        ["show", "signed-1", "--ledger", str(root)],
        ["show", "release-2", "--ledger", str(root), "--json"],
        ["timeline", cases.SESSION, "--ledger", str(root)],
        ["timeline", cases.SESSION, "--ledger", str(root), "--html", str(page)],
    ]


def damage(root, chance: random.Random) -> None:
    """Change bytes, lines or whole files."""
    files = sorted(path for path in root.rglob("*.json*") if path.is_file())
    for _ in range(chance.randint(1, 4)):
        path = chance.choice(files)
        data = bytearray(path.read_bytes())
        lines = bytes(data).splitlines(keepends=True)
        how = chance.randrange(6)
        if how == 0 and data:
            data[chance.randrange(len(data))] = chance.randrange(256)
        elif how == 1 and lines:
            lines.pop(chance.randrange(len(lines)))
            data = bytearray(b"".join(lines))
        elif how == 2:
            chance.shuffle(lines)
            data = bytearray(b"".join(lines))
        elif how == 3:
            data = data[: chance.randrange(len(data) + 1)]
        elif how == 4:
            data = bytearray(chance.randbytes(chance.randrange(300)))
        else:
            data += chance.choice(lines or [b"\n"]) * 2
        path.write_bytes(data)


def rehash(root, chance: random.Random) -> None:
    """Change what entries say, with every digest made to fit again."""
    kit = ledgers.Kit(root)
    rows = [row for _, row in kit.rows()]
    for row in chance.sample(rows, 3):
        body = row.body
        how = chance.randrange(5)
        if how == 0:
            body["ts"] = body["ev"]["ts"] = chance.choice([-(2**53) + 1, 0, 2**53 - 1])
        elif how == 1:
            body["session"] = chance.choice([None, "", cases.CHILD, "other"])
        elif how == 2:
            body["turn"] = chance.choice([None, 0, 1, 99])
        elif how == 3:
            kit.drop(row)
        elif body["kind"] == "decision":
            body["intent"]["ts"] = chance.choice([-(2**53) + 1, 2**53 - 1])
            body["effects"] = []
    kit.rehash()


@pytest.mark.parametrize("change", [damage, rehash])
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_damaged_ledger(told, tmp_path, seed, change):
    root = tmp_path / "ledger"
    shutil.copytree(told, root)
    change(root, random.Random(seed))
    for arguments in commands(root, tmp_path / "page.html"):
        done = CliRunner().invoke(ledger, arguments)
        if done.exit_code:
            assert done.exit_code in (2, 3), done.exception
            assert done.stdout == ""
            assert done.stderr.startswith("toolgate ledger: ")
            assert (done.exit_code == 3) is (done.stderr.count("\n") == 1)
