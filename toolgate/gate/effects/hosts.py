"""From the text of a URL or remote name to a host, and whether it is trusted."""

from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import HOLE

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

    Source: AWS, Azure and Google Cloud documentation of instance metadata.
    """
    return host in ("169.254.169.254", "metadata.google.internal", "fd00:ec2::254", "169.254.170.2")


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
