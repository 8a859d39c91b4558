"""What echo and printf print, where their words say so: text that may be piped on and run."""

import shutil
import subprocess

import pytest

from toolgate.gate.effects.flow import printed
from toolgate.gate.effects.hosts import is_metadata
from toolgate.gate.shell.parse import read

FOLLOWED = [
    r"printf '%b' 'rm -rf x'",
    r"printf '%b\n' '\0162m \057' 'b'",
    r"printf '%b' 'rm\c -rf x' more",
    r"printf '%s %s\n' a b c",
    r"printf '%s' rm ' -rf x'",
    r"printf '' a b",
    r"printf '100%% %d\n' 5",
    r"printf '%c%c' rx my",
    r"printf '\162m x\n'",
    r"printf 'plain' unused",
    r"echo -e 'a\tb'",
]
NOT_FOLLOWED = [
    r"printf '%5s' x",
    r"printf '%q' x",
    r"""printf '%b' 'a\"b'""",
    r"printf '%d' 010",
    r"printf '%b' '\0000'",
]


def _printed(text: str) -> str | None:
    (command,) = read(text, cwd="/home/dev/app", home="/home/dev").commands
    return printed(command)


@pytest.mark.parametrize("text", FOLLOWED)
def test_it_is_what_bash_prints(text):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    run = subprocess.run([bash, "-c", text], capture_output=True, check=True, text=True)
    assert _printed(text) == run.stdout


@pytest.mark.parametrize("text", NOT_FOLLOWED)
def test_what_is_not_followed_is_not_known(text):
    assert _printed(text) is None


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "0251.0376.0251.0376",
        "::ffff:169.254.169.254",
    ],
)
def test_an_address_of_credentials_is_known_however_it_is_spelled(host):
    assert is_metadata(host)


@pytest.mark.parametrize(
    "host", ["169.254.169.253", "1.2.3.4.5", "256.1", "0x", "09.1", "example.com"]
)
def test_other_hosts_are_none(host):
    assert not is_metadata(host)
