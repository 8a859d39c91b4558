"""Timestamps: a request a real authority answers, and answers that are checked."""

import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.errors import InputError, UnavailableError
from toolgate.ledger import timestamp

DATA = b"what was there"
CONFIG = """
[tsa]
default_tsa = it
[it]
serial = {root}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ordering = yes
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = sha256
[req]
distinguished_name = name
[name]
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


def openssl(*arguments, cwd):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=cwd)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A timestamp authority of its own, made with the openssl command."""
    pytest.importorskip("rfc3161_client", reason="rfc3161-client is not installed")
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is not installed")
    root = tmp_path_factory.mktemp("authority")
    (root / "conf").write_text(CONFIG.format(root=root))
    (root / "serial").write_text("01\n")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "conf")
    openssl(
        *("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem"),
        *("-subj", "/CN=Root", "-extensions", "root", "-days", "30"),
        cwd=root,
    )
    openssl("req", *key, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=TSA", cwd=root)
    openssl(
        *("x509", "-req", "-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-out", "tsa.pem"),
        *("-set_serial", "2", "-extfile", "conf", "-extensions", "leaf", "-days", "30"),
        cwd=root,
    )
    return root


def answer(authority, request: bytes) -> bytes:
    (authority / "request").write_bytes(request)
    openssl(
        *("ts", "-reply", "-queryfile", "request", "-signer", "tsa.pem", "-inkey", "tsa.key"),
        *("-config", "conf", "-section", "it", "-out", "answer"),
        cwd=authority,
    )
    return (authority / "answer").read_bytes()


@pytest.fixture(scope="module")
def answered(authority):
    return answer(authority, timestamp.request(DATA)), (authority / "ca.pem").read_bytes()


def test_an_authority_answers_and_the_answer_verifies(answered):
    response, root = answered
    assert timestamp.verify(response, DATA, root).year >= 2026
    assert timestamp.verify(response, DATA, _der(root)) == timestamp.verify(response, DATA, root)


def _der(pem: bytes) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def test_other_bytes_do_not_verify(answered):
    response, root = answered
    with pytest.raises(InputError, match="does not verify"):
        timestamp.verify(response, DATA + b"x", root)


def test_another_root_does_not_verify(answered, authority):
    response, _ = answered
    openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
        *("-config", "conf", "-keyout", "x.key", "-out", "x.pem", "-subj", "/CN=Root"),
        *("-extensions", "root", "-days", "30"),
        cwd=authority,
    )
    with pytest.raises(InputError, match="does not verify"):
        timestamp.verify(response, DATA, (authority / "x.pem").read_bytes())


def test_a_root_that_is_none(answered):
    for root in (b"", b"x", b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"):
        with pytest.raises(InputError, match=r"no X\.509 certificate"):
            timestamp.verify(answered[0], DATA, root)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_bytes_verify_or_are_refused(answered, data):
    response, root = answered
    base = bytearray(response)
    place = data.draw(st.integers(0, len(base) - 1))
    base[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        timestamp.verify(bytes(base), DATA, root)
    except InputError as error:
        assert "\n" not in str(error)


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    with pytest.raises(UnavailableError, match=r"install toolgate-evalkit\[timestamp\]"):
        timestamp.request(DATA)
    with pytest.raises(UnavailableError, match="rfc3161-client"):
        timestamp.verify(b"", DATA, b"")
