"""How many mutants of the verifier the frozen cases kill, in a fraction of the time of a test run.

``mutmut`` writes the mutants, into ``mutants/`` (settings in ``pyproject.toml``). Here each is
put in place of the function it was made from, in a forked process, and tried against every case,
the ones that killed before first; what survives is tried against the unit tests::

    TOOLGATE_TEST_TREE=1 mutmut run "toolgate.verify.words*" --max-children 2
    TOOLGATE_TEST_TREE=1 PYTHONPATH=. python tests/benchmarks/mutants.py turns log entries

It prints the score of each module, and the survivors. ``tests/mutants.md`` names those that no
test can kill, and why.
"""

import os
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

import vectors

UNITS = [
    "tests/toolgate/verify/test_parts.py",
    "tests/toolgate/verify/test_classes.py",
    "tests/toolgate/verify/test_composition.py",
    "tests/toolgate/verify/test_authority.py",
    "tests/toolgate/verify/test_endings.py",
    "tests/toolgate/verify/test_execution.py",
    "tests/toolgate/verify/test_spans.py",
    "tests/toolgate/verify/test_verify_processes.py::test_frozen_cases",
]
_SECONDS = 300


class Mutants:
    """The mutants of one module of the verifier.

    Args:
        module: its name below ``toolgate.verify``.
    """

    def __init__(self, module: str) -> None:
        self._name = f"toolgate.verify.{module}"
        path = Path("mutants", *self._name.split(".")).with_suffix(".py")
        self._codes: dict[str, CodeType] = {}
        self._collect(compile(path.read_bytes(), str(path), "exec"))
        self.names = [name for name in self._codes if name.rpartition("_")[2].isdecimal()]

    def _collect(self, code: CodeType) -> None:
        for item in code.co_consts:
            if isinstance(item, CodeType):
                if "__mutmut_" in item.co_name:
                    self._codes[item.co_name] = item
                self._collect(item)

    def install(self, name: str) -> None:
        """Put a mutant in the place of the function it was made from."""
        whole = name.rpartition("__mutmut_")[0]
        holder: Any = import_module(self._name)
        if whole.startswith("x\u01c1"):
            _, cls, method = whole.split("\u01c1")
            found = vars(getattr(holder, cls))[method]
        else:
            found = getattr(holder, whole.removeprefix("x_"))
        function = getattr(found, "__func__", found)
        function.__code__ = self._codes[name]


class Cases:
    """The frozen cases, written once; those that killed most stand first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cases = {case["id"]: case for case in vectors.cases()}
        self._kills = dict.fromkeys(self._cases, 0)
        for name, case in self._cases.items():
            (folder / name).mkdir()
            vectors.write_ledgers(case, folder / name)

    def killer(self) -> str | None:
        """Return the first case that says something else than it is to; None if none does."""
        for name in sorted(self._kills, key=lambda one: -self._kills[one]):
            try:
                fits = self._fits(self._cases[name], (self._folder / name).resolve())
            except Exception:  # a mutant may raise anything
                fits = False
            if not fits:
                return name
        return None

    def count(self, name: str) -> None:
        """Note that a case has killed a mutant."""
        if name in self._kills:
            self._kills[name] += 1

    def _fits(self, case: dict[str, Any], folder: Path) -> bool:
        if "system" in case["args"]:
            report = vectors.verify_system_case(case, folder)
            return vectors.said_of_system(report, folder) == case["expected"]
        single, places = vectors.watch_case(case, folder)
        return (
            vectors.expected_of(single) == case["expected"]
            and ("report" not in case or vectors.report_of(single, folder) == case["report"])
            and places == case.get("places", [])
        )


def killer_of(mutants: Mutants | None, name: str, cases: Cases) -> str:
    """Return what kills a mutant: a case, ``units``, ``time``; nothing if it survives."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(_SECONDS)
        if mutants is not None:
            mutants.install(name)
        found = cases.killer() or _units()
        os.write(writing, found.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        found = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return found if status == 0 else "time"


def _units() -> str:
    import pytest

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    options = ["-q", "-x", "-p", "no:cacheprovider", *UNITS]
    return "units" if pytest.main(options) else ""


def main() -> None:
    """Try the mutants of the modules that are named."""
    with tempfile.TemporaryDirectory() as scratch:
        cases = Cases(Path(scratch))
        wrong = killer_of(None, "", cases)
        if wrong:
            raise SystemExit(f"the code without a mutant fails {wrong}")
        for module in sys.argv[1:]:
            mutants = Mutants(module)
            left = 0
            for name in mutants.names:
                found = killer_of(mutants, name, cases)
                cases.count(found)
                if not found:
                    left += 1
                    print(f"  {module}.{name}", flush=True)
            count = len(mutants.names)
            print(f"{module}: {count - left} of {count} killed", flush=True)


if __name__ == "__main__":
    main()
