"""Programs with an argument language of their own: decisions, and laws that hold for each."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.decision import STRICTNESS
from toolgate.gate.effects.hosts import host_of, is_local
from toolgate.gate.engine import GATE_FAULT

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "gate" / "programs.json"
ROWS = json.loads(VECTORS.read_text())["rows"]

TARGETS = ["~", "/", "/etc", "~/.ssh", "src", "build", "."]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["command"][:60])
def test_decision(decide, row):
    decision = decide(row["command"])
    assert decision.state == row["decision"], decision.sentence
    if "rule" in row:
        assert decision.rule == row["rule"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "spelled",
    [
        "tar xzf a.tgz -C {}",
        "tar -C {} -xzf a.tgz",
        "tar xzfC a.tgz {}",
        "tar --extract --file=a.tgz --directory={}",
        "tar --extr --direct={} -f a.tgz",
    ],
)
def test_an_archive_is_unpacked_alike_however_tar_is_told_to(decide, target, spelled):
    if "=" in spelled and target.startswith("~"):
        target = "/home/dev" + target[1:]  # the shell expands ~ only at the start of a word
    expected = decide(f"tar -x -z -f a.tgz -C {target}".replace("=~", "=/home/dev"))
    assert decide(spelled.format(target)).state == expected.state


@pytest.mark.parametrize("target", ["~", "src", "build", "/etc"])
@pytest.mark.parametrize("after", ["", " -print", " -type f", " -name '*.o'", " -o -name '*.o'"])
def test_what_follows_an_action_of_find_never_lowers_its_decision(decide, target, after):
    plain = decide(f"find {target} -delete")
    assert STRICTNESS[decide(f"find {target} -delete{after}").state] >= STRICTNESS[plain.state]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python3 -c", "open('/etc/x','w')"),
        ("node -e", "require('fs').writeFileSync('/etc/x','a')"),
        ("perl -e", "open(F,'>','/etc/x')"),
        ("ruby -e", "File.write('/etc/x','a')"),
        ("php -r", "file_put_contents('/etc/x','a');"),
    ],
)
@pytest.mark.parametrize("where", ["/etc/x", "/home/dev/.bashrc", "/usr/bin/x", "src/x", "/tmp/x"])
def test_inline_code_writes_like_a_redirection(decide, language, code, where):
    written = decide(f"echo a > {where}")
    assert decide(f'{language} "{code.replace("/etc/x", where)}"').state == written.state


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ewrsy/\\;!{}[]()$123,~+I \n'\"ab|>%#`", max_size=60))
@pytest.mark.parametrize(
    "program", ["sed", "awk", "perl -e", "ruby -e", "node -e", "php -r", "python3 -c", "psql -c"]
)
def test_any_code_gets_a_decision(decide, program, text):
    quoted = "'" + text.replace("'", "'\\''") + "'"
    assert decide(f"{program} {quoted}").rule != GATE_FAULT


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_only_an_address_is_this_machine(parts):
    address = "127." + ".".join(map(str, parts))
    assert is_local(address)
    assert not is_local(address + ".example.org")
    assert not is_local(address.replace("127.", "127.x"))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:80@evil.example/", "evil.example"),
        ("http://evil.example#@127.0.0.1/", "evil.example"),
        ("http://evil.example?@127.0.0.1/", "evil.example"),
        ("evil.example/x://127.0.0.1/", "evil.example"),
        ("http://localhost\\@evil.example/", "\x00"),
        ("http://{localhost,evil.example}/", "\x00"),
        ("HTTP://LOCALHOST.:8080/", "localhost"),
        ("http://[::1]:80/", "::1"),
    ],
)
def test_the_host_of_a_url(url, host):
    assert host_of(url) == host
