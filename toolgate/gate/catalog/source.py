"""A family file as it was written: YAML read without surprises, and whether it has its form."""

from collections.abc import Callable
from typing import Any

MAX_NODES = 200_000
"""Values of one file; an alias counts with all it stands for."""

_LISTS = (
    "operands",
    "does",
    "how",
    "dry",
    "reads",
    "runs",
    "late",
    "code",
    "joins",
    "chdir",
    "splits",
)
_WORDS = ("keeps", "stop", "whole", "wraps", "assigns", "special", "stdin", "inside", "style")
_CLAUSE_LISTS = ("any", "none", "words", "operands", "does", "how")


def read_family(file: str, data: bytes) -> tuple[Any, list[str]]:
    """Read one family file.

    Args:
        file: its name, for the sentences.
        data: its bytes.

    Returns:
        What it says, every scalar as text, and what is wrong with its form,
        one sentence each. What has not its form is left out or empty, so that
        the rest can be checked further.
    """
    import yaml

    try:
        loader = yaml.BaseLoader(data.decode("utf-8"))
        node = loader.get_single_node()
        if node is None:
            return {}, [f"{file}: is empty"]
        faults = [
            f"{file}: line {line}: key {key!r} is given twice" for key, line in _repeated(node)
        ]
        # Every scalar stays text: a program called yes is no truth value.
        family = loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        return {}, [f"{file}: {where}{getattr(error, 'problem', None) or 'not YAML'}"]
    except UnicodeDecodeError as error:
        return {}, [f"{file}: not UTF-8 at byte {error.start}"]
    except RecursionError:
        return {}, [f"{file}: nested too deep"]
    form = _Form(file)
    family = form.family(family)
    return family, faults + form.faults


def _repeated(root: Any) -> list[tuple[str, int]]:
    """Return every key that a mapping has twice, with the line of the later one."""
    found: list[tuple[str, int]] = []
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node.value, str):
            continue
        seen.add(id(node))
        keys = set()
        for item in node.value:
            key, value = item if isinstance(item, tuple) else (None, item)
            waiting.append(value)
            if key is not None and isinstance(key.value, str):
                if key.value in keys:
                    found.append((key.value, key.start_mark.line + 1))
                keys.add(key.value)
    return sorted(found, key=lambda one: one[1])


class _Form:
    """Checks that values are of the kind their key asks for; what they say is checked later."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes = 0
        self.faults: list[str] = []

    def family(self, family: Any) -> dict[str, Any]:
        """Check a family; return it without what has not its form."""
        if not self._mapping(family, "the family"):
            return {}
        # A section without anything in it is text without characters.
        kept: dict[str, Any] = {key: value for key, value in family.items() if value != ""}
        programs = self._items(kept, "programs", "programs")
        aliases = self._items(kept, "aliases", "aliases")
        kept["programs"] = {
            # An entry that has not its form stays as a name, which aliases may mean.
            name: entry if self._good(self.entry, entry, name) else {}
            for name, entry in programs
        }
        kept["aliases"] = {
            alias: target
            for alias, target in aliases
            if self._good(self._word, target, f"alias {alias}")
        }
        groups = kept.get("groups", [])
        if not isinstance(groups, list):
            self._say("groups", "a list", groups)
            groups = []
        kept["groups"] = [one for one in groups if self._good(self._group, one, "a group")]
        return kept

    def _good(self, check: Callable[[Any, str], None], value: Any, where: str) -> bool:
        before = len(self.faults)
        check(value, where)
        return len(self.faults) == before

    def _group(self, group: Any, where: str) -> None:
        if not self._mapping(group, where):
            return
        if set(group) != {"names", "entry"}:
            self._say(where, "the keys names and entry", sorted(group))
            return
        self._words(group["names"], "the names of a group")
        self.entry(group["entry"], f"the group {group['names']!r:.60}")

    def entry(self, entry: Any, name: str) -> None:
        """Check an entry and all its subcommands."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            if self._nodes == MAX_NODES + 1:
                self.faults.append(f"{self._file}: more than {MAX_NODES} entries")
            return
        if entry in ("", None):
            return
        if not self._mapping(entry, name):
            return
        for option, role in self._items(entry, "values", f"{name}: values"):
            self._word(role, f"{name}: option {option}")
        for key in _LISTS:
            self._words(entry.get(key), f"{name}: {key}")
        for key in _WORDS:
            self._word(entry.get(key), f"{name}: {key}")
        for word, below in self._items(entry, "subcommands", f"{name}: subcommands"):
            self.entry(below, f"{name} {word}")
        self.entry(entry.get("other"), f"{name} (other)")
        clauses = entry.get("when", [])
        if not isinstance(clauses, list):
            self._say(f"{name}: when", "a list of clauses", clauses)
            return
        for clause in clauses:
            self._clause(clause, f"{name}: a clause of when")

    def _clause(self, clause: Any, where: str) -> None:
        if not self._mapping(clause, where):
            return
        for key in _CLAUSE_LISTS:
            self._words(clause.get(key), f"{where}: {key}")
        for key in ("inspect", "bare"):
            self._word(clause.get(key), f"{where}: {key}")
        for option, values in self._items(clause, "value", f"{where}: value"):
            self._words(values, f"{where}: value of {option}")

    def _items(self, mapping: dict[Any, Any], key: str, where: str) -> list[tuple[str, Any]]:
        value = mapping.get(key)
        if value is None or not self._mapping(value, where):
            return []
        return list(value.items())

    def _mapping(self, value: Any, where: str) -> bool:
        if not isinstance(value, dict):
            self._say(where, "a mapping", value)
            return False
        odd = [key for key in value if not isinstance(key, str)]
        for key in odd:
            self._say(f"a key of {where}", "a word", key)
        return not odd

    def _words(self, value: Any, where: str) -> None:
        if value is None:
            return
        if not isinstance(value, list):
            self._say(where, "a list of words", value)
            return
        for item in value:
            self._word(item, where)

    def _word(self, value: Any, where: str) -> None:
        if value is not None and not isinstance(value, str):
            self._say(where, "a word", value)

    def _say(self, where: str, expected: str, got: Any) -> None:
        self.faults.append(f"{self._file}: {where}: expected {expected}, got {got!r:.60}")
