"""Redaction: known shapes go, ordinary text stays, and it is stable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.labels.redact import redact, redact_value

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"
# Put together here, so that no scanner takes this file for a leak.
GITHUB, AWS, SLACK = "ghp_" + "a1B2" * 9, "AKIA" + "ABCD" * 4, "xoxb-" + "12345-" * 4 + "abc"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export DB_PASSWORD=hunter2", "hunter2"),
        ("password: 'two words'", "two words"),
        ('{"api_key": "abc123"}', "abc123"),
        ("API-KEY=abc123 run", "abc123"),
        ("client_secret=s3 cr", "s3"),
        ("mysql --password hunter2 -e x", "hunter2"),
        ("tool --github-token abcdef", "abcdef"),
        ("AWS_SECRET_ACCESS_KEY=abc/def+1", "abc/def+1"),
        ("Server=x;Pwd=hunter2;", "hunter2"),
        ("git clone https://bob:hunter2@host/x.git", "hunter2"),
        ("postgres://u:p%40ss@db:5432/x", "p%40ss"),
        (f"echo {GITHUB}", GITHUB),
        (f"key {AWS} here", AWS),
        (f"say {SLACK}", SLACK),
        ("x " + "sk-" + "abcdEFGH1234" * 2, "abcdEFGH1234"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJzdWIi"),
        ("-H 'Authorization: Bearer abc.def-123'", "abc.def-123"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        (f"cat > k <<E\n{KEY}\nE", "MIIEow"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\ncut off here", "cut off"),
    ],
)
def test_a_secret_goes(text: str, secret: str) -> None:
    found = redact(text)
    assert secret not in found
    assert "[redacted:" in found


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m 'add password reset page'",
        "cd $(pwd) && ls PWD",
        "tokenizer = AutoTokenizer()",
        "max_tokens: 500",
        "grep -rn secret src/",
        "echo basic functionality works",
        "curl https://host/path?x=1",
        "npm install --save-dev token-types",
        "ssh-keygen -t ed25519",
        "mailto me@example.org",
        "sort --key 2 file",
        "",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_what_surrounds_a_secret_stays() -> None:
    assert redact("run TOKEN=abc && deploy") == "run TOKEN=[redacted:named-value] && deploy"


def test_json_is_redacted_in_every_place() -> None:
    value = {
        "password": "hunter2",
        "list": ["token=abc", {"api_key": "xyz"}],
        "count": 3,
        "none": None,
        "TOKEN=abc": "key",
    }
    assert redact_value(value) == {
        "password": "[redacted:named-value]",
        "list": ["token=[redacted:named-value]", {"api_key": "[redacted:named-value]"}],
        "count": 3,
        "none": None,
        "TOKEN=[redacted:named-value]": "key",
    }


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_long_text_is_one_pass() -> None:
    """Would not end in a lifetime if a shape backtracked without bound."""
    for text in ("a" * 200_000, "password" * 20_000, "-----BEGIN " * 10_000, "://" + "x" * 200_000):
        assert redact(text) is not None
