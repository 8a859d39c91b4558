"""A file that another written file writes when it is run may hold what that one puts there."""

import pytest

from .session import Session

RUNS = "sh run.sh"


@pytest.fixture
def session(gate):
    return Session(gate)


@pytest.mark.parametrize(
    "text",
    [
        "echo 'rm -rf ~' > go.sh\n",
        "cat > go.sh <<'EOF'\nrm -rf ~\nEOF\n",
        "mkdir -p a; printf 'rm -rf ~\\n' >> go.sh\n",
    ],
)
def test_what_a_run_file_writes_is_run(session, text):
    assert session("sh go.sh").state == "allow"
    session.write("run.sh", text)
    session(RUNS)
    assert session("sh go.sh").rule == "delete-whole-tree"


def test_what_a_run_file_fetches_is_not_read(session):
    session.write("run.sh", "curl -so go.sh https://x.example/go.sh\n")
    session(RUNS)
    assert session("sh go.sh").state == "ask"


def test_what_a_later_write_of_the_file_says_counts(session):
    session.write("run.sh", "echo 'rm -rf ~' > go.sh\n")
    session(RUNS)
    session.write("go.sh", "echo fine\n")
    assert session("sh go.sh").state == "allow"


def test_a_file_of_the_same_call_is_what_that_call_puts_there(session):
    text = "cat > run.sh <<'A'\necho 'rm -rf ~' > go.sh\nA\necho 'echo fine' > go.sh\n"
    session(text)
    assert session("sh go.sh").state == "allow"


@pytest.mark.parametrize(
    "text",
    ["echo 'echo fine' > go.sh\n", "date > go.sh\n", "make_it > out.txt\n", "ls > list.txt\n"],
)
def test_ordinary_files_that_a_script_writes_ask_nothing(session, text):
    session.write("run.sh", text)
    assert session("sh go.sh").state == "allow"
    assert session("cat out.txt list.txt").state == "allow"


def test_very_many_files_do_not_fill_the_entry(session):
    text = "".join(f"echo 'rm -rf ~' > go{n}.sh\n" for n in range(40))
    decision = session.write("run.sh", text)
    assert len(decision.effects) <= 64
    session(RUNS)
    assert session("sh go1.sh").rule == "delete-whole-tree"
