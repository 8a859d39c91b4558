"""The ledger commands that make and check what is kept outside of a ledger."""

import json
import os
import stat
import subprocess
import sys

import ledgers
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolgate.cli.ledger import ledger

COMMANDS = ["checkpoint", "rotate-key", "cosign", "prove", "check-proof", "check-timestamp"]


@pytest.fixture
def root(tmp_path):
    writer = ledgers.Writer(tmp_path / "ledger", "s")
    writer.decide("a", "denied")
    writer.close()
    return tmp_path / "ledger"


def run(*arguments, **environ):
    return CliRunner().invoke(ledger, [str(one) for one in arguments], env=environ)


@pytest.fixture
def made(root, tmp_path):
    """Return the ledger, a checkpoint of it, its key and its private key's file."""
    key, out = tmp_path / "keys" / "log.pem", tmp_path / "kept"
    done = run("checkpoint", root, "--key", key, "--create-key", "--origin", "o", "--out", out)
    assert done.exit_code == 0, done.output
    return root, out, done.stdout.strip(), key


def test_checkpoint_pins_and_passes(made):
    root, kept, key, _ = made
    pins = ("--checkpoint", kept, "--checkpoint-key", key)
    done = run("verify", root, *pins, "--require-pin")
    assert done.exit_code == 0, done.output
    assert "the ledger holds checkpoint kept of o over 1 session" in done.stdout
    assert "signatures" not in done.stdout
    done = run("verify", root, "--checkpoint", kept)
    assert "only against the ledger's own" in done.stdout
    writer = ledgers.Writer(root, "t")
    writer.decide("b", "denied")
    writer.close()
    assert run("verify", root, *pins, "--require-pin").exit_code == 1
    assert run("verify", root, *pins).exit_code == 0
    os.truncate(root / ledgers.SPINE, 2000)
    done = run("verify", root, *pins)
    assert done.exit_code == 1
    assert "log.equivocation" in done.stdout
    assert "it lost its tail" in done.stdout


def test_checkpoint_on_standard_output_and_as_json(made):
    root, kept, key, file = made
    done = run("checkpoint", root, "--key", file)
    assert done.stdout.startswith("o\n1\n")
    assert done.stderr == f"key  {key}\n"
    body = json.loads(run("checkpoint", root, "--key", file, "--json").stdout)
    assert (body["origin"], body["size"], body["key"]) == ("o", 1, key)
    assert body["spine"]["seq"] == 8
    assert body["checkpoint"].startswith("o\n1\n")
    assert kept.read_text().startswith("o\n1\n")


def test_people_are_told_what_to_keep_and_how_to_check(made, tmp_path):
    root, _, key, file = made
    kept = tmp_path / "again"
    done = run("checkpoint", root, "--key", file, "--out", kept)
    assert done.stdout == f"{key}\n"
    assert done.stderr == (
        f"{kept} covers entries 1 to 7 of the spine and 1 ended session. Keep it elsewhere, with "
        "this key:\n"
    )
    proof, entry = tmp_path / "the proof", ledgers.Kit(root).spine[1].old
    done = run("prove", entry, root, "--out", proof)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == (
        "to check it, with the key that `checkpoint --out` prints: toolgate ledger check-proof "
        f"'{proof}' --key KEY\n"
    )
    assert run("check-proof", proof, "--key", key).exit_code == 0
    assert run("prove", entry, root).stderr == ""


def test_the_key_lies_among_the_users_keys(root, tmp_path):
    done = run("checkpoint", root, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert done.exit_code == 3
    assert "cannot read the key" in done.stderr
    done = run("checkpoint", root, "--create-key", XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert done.exit_code == 0
    file = tmp_path / "config" / "toolgate" / "keys" / "checkpoint.pem"
    assert file.stat().st_mode & 0o777 == 0o600
    assert done.stdout.startswith("toolgate.invalid/")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--key", "{root}/k.pem", "--create-key"], 3, "lies in the ledger"),
        (["--key", "{root}"], 3, "lies in the ledger"),
        (["--key", "{tmp}/junk"], 2, "no unencrypted Ed25519"),
        (["--key", "{tmp}/open"], 3, "others can read"),
        (["--key", "{tmp}/k.pem", "--create-key", "--origin", "a b"], 2, "origin is 'a b'"),
        (["--key", "{tmp}/k.pem", "--create-key", "--out", "{tmp}/none/x"], 3, "cannot create"),
    ],
)
def test_checkpoint_says_what_is_wrong(root, tmp_path, options, code, said):
    (tmp_path / "junk").write_bytes(b"junk")
    (tmp_path / "junk").chmod(0o600)
    (tmp_path / "open").write_bytes(b"junk")
    (tmp_path / "open").chmod(0o644)
    done = run("checkpoint", root, *[one.format(root=root, tmp=tmp_path) for one in options])
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["checkpoint"], ["rotate-key", "--new", "n"], ["prove"]])
def test_no_ledger_is_founded(tmp_path, command):
    (tmp_path / "empty").mkdir()
    extra = ["a" * 64, tmp_path / "empty"] if command == ["prove"] else [tmp_path / "empty"]
    done = run(*command, *extra)
    assert done.exit_code == 3
    assert "no ledger here" in done.stderr
    assert list((tmp_path / "empty").iterdir()) == []


