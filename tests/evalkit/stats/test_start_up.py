"""Importing every module of the statistics loads no numeric library."""

import pkgutil
import subprocess
import sys

import evalkit.stats


def test_no_numeric_library_is_loaded_by_an_import() -> None:
    names = [
        f"evalkit.stats.{module.name}" for module in pkgutil.iter_modules(evalkit.stats.__path__)
    ]
    assert len(names) >= 18
    probe = (
        f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
        "print(sorted({'scipy', 'numpy', 'statistics', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
