"""Timestamps over checkpoints (RFC 3161): somebody else says when one was there.

Only the request is made and only the answer is checked here; sending it is
up to whoever runs the command. Needs the extra ``timestamp``.
"""

from datetime import datetime
from typing import Any

from toolgate.errors import InputError, UnavailableError

MAX_RESPONSE_BYTES = 1024 * 1024


def _library() -> Any:
    try:
        import rfc3161_client
    except ImportError:
        raise UnavailableError(
            "timestamps need rfc3161-client, which is not installed; "
            "install toolgate-evalkit[timestamp]"
        ) from None
    return rfc3161_client


def request(data: bytes) -> bytes:
    """Return a timestamp request over some bytes, for any RFC 3161 authority.

    Raises:
        UnavailableError: the library is not installed.

    Source: RFC 3161, section 2.4.1.
    """
    library = _library()
    builder = library.TimestampRequestBuilder().data(data)
    made = builder.hash_algorithm(library.HashAlgorithm.SHA256).build()
    return bytes(made.as_bytes())


def verify(response: bytes, data: bytes, root: bytes) -> datetime:
    """Return the time an authority's answer gives for some bytes.

    Args:
        response: the authority's answer.
        data: the bytes.
        root: the certificate that is trusted, PEM or DER.

    Raises:
        InputError: the answer is none, over other bytes, or not signed under that certificate.
        UnavailableError: the library is not installed.

    Source: RFC 3161, section 2.4.2.
    """
    library = _library()
    certificate = _certificate(root)
    try:
        answer = library.decode_timestamp_response(response)
        trusted = library.VerifierBuilder().add_root_certificate(certificate).build()
        trusted.verify_message(answer, data)
        when: datetime = answer.tst_info.gen_time
    except (ValueError, library.VerificationError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"the timestamp does not verify: {why:.200}") from None
    return when


def _certificate(data: bytes) -> Any:
    from cryptography import x509

    try:
        if data.lstrip().startswith(b"-----BEGIN"):
            return x509.load_pem_x509_certificate(data)
        return x509.load_der_x509_certificate(data)
    except ValueError:
        raise InputError("the root is no X.509 certificate in PEM or DER form") from None