def test_rotate_key(made, tmp_path):
    root, kept, key, file = made
    new = tmp_path / "new.pem"
    done = run("rotate-key", root, "--key", file, "--new", new, "--create-key")
    assert done.exit_code == 0, done.output
    assert "is retired" in done.stdout
    assert run("checkpoint", root, "--key", file).exit_code == 3
    out = tmp_path / "second"
    assert run("checkpoint", root, "--key", new, "--out", out).exit_code == 0
    pins = ("--checkpoint", kept, "--checkpoint", out, "--checkpoint-key", key)
    assert run("verify", root, *pins, "--require-pin").exit_code == 0


def test_prove_and_check(made, tmp_path):
    root, kept, key, _ = made
    kit = ledgers.Kit(root)
    entry, proof = kit.decision("a").old, tmp_path / "proof"
    assert run("prove", entry, root, "--out", proof).exit_code == 0
    assert run("prove", entry[7:19], root, "--checkpoint", kept).stdout == proof.read_text()
    done = run("check-proof", proof, "--key", key, "--checkpoint", kept)
    assert done.exit_code == 0
    assert "Verdict  PROVED" in done.stdout
    assert "Not proved" in done.stdout
    body = json.loads(run("check-proof", proof, "--key", key, "--json").stdout)
    assert (body["verdict"], body["entry"], body["size"]) == ("PROVED", entry, 1)
    proof.write_text(proof.read_text().replace("denied", "allowed", 1))
    done = run("check-proof", proof, "--key", key)
    assert done.exit_code == 1
    assert "Verdict  NOT PROVED" in done.stdout
    done = run("check-proof", proof, "--key", key, "--json")
    assert (done.exit_code, json.loads(done.stdout)["verdict"]) == (1, "NOT PROVED")
    assert run("prove", "--from", "1", root, "--out", proof).exit_code == 0
    assert (
        "continues the log with 1 ended session" in run("check-proof", proof, "--key", key).stdout
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["prove"], 2),
        (["prove", "a", "b", "c"], 2),
        (["prove", "--from", "1", "a", "b"], 2),
        (["prove", "--from", "0"], 2),
        (["prove", "xyz", "{root}"], 2),
        (["prove", "0" * 64, "{root}"], 3),
        (["prove", "--from", "9", "{root}"], 3),
        (["prove", "0" * 64, "{root}", "--checkpoint", "{root}/none"], 3),
        (["check-proof", "{kept}"], 2),
        (["check-proof", "{kept}", "--key", "x"], 2),
        (["check-proof", "{kept}", "--key", "{key}"], 1),
        (["check-proof", "{root}", "--key", "{key}"], 3),
        (["check-proof", "{kept}", "--key", "{key}", "--checkpoint", "{pem}"], 3),
        (["verify", "{root}", "--checkpoint", "{pem}"], 3),
        (["verify", "{root}", "--checkpoint", "{root}/none"], 3),
        (["verify", "{root}", "--checkpoint-key", "x+y+z"], 2),
        (["verify", "{root}", "--witness", "{key}"], 2),
        (["verify", "{root}", "--checkpoint", "{kept}", "--witness", "{key}"], 2),
        (["cosign", "{kept}", "--key", "{pem}", "--name", "w", "--state", "{state}"], 1),
        (["cosign", "{pem}", "--key", "{pem}", "--name", "w", "--state", "{state}"], 3),
        (["cosign", "{kept}", "--key", "{kept}", "--name", "w", "--state", "{state}"], 2),
        (["cosign", "{kept}", "--key", "{pem}", "--name", "w w", "--state", "{state}"], 2),
    ],
)
def test_exit_codes(made, tmp_path, command, code):
    root, kept, key, pem = made
    words = {"root": root, "kept": kept, "key": key, "pem": pem, "state": tmp_path / "state"}
    done = run(*[one.format(**words) for one in command])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    assert done.stderr or code == 1


