"""From the text of a URL or remote name to a host, and whether it is trusted."""

from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import HOLE

_METADATA = frozenset(
    (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192"),
        *("metadata.google.internal", "metadata", "fd00:ec2::254", "fd00:ec2::23"),
    )
)
_PROXY_VARIABLES = frozenset(("http_proxy", "https_proxy", "all_proxy", "ftp_proxy"))


def host_of(text: str) -> str:
    """Return the host a URL, ``user@host:path`` or bare host names; with ``HOLE`` if not known.

    Programs differ on a host part that holds a backslash, an escape, a blank or
    a list to be expanded, so such a host is not known.
    """
    authority = (
        split_url(text)[1].removeprefix("//").split("/", 1)[0].split("?", 1)[0].split("#", 1)[0]
    )
    if any(char in authority for char in (HOLE, "\\", "%", "{", "}", " ", "\t", "\n", "\r")):
        return HOLE
    authority = authority.rsplit("@", 1)[-1]
    if authority.startswith("["):
        return authority[1:].split("]", 1)[0].lower()
    return authority.split(":", 1)[0].lower().rstrip(".")


def split_url(text: str) -> tuple[str, str]:
    """Split a URL into its scheme, "" when it has none, and the rest."""
    scheme, mark, rest = text.partition("://")
    if mark and scheme[:1].isalpha() and all(c.isalnum() or c in "+-." for c in scheme):
        return scheme.lower(), rest
    return "", text


def is_local(host: str) -> bool:
    """Say whether a host is this machine."""
    if host in ("localhost", "::1", "0.0.0.0") or host.endswith(".localhost"):
        return True
    parts = host.split(".")
    # Only a whole IPv4 literal is an address: 127.example.org is a name anyone can own.
    return (
        len(parts) == 4
        and parts[0] == "127"
        and all(part.isascii() and part.isdigit() and int(part[:4]) < 256 for part in parts)
    )


def is_metadata(host: str) -> bool:
    """Say whether a host gives a cloud machine its credentials.

    Source: the clouds' own documentation of instance metadata (AWS with ECS and EKS, Azure,
    Google Cloud, Alibaba Cloud, Oracle Cloud).
    """
    return _dotted(host.removeprefix("::ffff:")) in _METADATA


def _dotted(host: str) -> str:
    """Return an IPv4 address as inet_aton reads it in dotted form; anything else as it is.

    Source: POSIX.1-2024, inet_addr: one to four numbers, decimal, octal or hexadecimal.
    """
    parts = host.split(".")
    if len(parts) > 4 or not host[:1].isdigit():
        return host
    value = 0
    for position, part in enumerate(parts):
        base = 16 if part[:2] == "0x" else 8 if part[:1] == "0" and len(part) > 1 else 10
        try:
            number = int(part, base) if part.isalnum() and len(part) < 16 else -1
        except ValueError:
            return host
        bytes_ = 5 - len(parts) if position == len(parts) - 1 else 1
        if not 0 <= number < 256**bytes_:
            return host
        value = (value << 8 * bytes_) + number
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def is_trusted(host: str, settings: Settings) -> bool:
    """Say whether a host is this machine or named by the policy, which covers subdomains."""
    return is_local(host) or covers(settings.trusted_hosts, host)


def covers(hosts: tuple[str, ...], host: str) -> bool:
    """Say whether a host is one of some hosts, or below one."""
    return any(host == one or host.endswith("." + one) for one in hosts)


def scope_of(host: str, settings: Settings) -> str:
    """Return the scope of reaching a host."""
    if HOLE in host or not host:
        return "unknown"
    return "workspace" if is_trusted(host, settings) else "outside"


def is_proxy_variable(name: str) -> bool:
    """Say whether an environment variable sends HTTP clients through a proxy."""
    return name.lower() in _PROXY_VARIABLES


def split_remote(text: str) -> tuple[str, str] | None:
    """Split ``[user@]host:path`` as scp, rsync and rclone read it; None for a local path."""
    if split_url(text)[0]:
        return host_of(text), text
    if text.startswith(":"):
        return HOLE, text  # the host of the source before (rsync), or spelled out (rclone)
    head, colon, path = text.partition(":")
    if not colon or "/" in head or not head:
        return None
    return host_of(head), path
