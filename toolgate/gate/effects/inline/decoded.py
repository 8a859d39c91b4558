"""Texts that a program writes down encoded and decodes before it uses them."""

from binascii import Error, a2b_base64, unhexlify

_BASE64 = frozenset(
    (
        *("base64.b64decode", "base64.standard_b64decode", "base64.urlsafe_b64decode", "atob"),
        *("base64.decodebytes", "Base64.decode64", "Base64.strict_decode64", "base64_decode"),
        *(
            "decode_base64",
            "MIME.Base64.decode_base64",
            "binascii.a2b_base64",
            "Base64.urlsafe_decode64",
        ),
    )
)
_HEX = frozenset(("bytes.fromhex", "binascii.unhexlify", "hex2bin", "bytearray.fromhex"))
MAX_LENGTH = 65_536


def decoded(called: str, arguments: list[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return what a call that decodes a literal returns; None for any other call.

    Args:
        called: the dotted name of what is called.
        arguments: the texts its first two arguments can be.
    """
    kind = "base64" if called in _BASE64 else "hex" if called in _HEX else ""
    if called == "Buffer.from" and len(arguments) == 2:
        kind = {"base64": "base64", "hex": "hex"}.get(arguments[1][0], "")
    if called in ("codecs.decode", "bytes.decode") and len(arguments) == 2:
        kind = {"base64": "base64", "hex": "hex", "rot13": "rot13", "rot_13": "rot13"}.get(
            arguments[1][0], ""
        )
    if called == "str_rot13":
        kind = "rot13"
    if not kind or not arguments:
        return None
    return tuple(_plain(text, kind) for text in arguments[0])


def _plain(text: str, kind: str) -> str:
    from toolgate.gate.shell.model import HOLE

    if HOLE in text or len(text) > MAX_LENGTH:
        return HOLE
    if kind == "rot13":
        return "".join(_rotated(char) for char in text)
    try:
        if kind == "hex":
            return unhexlify("".join(text.split())).decode("latin-1")
        text = text.translate({ord("-"): "+", ord("_"): "/"})
        return a2b_base64(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    except (Error, ValueError):
        return HOLE


def _rotated(char: str) -> str:
    for first in ("a", "A"):
        place = ord(char) - ord(first)
        if 0 <= place < 26:
            return chr(ord(first) + (place + 13) % 26)
    return char
