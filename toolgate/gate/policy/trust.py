"""Which hosts, tools and remotes a policy may trust: named narrowly, or refused."""

from typing import Any

from toolgate.gate.effects.patterns import matches

_MOST_HOST = 253
_SECOND_LEVEL = frozenset(
    (
        "ac",
        "co",
        "com",
        "edu",
        "go",
        "gob",
        "gov",
        "gouv",
        "ltd",
        "me",
        "ne",
        "net",
        "or",
        "org",
        "plc",
    )
)
"""Names under a country's domain that registrars sell below (``co.uk``, ``com.au``)."""

_SHARED = frozenset(
    (
        "amazonaws.com",
        "appspot.com",
        "azurewebsites.net",
        "blob.core.windows.net",
        "cloudfront.net",
        "core.windows.net",
        "firebaseapp.com",
        "fly.dev",
        "github.io",
        "gitlab.io",
        "herokuapp.com",
        "netlify.app",
        "ngrok-free.app",
        "ngrok.io",
        "onrender.com",
        "pages.dev",
        "r2.dev",
        "run.app",
        "s3.amazonaws.com",
        "storage.googleapis.com",
        "supabase.co",
        "surge.sh",
        "trycloudflare.com",
        "vercel.app",
        "web.app",
        "windows.net",
        "workers.dev",
    )
)
"""Hosts below which anybody gets a name.

Source: the private section of the Public Suffix List (publicsuffix.org).
"""

_INVENTED = ("mcp__zq7__vx", "mcp__zq7__read_vx", "mcp__vx-9__zq7", "Zq7Vx")
"""Tools that nobody has: a pattern that fits one of them trusts whatever comes."""


def trust_faults(names: dict[str, Any]) -> list[str]:
    """Return what is wrong with whom a policy trusts.

    Args:
        names: the policy's ``names``; what is no list of texts is reported elsewhere.
    """
    return [
        *_each(names, "trusted_hosts", "trusted host", host_fault),
        *_each(names, "trusted_remotes", "trusted remote", host_fault),
        *_each(names, "trusted_tools", "trusted tool", tool_fault),
    ]


def host_fault(host: str) -> str | None:
    """Return why a host may not be trusted, or None. A trusted host covers its subdomains."""
    labels = host.split(".")
    bare = all(
        label and label.isascii() and label.replace("-", "").isalnum() and label[0] != "-"
        for label in labels
    )
    if not bare or len(labels) < 2 or len(host) > _MOST_HOST:
        return "is not a bare host name such as api.example.com"
    if host != host.lower():
        return f"is not in lower case; write {host.lower()}"
    if all(label.isdigit() for label in labels):
        octets = [int(label[:4]) for label in labels]
        return None if len(octets) == 4 and max(octets) < 256 else "is no IPv4 address"
    if host in _SHARED or (len(labels) == 2 and len(labels[1]) == 2 and labels[0] in _SECOND_LEVEL):
        return "is too broad: anybody can get a name below it; name the host itself"
    return None


def tool_fault(pattern: str) -> str | None:
    """Return why a tool pattern may not be trusted, or None."""
    if any(matches(tool, pattern) for tool in _INVENTED):
        return "is too broad: it fits tools of servers that nobody has named"
    if not pattern.startswith("mcp__") or "__" not in pattern[5:].rstrip("*"):
        return "does not name one server (mcp__server__tool)"
    if "*" in pattern[5:].split("__", 1)[0]:
        return "is too broad: a server's name is written out"
    return None


def _each(names: dict[str, Any], key: str, what: str, fault_of: Any) -> list[str]:
    value = names.get(key)
    found: list[str] = []
    for item in value if isinstance(value, list) else []:
        fault = fault_of(item) if isinstance(item, str) else None
        if fault is not None:
            found.append(f"names: {what} {item!r:.80} {fault}")
    return found
