"""Compose files: the containers they describe, each as the command that would start it alone.

Source: the Compose Specification, services.
"""

import json
import shlex

_BLOCKS = frozenset((">", "|", ">-", "|-", ">+", "|+"))
_SPACES = {"network_mode": "--network", "pid": "--pid", "ipc": "--ipc", "userns_mode": "--userns"}
_LISTS = {"devices": "--device", "cap_add": "--cap-add", "security_opt": "--security-opt"}
_FIELDS = ("source", "src", "target", "destination", "dst")
MAX_SERVICES = 64

Service = dict[str, list[str]]


def started(text: str) -> str:
    """Return what starting all containers of a compose file runs, as shell text."""
    services = _services(text)
    if len(services) > MAX_SERVICES:
        return 'eval "$too_many_services"'
    return "\n".join(_run(service) for service in services)


def _services(text: str) -> list[Service]:
    """Return the keys of each service with their values, one a line or item."""
    found: list[Service] = []
    inside, first, at, key = False, -1, -1, ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0 and not bare.startswith("-"):
            inside, first = bare.startswith("services:"), -1
        elif inside and (first < 0 or indent == first):
            first, at, key = indent, -1, ""
            found.append({})
        elif inside and not bare.startswith("-") and ":" in bare and (at < 0 or indent <= at):
            name, _, value = bare.partition(":")
            at, key = indent, name.strip()
            found[-1][key] = [value.strip()] if value.strip() else []
        elif inside and key:
            found[-1][key].append(bare.removeprefix("-").strip())
    return found


def _run(service: Service) -> str:
    words = ["docker", "run"]
    for volume in _volumes(service.get("volumes", [])):
        words += ["-v", _quoted(volume)]
    if _plain(service.get("privileged", [])) == "true":
        words.append("--privileged")
    for key, option in _SPACES.items():
        if key in service:
            words += [option, shlex.quote(_plain(service[key]))]
    for key, option in _LISTS.items():
        for item in _items(service.get(key, [])):
            words += [option, shlex.quote(item)]
    folder = _plain(service.get("working_dir", []))
    words += ["-w", shlex.quote(folder)] if folder else []
    words.append(shlex.quote(_plain(service.get("image", [])) or "built-here"))
    for key in ("entrypoint", "command"):
        words += [shlex.quote(word) for word in _words(service.get(key, []))]
    return " ".join(words)


def _volumes(lines: list[str]) -> list[str]:
    """Return mounts as ``SOURCE:TARGET``, of the short form and of the one with fields."""
    found: list[str] = []
    fields: dict[str, str] = {}
    for item in [*_items(lines), "type: end"]:
        name, colon, value = item.partition(": ")
        if colon and name == "type":
            source = fields.get("source", fields.get("src", ""))
            target = next((fields[one] for one in _FIELDS[2:] if one in fields), "")
            found += [f"{source}:{target}"] if source else []
            fields = {}
        elif colon and name in _FIELDS:
            fields[name] = value.strip().strip("\"'")
        elif not colon:
            found.append(item)
    return found


def _items(lines: list[str]) -> list[str]:
    """Return the items of a list, written in a line or one below the other."""
    if len(lines) == 1 and lines[0].startswith("["):
        return [item.strip().strip("\"'") for item in lines[0].strip("[]").split(",")]
    return [line.strip("\"'") for line in lines]


def _words(lines: list[str]) -> list[str]:
    """Return the words of a command: a list of them, or text that is split at blanks."""
    lines = [line.replace("$$", "$") for line in lines]
    if not lines:
        return []
    if len(lines) == 1 and lines[0].startswith("["):
        try:
            return [str(word) for word in json.loads(lines[0])]
        except ValueError:
            return _items(lines)
    if lines[0] in _BLOCKS:
        text = " ".join(lines[1:])
    elif len(lines) == 1:
        text = _plain(lines)
    else:
        return _items(lines)
    try:
        return shlex.split(text)
    except ValueError:
        return ["sh", "-c", text]


def _plain(lines: list[str]) -> str:
    """Return a value without the quotation marks around all of it."""
    text = lines[0] if lines else ""
    whole = len(text) > 1 and text[0] in "\"'" and text[0] == text[-1] and text[0] not in text[1:-1]
    return text[1:-1] if whole else text


def _quoted(text: str) -> str:
    """Quote a text in which variables stand for what they do in the shell."""
    if any(mark in text for mark in ('"', "`", "$(", "\\")):
        return shlex.quote(text)
    return f'"{text}"'