def test_cosign_and_require_the_witness(made, tmp_path):
    root, kept, key, file = made
    options = ("--key", tmp_path / "w.pem", "--create-key", "--name", "w", "--state")
    seen = tmp_path / "seen"
    done = run("cosign", kept, *options, tmp_path / "state", "--log-key", key, "--out", seen)
    assert done.exit_code == 0, done.output
    witness = done.stderr.removeprefix("key  ").strip()
    pins = ("--checkpoint", seen, "--checkpoint-key", key, "--witness", witness)
    assert run("verify", root, *pins, "--require-pin").exit_code == 0
    done = run("verify", root, "--checkpoint", kept, "--witness", witness)
    assert done.exit_code == 1
    assert "carries no cosignature of w+" in done.stdout
    # It grows, and is signed again with a proof only.
    writer = ledgers.Writer(root, "t")
    writer.decide("b", "denied")
    writer.close()
    assert run("checkpoint", root, "--key", file, "--out", kept).exit_code == 0
    done = run("cosign", kept, *options, tmp_path / "state")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "not signed: the log has grown from 1 to 2" in done.stderr
    assert run("prove", "--from", "1", root, "--out", tmp_path / "growth").exit_code == 0
    growth = ("--proof", tmp_path / "growth")
    done = run("cosign", kept, *options, tmp_path / "state", *growth)
    assert done.exit_code == 0
    assert done.stdout.count("\u2014 w ") == 1


def test_timestamp(made, tmp_path):
    pytest.importorskip("rfc3161_client", reason="rfc3161-client is not installed")
    root, kept, _, file = made
    request = tmp_path / "request"
    done = run("checkpoint", root, "--key", file, "--out", kept, "--timestamp-request", request)
    assert done.exit_code == 0
    assert request.read_bytes().startswith(b"\x30")
    request.write_bytes(b"junk")
    done = run("check-timestamp", request, "--checkpoint", kept, "--root", kept)
    assert done.exit_code == 1
    assert "no X.509 certificate" in done.stderr


def test_timestamp_without_the_extra_changes_nothing(made, tmp_path, monkeypatch):
    root, _, _, file = made
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    before = (root / ledgers.SPINE).read_bytes()
    done = run("checkpoint", root, "--key", file, "--timestamp-request", tmp_path / "request")
    assert done.exit_code == 3
    assert "toolgate-evalkit[timestamp]" in done.stderr
    assert (root / ledgers.SPINE).read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_light_and_says_the_exit_codes(command):
    assert "Exit codes: 0 " in run(command, "--help").output
    code = (
        "import sys\n"
        f"sys.path[:] = {[path for path in sys.path if path]!r}\n"
        "from toolgate.cli.ledger import ledger\n"
        "try:\n"
        f"    ledger({[command, '--help']!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'msgspec', 'rich', 'orjson', 'cryptography', 'hashlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=300) | st.text(max_size=80).map(str.encode), st.data())
def test_any_bytes_as_any_file_end_in_one_sentence(made, tmp_path, junk, data):
    root, kept, key, _ = made
    if data.draw(st.booleans()):
        base = bytearray(kept.read_bytes())
        base[data.draw(st.integers(0, len(base) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        junk = bytes(base)
    file = tmp_path / "junk"
    file.write_bytes(junk)
    file.chmod(0o600)
    state = ("--state", tmp_path / "s", "--name", "w")
    for command, codes in [
        (("verify", root, "--checkpoint", file, "--checkpoint-key", key), (0, 1, 3)),
        (("check-proof", file, "--key", key), (1,)),
        (("check-proof", file, "--key", key, "--checkpoint", file), (1, 3)),
        (("cosign", file, "--key", file, *state), (2, 3)),
        (("checkpoint", root, "--key", file), (2,)),
        (("rotate-key", root, "--key", file, "--new", file), (2,)),
        (("prove", "--from", "1", root, "--checkpoint", file), (3,)),
        (("check-timestamp", file, "--checkpoint", kept, "--root", file), (1,)),
    ]:
        done = run(*command)
        assert done.exit_code in codes, (command, done.output)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert "Traceback" not in done.output


def test_a_pipe_is_written_to_and_stays_one(root, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = run("checkpoint", root, "--key", tmp_path / "k.pem", "--create-key", "--out", pipe)
    assert done.exit_code == 0, done.output
    assert os.read(reader, 4096).count(b"\n") > 3
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
