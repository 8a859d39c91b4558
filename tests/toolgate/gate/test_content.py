"""Secrets in what an agent writes, and what documentation writes in their place."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.gate.effects.content import holds_secret, language_of
from toolgate.gate.effects.inline.exposure import is_secret_variable

LETTERS = string.ascii_letters + string.digits
HEADS = {
    "ghp_": 36,
    "github_pat_": 70,
    "glpat-": 20,
    "xoxb-": 45,
    "sk_live_": 24,
    "sk-ant-": 60,
    "hf_": 34,
    "npm_": 36,
    "AIza": 35,
    "dop_v1_": 64,
    "shpat_": 32,
}


def drawn(head: str, length: int, seed: int) -> str:
    chance = random.Random(seed)
    return head + "7" + "".join(chance.choice(LETTERS) for _ in range(length - 1))


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("around", ["{}", "key = '{}'", '{{"token": "{}"}}', "TOKEN={}\nX=1"])
def test_a_token_is_a_secret(head, around):
    assert holds_secret(around.format(drawn(head, HEADS[head], 3)))


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "ghp_your_token_here_1234567890abcdefghij",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk_live_0000000000000000000000000000",
        "xoxb-000000000000-0000000000000-placeholder0000000000",
        "glpat-XXXXXXXXXXXXXXXXXXXX",
        "npm_config_registry_and_other_long_setting_names",
        "AKIA",
        "ghp_short1",
        "if '-----BEGIN PRIVATE KEY-----' in text: reject()",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUX\n",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n",
    ],
)
def test_a_placeholder_is_none(text):
    assert not holds_secret(text)


@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n"])
def test_a_private_key_is_a_secret(kind, newline):
    assert holds_secret(
        f"-----BEGIN {kind}PRIVATE KEY-----{newline}MIIEvQIBADANBgkqhkiG9w0B{newline}"
    )


@given(st.text("abcdefgh -_.\n", max_size=200))
def test_prose_is_no_secret(text):
    assert not holds_secret(text)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("GITHUB_TOKEN", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("DB_PASSWORD", True),
        ("OPENAI_API_KEY", True),
        ("npm_config_token", True),
        ("PATH", False),
        ("HOME", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("TOKEN_TTL", False),
        ("SECRET_FILE", False),
        ("PASSWORD_MIN_LENGTH", False),
        ("KEYBOARD", False),
        ("COMPATIBILITY", False),
    ],
)
def test_a_variable_holds_a_secret_by_its_name(name, secret):
    assert is_secret_variable(name) is secret


@pytest.mark.parametrize(
    ("text", "path", "program", "language"),
    [
        ("", "x.py", "x.py", "python"),
        ("", "x", "python3.12", "python"),
        ("#!/usr/bin/env node\n", "x", "x", "javascript"),
        ("#!/usr/bin/env -S deno run\n", "x", "x", "javascript"),
        ("#!/bin/sh\n", "awkward", "awkward", "shell"),
        ("#!/bin/bash\n# python\n", "run", "run", "shell"),
        ("", "x.rb", "./x.rb", "ruby"),
        ("", "x.txt", "perl", "perl"),
        ("", "x.ts", "tsx", "javascript"),
        ("", "x.sh", "sh", "shell"),
    ],
)
def test_a_file_has_the_language_of_what_runs_it(text, path, program, language):
    assert language_of(text, path, program) == language
