"""From the text of a path to its scope, and from a file access to typed effects."""

from posixpath import basename, dirname, normpath

from toolgate.gate.call import Place
from toolgate.gate.effects.model import PROVED, Effect, unresolved
from toolgate.gate.effects.patterns import glob_fits, is_pattern, landmarks, name_set, path_set
from toolgate.gate.effects.settings import Settings
from toolgate.gate.shell.model import BELOW, HOLE

_STREAMS = frozenset(
    (
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/tty",
        "/dev/ptmx",
    )
)
# Folders beside the homes that belong to no user.
_NOBODYS = frozenset(("Shared", "linuxbrew", "lost+found"))
_WRITES = frozenset(("fs.write", "fs.delete", "fs.permission", "fs.link"))
_THROUGH = frozenset(("fs.read", "fs.write", "exec.code"))
MAX_PATH = 4_096
_GLOB = "*?["
MAX_KEPT = 512
_SWEEPING = frozenset(("recursive", "move", "extract", "mount", "delete"))
_OWN = ("workspace", "temp")
# Endings of documents, settings and data. Those of code are left out: repositories, and so
# their folders, are called after languages (llama.cpp, three.js, discord.py).
_FILE_ENDINGS = frozenset(
    (
        *("json", "lock", "yaml", "yml", "toml", "ini", "cfg", "conf", "xml", "csv", "tsv", "txt"),
        *("md", "rst", "html", "css", "scss", "mjs", "cjs", "tsx", "jsx", "png", "jpg", "jpeg"),
        *("gif", "svg", "pdf", "gz", "tgz", "sqlite", "sqlite3", "tsbuildinfo"),
    )
)


