"""From the text of a URL or remote name to a host, and whether it is trusted."""

from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import HOLE


def host_of(text: str) -> str:
    """Return the host a URL, ``user@host:path`` or bare host names; with ``HOLE`` if not known."""
    rest = text.split("://", 1)[1] if "://" in text else text
    authority = rest.split("/", 1)[0].split("?", 1)[0].split("#", 1)[0]
    if HOLE in authority:
        return HOLE
    authority = authority.rsplit("@", 1)[-1]
    if authority.startswith("["):
        return authority[1:].split("]", 1)[0].lower()
    return authority.split(":", 1)[0].lower().rstrip(".")


def is_local(host: str) -> bool:
    """Say whether a host is this machine."""
    return (
        host in ("localhost", "::1", "0.0.0.0")
        or host.startswith("127.")
        or host.endswith(".localhost")
    )


def is_trusted(host: str, settings: Settings) -> bool:
    """Say whether a host is this machine or named by the policy, which covers subdomains."""
    return is_local(host) or any(
        host == trusted or host.endswith("." + trusted) for trusted in settings.trusted_hosts
    )


def scope_of(host: str, settings: Settings) -> str:
    """Return the scope of reaching a host."""
    if HOLE in host or not host:
        return "unknown"
    return "workspace" if is_trusted(host, settings) else "outside"


def split_remote(text: str) -> tuple[str, str] | None:
    """Split ``[user@]host:path`` as scp and rsync read it; None for a local path."""
    if "://" in text:
        return host_of(text), text
    head, colon, path = text.partition(":")
    if not colon or "/" in head or not head:
        return None
    return host_of(head), path
