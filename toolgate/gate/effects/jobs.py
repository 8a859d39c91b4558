"""Commands in files of jobs: CI, hooks of a manager, task lists, process lists."""

from posixpath import basename

_NAMES = frozenset(
    (
        *(".gitlab-ci.yml", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", "procfile"),
        *(".lefthook.yml", "taskfile.yml", "taskfile.yaml", ".travis.yml"),
        "bitbucket-pipelines.yml",
    )
)
_COMPOSE = frozenset(
    f"{name}{ending}"
    for name in ("compose", "docker-compose", "compose.override", "docker-compose.override")
    for ending in (".yml", ".yaml")
)
_FOLDERS = ("/.github/workflows/", "/.circleci/", "/.github/actions/")
# Keys whose value is shell text, or a list of such texts.
_KEYS = frozenset(
    (
        *("run", "entry", "cmd", "cmds", "script", "before_script", "after_script", "command"),
        *("entrypoint", "install", "before_install"),
    )
)


def is_jobs(path: str) -> bool:
    """Say whether a file lists commands of jobs."""
    return basename(path).lower() in _NAMES or any(folder in path for folder in _FOLDERS)


def is_compose(path: str) -> bool:
    """Say whether a file describes containers that are started together."""
    return basename(path).lower() in _COMPOSE


def commands_of(text: str) -> str:
    """Return the commands such a file lists, as shell text, line by line."""
    found: list[str] = []
    depth = -1  # how far a key's list or block is set in; -1 outside of one
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" -"))
        if depth >= 0 and (indent > depth or (bare.startswith("- ") and indent >= depth)):
            item = bare.removeprefix("- ").strip()
            key, colon, value = item.partition(":")
            found.append(value if colon and key in _KEYS else item)
            continue
        depth = -1
        key, colon, value = bare.removeprefix("- ").partition(":")
        value = value.strip()
        if colon and key.strip() in _KEYS:
            if value and value[0] not in "|>":
                found.append(value.strip("\"'[]"))
            else:
                depth = len(line) - len(line.lstrip(" -"))
        elif colon and key.isalnum() and " " not in key and not line.startswith((" ", "-")):
            found += [value] if value and is_process(key, value) else []
    return "\n".join(one.strip("\"'") for one in found)


def is_process(key: str, value: str) -> bool:
    """Say whether a line of a process list gives a command."""
    return key in ("web", "worker", "release", "clock", "scheduler") and bool(value)


def is_image(path: str) -> bool:
    """Say whether a file describes how an image is built."""
    name = basename(path)
    return name.startswith(("Dockerfile", "Containerfile")) or name.endswith(".dockerfile")


def image_runs(text: str) -> str:
    """Return what building an image runs in it, as shell text."""
    lines = text.replace("\\\n", " ").split("\n")
    return "\n".join(
        line.strip()[4:].strip() for line in lines if line.strip()[:4].upper() == "RUN "
    )


def image_copies(text: str) -> list[str]:
    """Return the files that building an image takes into it from the folder it is built in."""
    found: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        words = line.split()
        if len(words) < 3 or words[0].upper() not in ("COPY", "ADD"):
            continue
        if not any(word.startswith("--from=") for word in words):
            found += [w.strip('[",]') for w in words[1:-1] if not w.startswith("--")]
    return found
