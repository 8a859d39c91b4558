"""The journal: what a killed run leaves behind, and how it is read."""

from pathlib import Path

import pytest

from evalkit.challenge.journal import NAME, Journal, read_journal
from evalkit.errors import StorageError

from .test_score import result

ONE = result("1", "allow", "allow", effects=("fs.read",))
TWO = result("2", "deny", "unscored")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(str(tmp_path))
    made.started("1", 1, 10)
    made.started("2", 1, 11)
    made.finished([ONE], 12)
    return made


def test_a_started_case_without_an_end_is_in_doubt(journal: Journal, tmp_path: Path):
    journal.close()
    progress = read_journal(str(tmp_path))
    assert progress.finished == {"1": ONE}
    assert progress.in_doubt() == ["2"]
    assert progress.fragment == 0


def test_a_retried_case_counts_once(journal: Journal, tmp_path: Path):
    journal.started("2", 2, 20)
    journal.finished([TWO], 21)
    journal.close()
    progress = read_journal(str(tmp_path))
    assert progress.finished == {"1": ONE, "2": TWO}
    assert progress.attempts == {"1": 1, "2": 2}
    assert progress.in_doubt() == []


def test_no_journal_is_no_progress(tmp_path: Path):
    assert read_journal(str(tmp_path)) == ({}, {}, 0)


def test_a_run_cut_anywhere_is_read_and_continued(journal: Journal, tmp_path: Path):
    journal.close()
    path = tmp_path / NAME
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        before = read_journal(str(tmp_path))
        # A line counts from its last brace on; its line feed may be missing.
        assert len(before.finished) == (cut >= len(whole) - 1)
        again = Journal(str(tmp_path))
        if before.fragment:
            again.recovered(before.fragment, 30)
        again.finished([TWO], 31)
        again.close()
        after = read_journal(str(tmp_path))
        assert after.finished["2"] == TWO
        assert after.finished.keys() == before.finished.keys() | {"2"}


def test_damage_inside_is_no_crash(journal: Journal, tmp_path: Path):
    journal.close()
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes().replace(b'"finished"', b'"fini\xffhed"'))
    with pytest.raises(StorageError, match="damaged") as caught:
        read_journal(str(tmp_path))
    assert caught.value.exit_code == 5


def test_two_different_ends_are_refused(journal: Journal, tmp_path: Path):
    journal.finished([ONE._replace(decided="deny")], 13)
    journal.close()
    with pytest.raises(StorageError, match="finished twice"):
        read_journal(str(tmp_path))


def test_a_row_of_another_shape_is_refused(journal: Journal, tmp_path: Path):
    journal.close()
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"row":"finished","case":"3"}\n')
    with pytest.raises(StorageError, match="expected a finished row"):
        read_journal(str(tmp_path))
