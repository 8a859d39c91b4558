"""Redaction: known shapes go, ordinary text stays, and it is stable."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.redact import by_kind, redact_text, redact_value

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"


def redact(text: str) -> str:
    return redact_text(text, by_kind)


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
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n", "lQOYBF"),
        ("curl -u bob:hunter2 https://host/", "hunter2"),
        ("curl -ubob:hunter2 https://host/", "hunter2"),
        ("curl -sSu 'bob:two words' host", "two words"),
        ('curl --user "bob:two words" host', "two words"),
        ("curl --proxy-user=bob:hunter2 host", "hunter2"),
        ("mysql -u root -phunter2 shop", "hunter2"),
        ("sshpass -p hunter2 ssh host", "hunter2"),
        ("redis-cli -h host -a hunter2 ping", "hunter2"),
        ("echo machine host login bob password hunter2", "hunter2"),
        ("export PASSWORD='it has two  words'", "has two"),
        ('export PASSWORD="it has \\" two words"', "two words"),
        ("PASSWORD=hun'ter two'\"st ill\" run", "ter two"),
        ("PASSWORD=hun'ter two'\"st ill\" run", "st ill"),
        ("password=ab,cd;x", "cd"),
        ("password='no end", "no end"),
        ('-d "{\\"password\\": \\"hunter2\\"}"', "hunter2"),
        ("curl -b 'x' -H 'Cookie: sid=abc123; other=xyz'", "xyz"),
        ("X-Api-Key: abc123", "abc123"),
        ("DefaultEndpointsProtocol=https;AccountKey=abc123==;", "abc123"),
        ("https://store/blob?sv=1&sig=abc%2Fdef123", "abc%2Fdef123"),
        ("https://hooks.slack.com/services/T0/B0/abcdefgh1234", "abcdefgh1234"),
        ("https://api.telegram.org/bot12345:AAabcdefgh1234/x", "AAabcdefgh1234"),
        ("clientSecret: hunter2", "hunter2"),
        ("run " + "gsk_" + "a1B2" * 10, "a1B2" * 10),
        ("run " + "shpat_" + "a1b2" * 8, "a1b2" * 8),
        ("run " + "hvs." + "a1B2" * 8, "a1B2" * 8),
        ("run " + "dckr_pat_" + "a1B2" * 7, "a1B2" * 7),
        ("run " + "SG." + "a1B2" * 5 + "." + "c3D4" * 8, "c3D4" * 8),
        ("run " + "AGE-SECRET-KEY-1" + "ABCD" * 14, "ABCD" * 14),
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
        "docker run -u 1000:1000 image",
        "git push -u origin main",
        "PWD=/home/dev/app make",
        "export TOKEN=$TOKEN",
        'curl -H "Authorization: Bearer $TOKEN" host',
        'login --password "${DB_PASSWORD}"',
        "PASSWORD=$(pass show db) run",
        "the bearer token is checked",
        "git -u https://host:8080/x",
        "socat -u OPEN:/var/log/syslog CREAT:/tmp/x",
        "find . -name mysql -print",
        "find . -name mysql -prune -o -print",
        "local token=$1",
        "",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_what_surrounds_a_secret_stays() -> None:
    assert redact("run TOKEN=abc && deploy") == "run TOKEN=[redacted:named-value] && deploy"


def test_what_stands_behind_the_quote_that_a_secret_ends_in_stays() -> None:
    said = 'curl -H "X-Api-Key: abc123" -d @body.json "https://host/" --token "abc" && rm -rf x'
    assert redact(said) == (
        'curl -H "X-Api-Key: [redacted:named-value]" -d @body.json "https://host/" '
        "--token [redacted:named-value] && rm -rf x"
    )
    assert redact('{"token":"abc","path":"/x","n":1}') == (
        '{"token":[redacted:named-value],"path":"/x","n":1}'
    )


def test_json_is_redacted_in_every_place() -> None:
    value = {
        "password": "hunter2",
        "list": ["token=abc", {"api_key": "xyz"}],
        "count": 3,
        "none": None,
        "TOKEN=abc": "key",
    }
    assert redact_value(value, by_kind) == {
        "password": "[redacted:named-value]",
        "list": ["token=[redacted:named-value]", {"api_key": "[redacted:named-value]"}],
        "count": 3,
        "none": None,
        "TOKEN=[redacted:named-value]": "key",
    }


HIDDEN = {"a": "hunter2", "b": ["hunter3", {"c": "hunter4"}], "n": 5}


@pytest.mark.parametrize(
    "name",
    ["password", "apiKey", "client_secret", "x-api-key", "AUTHORIZATION", "dbPassword", "cookie"],
)
@pytest.mark.parametrize("value", ["hunter2", ["hunter2"], HIDDEN, [HIDDEN]], ids=str)
def test_values_under_a_secret_name_go_whole(name: str, value: object) -> None:
    made = json.dumps(redact_value({"env": [{name: value, "plain": "stays"}]}, by_kind))
    assert "hunter" not in made
    assert "stays" in made


def test_numbers_go_only_where_the_name_leaves_no_doubt() -> None:
    value = {"password": 12345678, "max_tokens": 1000, "token": True, "passwd": False}
    said = {**value, "password": "[redacted:named-value]"}
    assert redact_value(value, by_kind) == said


WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=8, max_size=40)
AROUND = st.text("ab \n;=:'\"-/$(){}", max_size=60)
SHAPES = (
    "PASSWORD={}",
    "password: '{}'",
    'password = "{}',
    "--api-key {}",
    "https://bob:{}@host/",
    "curl -u bob:{} host",
    "Authorization: Bearer {}",
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
)


@given(WORD, AROUND, AROUND, st.sampled_from(SHAPES))
def test_a_secret_goes_whatever_stands_around_it(
    secret: str, before: str, after: str, shape: str
) -> None:
    said = f"{before}\n{shape.format(secret)}\n{after}"
    if secret not in before + after:
        assert secret not in redact(said)


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


LONG = (
    "a",
    "password",
    "password=",
    'password="',
    "password='a ",
    "-----BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----",
    "://",
    "x:",
    "-u a:",
    "-u ",
    "mysql ",
    "mysql -p",
    "redis-cli ",
    "login a ",
    "cookie: ",
    "eyJ",
    "sk-",
    "\\",
    'token=\\"',
    "a,",
)


@pytest.mark.parametrize("piece", LONG)
def test_time_is_linear(piece: str) -> None:
    text = piece * (150_000 // len(piece))
    began = time.process_time()
    assert redact(text) is not None
    assert time.process_time() - began < 3
