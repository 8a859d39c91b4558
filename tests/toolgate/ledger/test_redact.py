"""What the vault's rules take out, and that they take no longer than they should."""

import time

import pytest

from toolgate.ledger.vault.redact import CONTENT_KEYS, redacted

SALT = b"s" * 32
SECRET = "hunter2hunter2"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nYWJj\nZGVm\n-----END OPENSSH PRIVATE KEY-----"


@pytest.mark.parametrize(
    "text",
    [
        f"PGPASSWORD={SECRET} psql",
        f"deploy --api-key {SECRET}",
        f"curl https://bob:{SECRET}@example.com/",
        f"curl -H 'Authorization: Bearer {SECRET}' x",
        f'{{"client_secret": "{SECRET}"}}',
        f"export AWS_SECRET_ACCESS_KEY='{SECRET}'",
    ],
)
def test_secrets_in_text(text):
    (made,) = redacted([text], SALT)
    assert SECRET not in made
    assert "[redacted h:" in made
    assert redacted([made], SALT) == [made]


@pytest.mark.parametrize(
    "token", ["ghp_" + "a1" * 20, "sk-ant-" + "b2" * 20, "AKIA" + "ABCD1234" * 2, KEY]
)
def test_tokens_and_keys(token):
    made = redacted({"command": f"use {token} now"}, SALT)["command"]
    assert made.startswith("use [redacted h:")
    assert token not in made


@pytest.mark.parametrize(
    "key", [*sorted(CONTENT_KEYS), "password", "apiKey", "db_passwd", "auth_key"]
)
def test_values_that_go_whole(key):
    for value in ("text", ["text"], {"a": "text"}):
        made = redacted({"edits": [{key: value, "path": "/x"}]}, SALT)["edits"][0]
        assert made["path"] == "/x"
        assert made[key].startswith("[redacted h:")


@pytest.mark.parametrize(
    "value",
    [
        {"command": "git status && ls -la", "timeout": 5, "max_tokens": 1000},
        {"content": "", "password": None, "token": False},
        {"file_path": "/home/dev/app/token.txt", "pattern": "password"},
    ],
)
def test_what_stays(value):
    assert redacted(value, SALT) == value


def test_the_digest_is_keyed():
    one, two = (redacted({"password": "x"}, salt)["password"] for salt in (SALT, b"t" * 32))
    assert one != two
    assert redacted({"password": "x"}, SALT)["password"] == one


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE KEY-----" * 20_000,
        "password" * 100_000,
        "--a-a-a" * 100_000,
        "://" * 200_000,
        "eyJ" * 200_000,
        "bearer " * 100_000,
        "authorization: " * 50_000,
        "token=" * 100_000,
        "sk-" * 200_000,
    ],
)
def test_time_is_linear(text):
    def seconds(data):
        began = time.process_time()
        redacted([data], SALT)
        return time.process_time() - began

    assert seconds(text) < 3
