"""How many mutants of the verifier the frozen cases and its unit tests kill.

``mutmut`` makes the mutants. Each is put in place of the function it was made from, in a forked
process, and tried against every case, the ones that killed before first; what survives is tried
against the unit tests. That takes a fraction of the time of a test run for each::

    TOOLGATE_TEST_TREE=1 PYTHONPATH=. python tests/benchmarks/mutants.py turns traces.otlp
    TOOLGATE_TEST_TREE=1 PYTHONPATH=. python tests/benchmarks/mutants.py words.x_counted__mutmut_3

It prints the score of each module, and the survivors; a survivor is tried alone by the name
printed. ``tests/mutants.md`` names those that no test can kill, and why.
"""

import gc
import os
import resource
import sys
import tempfile
from collections import defaultdict
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from mutmut.mutation.file_mutation import mutate_file_contents

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

import vectors

UNITS = {
    "parts": "words findings listed",
    "classes": "entries policies policy",
    "composition": "composition",
    "authority": "authority loops entries",
    "endings": "endings against_trace",
    "against_trace": "against_trace",
    "heads": "heads",
    "turns": "turns",
    "log": "log",
    "approvals": "approvals",
    "names": "entries log execution ledger approvals outline system turns",
    "execution": "execution",
    "spans": "spans",
    "listed": "listed against_trace execution",
    "sorted_runs": "sorted_runs copies spool",
    "keys": "keys approvals",
    "approval_laws": "approvals entries",
    "lift_laws": "lift approvals",
    "judged": "execution log against_trace turns",
    "lived": "log turns entries",
    "checkpoints": "heads anchors log",
    "proofs": "proof prove",
    "witness": "witness",
    "system": "system extent",
    "special_files": "directory read segments place policies reader",
    "trace_formats": "traces",
    "traces": "against_trace traces",
    "reconcile": "endings execution traces against_trace spans",
    "verify_laws": "entries read segments shapes diagnose extent turns",
    "verify_processes": "entries execution log ledger workers sorted_runs approvals",
    "verify_while_written": "ledger read directory segments",
    "verify_sheet": "report extent faults",
    "ledger_cli": "report extent place anchors directory",
    "storage_cli": "postgres segments place directory",
    "ledger/seal": "segments",
    "ledger/hostile_segments": "segments",
    "ledger/copy": "segments",
}
"""By test file, of verify/ where no folder is named, the modules it is about; ``traces`` stands for
all that lie below it."""

_TESTS = "tests/toolgate"
_SLOW = "linear_time or memory_does_not_grow or any_damage or interrupt or honest_life"
_SHARED = ("begin", "leave", "noted", "part", "sums", "take")
"""Methods that only an audit in several processes calls; its tests are slow."""
_SECONDS = 90


class Mutants:
    """The mutants of one module of the verifier.

    Args:
        module: its name below ``toolgate.verify``.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        self._name = f"toolgate.verify.{module}"
        path = Path(*self._name.split(".")).with_suffix(".py")
        text = mutate_file_contents(str(path), path.read_text(encoding="utf-8")).code
        self._codes: dict[str, CodeType] = {}
        self._collect(compile(text, str(path), "exec"))
        self.names = [name for name in self._codes if name.rpartition("_")[2].isdecimal()]
        self.units = _units_of(module)

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


def _units_of(module: str) -> list[str]:
    """Return the test files about a module."""
    names = {module, module.partition(".")[0]}
    found = [
        f"{_TESTS}/{folder}/test_{name}.py"
        for file, about in UNITS.items()
        for folder, name in [os.path.split(file) if "/" in file else ("verify", file)]
        if not names.isdisjoint(about.split())
    ]
    if not found:
        raise SystemExit(f"UNITS names no test file about {module}")
    return found


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


class Trial:
    """A run of ``pytest`` over the unit tests that tries mutants in place of running them.

    Tests are collected once; each mutant runs them in a process of its own.

    Args:
        mutants: those of a module.
        names: which of them.
        cases: the frozen cases.

    Attributes:
        left: the mutants that nothing killed.
    """

    def __init__(self, mutants: Mutants, names: list[str], cases: Cases) -> None:
        self.left: list[str] = []
        self._mutants = mutants
        self._names = names
        self._cases = cases

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.freeze()  # what is there stays shared with every process that is forked
        wrong = self._killer_of(None, session)
        if wrong:
            raise pytest.UsageError(f"the code without a mutant fails: {wrong}")
        for name in self._names:
            found = self._killer_of(name, session)
            self._cases.count(found)
            if not found:
                self.left.append(name)
                print(f"  {self._mutants.module}.{name}", flush=True)
        return True

    def _killer_of(self, name: str | None, session: pytest.Session) -> str:
        """Return what kills a mutant: a case, a test, ``time``; nothing if it survives."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            if name is not None:
                self._mutants.install(name)
            resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
            found = self._cases.killer() or self._test(session, name or "")
            os.write(writing, found.encode())
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            found = pipe.read().decode()
        _, status = os.waitpid(child, 0)
        if status and not os.WIFSIGNALED(status):
            raise pytest.UsageError(f"{name} could not be tried")
        return "time" if status else found

    def _test(self, session: pytest.Session, name: str) -> str:
        """Return the first test that fails; nothing if none does."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        shared = name.partition("__mutmut_")[0].endswith(_SHARED)
        items = [one for one in session.items if shared or "processes" not in one.nodeid]
        for item, following in zip_longest(items, items[1:]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return item.nodeid
        return ""


def try_all(module: str, names: list[str], cases: Cases) -> None:
    """Try mutants of a module, all of them if none is named; print the score."""
    mutants = Mutants(module)
    trial = Trial(mutants, names or mutants.names, cases)
    plugins = ["cacheprovider", "xdist"]
    options = ["-qqs", *[f"-pno:{one}" for one in plugins], "-k", f"not ({_SLOW})"]
    if pytest.main([*options, *mutants.units], [trial]):
        raise SystemExit(f"{module} could not be tried")
    count = len(names or mutants.names)
    print(f"{module}: {count - len(trial.left)} of {count} killed", flush=True)


def main() -> None:
    """Try the mutants of the modules, or the single mutants, that are named."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for argument in sys.argv[1:]:
        module, _, name = argument.partition(".x")
        wanted[module] += [f"x{name}"] if name else []
    with tempfile.TemporaryDirectory() as scratch:
        cases = Cases(Path(scratch))
        for module, names in wanted.items():
            try_all(module, names, cases)


if __name__ == "__main__":
    main()
