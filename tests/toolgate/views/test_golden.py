"""The views' texts, word for word, for ledgers made by the real writer.

Regenerate with ``python -m tests.toolgate.views.golden_views`` (tests/faults on the path), then
read the difference.
"""

import pytest

from .golden_views import GOLDEN, NARROW, WIDE, all_texts

NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return all_texts(tmp_path_factory.mktemp("golden"))


def test_every_text_has_its_golden_file(made):
    assert sorted(made) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_text(made, name):
    assert made[name] == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in NAMES if "tail" not in name])
def test_no_line_is_wider_than_the_terminal(made, name):
    """Commands and digests stay whole, so that they can be copied."""
    width = NARROW if name.endswith("narrow") else WIDE
    kept = ("toolgate ledger verify", "sha256:", "ed25519:")
    for line in made[name].splitlines():
        assert len(line) <= width or any(word in line for word in kept), line
