"""Which files of its own project a program takes in: imports, requires, includes."""

import sys
from posixpath import join, normpath

MAX_FILES = 64
_QUOTES = "\"'`"
_CALLS = {
    "javascript": ("require(", "import(", "from ", "import "),
    "ruby": ("require_relative ", "require_relative(", "load ", "load("),
    "perl": ("require ", "do "),
    "php": ("require ", "require(", "require_once ", "require_once(", "include ", "include(",
            "include_once ", "include_once("),
}  # fmt: skip
_ENDINGS = {
    "javascript": ("", ".js", ".mjs", ".cjs", ".ts", "/index.js"),
    "ruby": ("", ".rb"),
    "perl": ("",),
    "php": ("",),
}


def loaded(language: str, text: str, folder: str) -> list[str]:
    """Return the files a program may take in, as far as they lie beside it.

    Args:
        language: the program's language.
        text: the program.
        folder: where it lies, or where it looks for what it takes in; "" when not known.
    """
    if not folder:
        return []
    if language == "python":
        found = [join(folder, name) for name in (*_modules(text), *_named_modules(text))]
    elif language in _CALLS:
        named = _named(text, _CALLS[language])
        if language == "javascript":
            named = [name for name in named if name.startswith((".", "/"))]
        found = [join(folder, name) + ending for name in named for ending in _ENDINGS[language]]
    else:
        return []
    return list(dict.fromkeys(normpath(path) for path in found))[:MAX_FILES]


def _modules(text: str) -> list[str]:
    """Return the files of the modules that lines of Python import."""
    found: list[str] = []
    for line in text.replace(";", "\n").split("\n"):
        words = line.replace(",", " ").split()
        if len(words) < 2 or words[0] not in ("import", "from"):
            continue
        names = words[1:2] if words[0] == "from" else words[1:]
        inside = words[3:] if words[0] == "from" and words[2:3] == ["import"] else []
        for name in names:
            if name == "as" or name.partition(".")[0] in sys.stdlib_module_names:
                continue
            below = name.lstrip(".")
            up = "../" * max(len(name) - len(below) - 1, 0)
            path = up + below.replace(".", "/")
            found += [f"{path}.py", f"{path}/__init__.py"] if below else []
            found += [join(path, f"{one.strip('()')}.py") for one in inside if one.strip("()")]
    return found


def _named_modules(text: str) -> list[str]:
    """Return the files of modules that Python imports, or runs, by a name given as text."""
    found = [
        name.replace(".", "/") + ending
        for name in _named(text, ("__import__(", "import_module(", "run_module("))
        for ending in (".py", "/__init__.py")
    ]
    if "run_path(" in text or "exec(" in text or "eval(" in text:
        found += _named(text, ("run_path(", "open(", "Path("))
    return found


def _named(text: str, calls: tuple[str, ...]) -> list[str]:
    """Return the quoted texts that stand behind some words."""
    found: list[str] = []
    for call in calls:
        at = text.find(call)
        while at >= 0 and len(found) < MAX_FILES:
            start = at + len(call)
            rest = text[start : start + 300].lstrip()
            if rest[:1] and rest[0] in _QUOTES and rest[0] in rest[1:]:
                found.append(rest[1 : rest.index(rest[0], 1)])
            at = text.find(call, start)
    return found