class Paths:
    """Resolves and classifies paths for one call.

    Args:
        place: where the call runs.
        settings: the policy's names and patterns.
        remote: whether the paths belong to another machine or a container.
    """

    def __init__(self, place: Place, settings: Settings, *, remote: bool = False) -> None:
        self.place = place
        self.settings = settings
        self.remote = remote
        roots = place.roots or ((place.cwd,) if place.cwd else ())
        # A folder that holds a home is nobody's workspace: all of it would count as one's own.
        self._roots = tuple(root for root in roots if not _holds_home(root, place.home))
        self._secret_names = name_set(settings.secret_names)
        self._secret_words = [item for item in settings.secret_names if "*" not in item]
        self._public_names = name_set(settings.public_names)
        self._disposable_names = name_set(settings.disposable_names)
        self._gate_sets = (path_set(place.gate), path_set(settings.gate_paths))
        self._landmarks = landmarks(
            (
                ("secret", settings.secret_paths),
                ("gate", place.gate),
                ("gate", settings.gate_paths),
                ("public", settings.public_paths),
                ("startup", settings.startup_paths),
                ("ci", settings.ci_paths),
                ("system", settings.system_paths),
            )
        )
        held = [item for item in (*self._roots, place.home) if item]
        self._anchors = frozenset(
            ("/", "/home", "/Users", "/root", *(up for item in held for up in _above(item)))
        )
        self._made: dict[tuple[str, str, str, tuple[str, ...], bool], list[Effect]] = {}

    def resolve(self, text: str, cwd: str) -> str:
        """Return a normalized absolute path; with a ``HOLE`` where it is not known."""
        if len(text) > MAX_PATH:
            return HOLE  # no system opens a path this long
        if text.startswith("/"):
            return _tidy(text)
        if text.startswith(HOLE) or not cwd:
            return HOLE + "/" + text.lstrip(HOLE)
        return _tidy(f"{cwd}/{text}")

    def scope(self, path: str) -> str:
        """Return the scope of a resolved path."""
        return self._scope(path, self._landmarks.labels(path, self.place.home))

    def _scope(self, path: str, marks: set[str]) -> str:
        pattern = is_pattern(path)
        if self._is_secret(path, marks) or (pattern and self._glob_is_secret(path)):
            return "secret"
        if self.remote:
            return "outside"
        return self._place(path, marks)

    def _place(self, path: str, marks: set[str]) -> str:
        """Return where a path lies, whatever it holds."""
        if "gate" in marks or (is_pattern(path) and self._may_name_gate(path)):
            return "gate"
        if HOLE in path:
            path = self._known_folder(path)
            if not path:
                return "unknown"
            marks = self._landmarks.labels(path, self.place.home)
        return self._area(path, marks)

    def _is_gate(self, path: str) -> bool:
        """Say whether a path steers the agent or the gate; known by its end in any folder."""
        marks = self._landmarks.labels(path, self.place.home)
        return "gate" in marks or (is_pattern(path) and self._may_name_gate(path))

    def _may_name_gate(self, path: str) -> bool:
        return any(item.may_name(path, self.place.home) for item in self._gate_sets)

    def _area(self, path: str, marks: set[str]) -> str:
        home = self.place.home
        if self._inside(path, self._roots):
            return "workspace"
        if self._inside(path, self.place.temp):
            return "temp"
        if home and (path == home or path.startswith(home + "/")):
            return "home"
        return "system" if path == "/" or "system" in marks else "outside"

    def _glob_is_secret(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        settings = self.settings
        if path_set(settings.secret_paths).may_name(path, self.place.home):
            return True
        if path_set(settings.secret_paths).covers(folder, self.place.home):
            return True
        return is_pattern(name) and any(glob_fits(name, item) for item in self._secret_words)

    def holds_protected(self, path: str) -> bool:
        """Say whether a folder holds, or a pattern may name, what steers the agent or the gate."""
        home = self.place.home
        return any(item.holds(path, home) for item in self._gate_sets) or self._is_gate(path)

    def leads_to_gate(self, path: str) -> bool:
        """Say whether a link to a folder lets what steers the agent be written through it."""
        return not self._is_anchor(path) and self.holds_protected(path)

    def _known_folder(self, path: str) -> str:
        """Return the folder a partly known path surely lies in, or "" when there is none.

        ``..`` behind the unknown part could lead out of it again.
        """
        head, _, tail = path.partition(HOLE)
        if not head.startswith("/") or ".." in tail or head.count("/") < 2:
            return ""
        folder = dirname(head + "x")
        return "" if self.holds_protected(folder) else folder

    def _inside(self, path: str, folders: tuple[str, ...]) -> bool:
        for folder in folders:
            if path.startswith(folder) and (path == folder or path.startswith(folder + "/")):
                return True
        return False

    def _is_secret(self, path: str, marks: set[str]) -> bool:
        name = path.rpartition("/")[2]
        secret = "secret" in marks or self._secret_names.has(name)
        return secret and not ("public" in marks or self._public_names.has(name))

    def qualifiers(self, path: str, *, glob: bool) -> tuple[str, ...]:
        """Return what matters about a path beyond its scope.

        ``anchor``: a root, a home, a workspace or what holds one; ``gitdir``: a
        repository's own data; ``device``: a disk; ``disposable``: can be made
        again; ``glob``: names many.
        """
        found: list[str] = []
        whole = self._stripped(path) if glob else path
        if not self.remote and self._is_anchor(whole):
            found.append("anchor")
        if glob:
            found.append("glob")
        parts = path.split("/")
        if ".git" in parts:
            found.append("gitdir")
        if path.startswith("/dev/") and path not in _STREAMS and not path.startswith("/dev/fd/"):
            found.append("device")
        # What is not known may lead out again; what find puts below a start does not.
        if HOLE not in path.replace(BELOW, "") and self._is_disposable(parts):
            found.append("disposable")
        return tuple(found)

    def _stripped(self, path: str) -> str:
        """Return the folder a pattern empties: ``/a/*`` and ``/a/.[!.]*`` empty ``/a``."""
        parts = path.split("/")
        for position, part in enumerate(parts):
            if any(char in _GLOB for char in part):
                inside = part.strip("*.?![]") == "" and not any(parts[position + 1 :])
                return "/".join(parts[:position]) or "/" if inside else path
        return path

    def _is_anchor(self, path: str) -> bool:
        return path in self._anchors

    def _is_disposable(self, parts: list[str]) -> bool:
        inside = "/".join(parts)
        for root in self._roots:
            if inside.startswith(root + "/"):
                below = inside[len(root) + 1 :].split("/")
                named = any(map(self._disposable_names.has, below))
                return named or self._inside(inside, self.place.disposable)
        return self._inside(inside, self.place.temp) and inside not in self.place.temp

    def _reaches_gate(self, kind: str, path: str, how: tuple[str, ...], *, glob: bool) -> bool:
        """Say whether a change to a folder, or to files by pattern, changes what it protects."""
        if self.remote or kind not in _WRITES or HOLE in path:
            return False
        # A write to a folder itself fails, and so does a delete that takes no folders.
        whole = kind not in ("fs.write", "fs.delete")
        sweeping = whole or glob or not _SWEEPING.isdisjoint(how)
        if not sweeping:
            return self._is_gate(path) and not self._is_anchor(path)
        return self.holds_protected(path) and not self._is_anchor(path)

    def _is_others(self, path: str) -> bool:
        """Say whether a path lies in another user's home, by the usual place of homes."""
        if self.remote or not self.place.home:
            return False
        parts = path.split("/", 3)
        if len(parts) > 2 and parts[1] in ("home", "Users") and parts[2]:
            return parts[2] not in _NOBODYS
        return path == "/root" or path.startswith("/root/")

    def _only_changed(self, kind: str, how: tuple[str, ...]) -> bool:
        """Say whether an access to a secret shows nothing of it: it counts by where it lies."""
        return kind in _WRITES and "move" not in how and "mount" not in how

    def effects(
        self,
        kind: str,
        text: str,
        cwd: str,
        *,
        program: str,
        how: tuple[str, ...] = (),
        glob: bool = False,
    ) -> list[Effect]:
        """Return the effects of touching one path.

        Args:
            kind: an ``fs.`` effect type, or ``exec.code`` for running the file.
            text: the path as written.
            cwd: the directory it is relative to; "" when not known.
            program: what touches it.
            how: qualifiers of the access.
            glob: whether the text is a pattern.
        """
        path = self.resolve(text, cwd)
        through = kind in _THROUGH and "move" not in how
        if through and (path in _STREAMS or path.startswith("/dev/fd/")):
            return []  # what goes into a stream changes no file; removing or replacing it does
        if text == "-" and kind != "fs.delete":
            return []
        key = (kind, path, program, how, glob)
        made = self._made.get(key)
        if made is None:
            made = self._effects(*key)
            if len(self._made) >= MAX_KEPT:
                self._made.clear()
            self._made[key] = made
        return made.copy()

    def _effects(
        self, kind: str, path: str, program: str, how: tuple[str, ...], glob: bool
    ) -> list[Effect]:
        landmarks = self._landmarks.labels(path, self.place.home)
        scope = self._scope(path, landmarks)
        if scope == "secret" and self._only_changed(kind, how) and not self.remote:
            scope = self._place(path, landmarks)
        if kind == "fs.delete" and "recursive" in how and not glob and _names_a_file(path):
            how = tuple(mark for mark in how if mark != "recursive" or scope not in _OWN)
        tree = kind == "fs.delete" and ("recursive" in how or glob)
        if tree and HOLE in path.replace(BELOW, ""):
            scope = "unknown"
        if self._reaches_gate(kind, path, how, glob=glob):
            scope = "gate"
        proof = unresolved("path-not-known") if scope == "unknown" else PROVED
        marks = " ".join((*how, *self.qualifiers(path, glob=glob)))
        if scope == "secret" and kind in _WRITES and self._inside(path, self._roots):
            marks = f"{marks} own".strip()  # a secret file of the workspace itself
        if scope == "outside" and kind == "fs.read" and self._is_others(path):
            marks = f"{marks} others".strip()
        made: list[Effect] = []
        if scope == "secret" and kind == "fs.delete" and "move" in how:
            # It goes on existing under another name, which may not say what it holds.
            made.append(Effect("secret.read", scope, path, True, PROVED, program, marks))
        if scope == "secret" and kind == "fs.read" and "measured" not in how:
            made.append(Effect("secret.read", scope, path, True, PROVED, program, marks))
        else:
            made.append(Effect(kind, scope, path, kind != "fs.delete", proof, program, marks))
        if kind in _WRITES:
            if scope == "gate":
                made.append(Effect("gate.tamper", scope, path, True, proof, program, marks))
            if "startup" in landmarks:
                made.append(Effect("sys.startup", scope, path, True, proof, program, marks))
            elif "ci" in landmarks:
                ci = f"{marks} ci".strip()
                made.append(Effect("sys.startup", scope, path, True, proof, program, ci))
        return made


def _names_a_file(path: str) -> bool:
    """Say whether a path's ending is one that files have: nothing lies below it."""
    name = basename(path)
    return HOLE not in path and name.rpartition(".")[2] in _FILE_ENDINGS and "." in name[1:]


def path_cost(text: str) -> int:
    """Return the steps of classifying a path: each folder it lies in is looked up."""
    return 32 + len(text) // 8 + len(text) * text.count("/") // 250


def region(place: Place) -> tuple[object, ...]:
    """Return what of a place decides how its paths are read: the directory only without roots."""
    return (place.roots or place.cwd, *place[2:])


def _above(path: str) -> list[str]:
    """Return a path and all that it lies in, in the form in which paths are compared."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _holds_home(root: str, home: str) -> bool:
    if root in ("/", "/home", "/Users", "/root", "/etc", "/usr", "/var"):
        return True
    return bool(home) and (home == root or home.startswith(root + "/"))


def _tidy(path: str) -> str:
    tidy = normpath(path)
    return tidy[1:] if tidy.startswith("//") else tidy
