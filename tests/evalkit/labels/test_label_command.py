"""``evalkit label export`` as a person runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def evalkit(shop: Any, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "evalkit", "label", "export", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=str(shop.folder),
        env={**os.environ, "TOOLGATE_LEDGER": shop.desk.root},
        timeout=120,
    )


def test_export_writes_the_form_and_its_key_apart(shop: Any) -> None:
    done = evalkit(shop, "w1", "--inputs", "inputs.jsonl", "--n", "2", "--json")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert body["drawn"] == {"state=allowed": 2, "state=asked": 2, "state=denied": 2}
    form, key = shop.folder / body["out"], shop.folder / body["key"]
    assert (form.name, key.name) == ("w1.labels.csv", "w1.key.json")
    assert form.parent != key.parent
    assert json.loads(key.read_bytes())["seed"] not in done.stdout

    again = evalkit(shop, "w1", "--inputs", "inputs.jsonl", "--n", "2")
    assert (again.returncode, again.stdout) == (3, "")
    assert body["entry"] in again.stderr


def test_a_void_window_is_warned_of_on_stderr(restock: Any, tmp_path: Path) -> None:
    void = restock(tmp_path, "strata: [state]\n", void=True)
    done = evalkit(void, "w1", "--inputs", "inputs.jsonl", "--n", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert "window w1 was graded VOID" in done.stderr
    assert json.loads(done.stdout)["grade"] == "VOID"


def test_words_name_the_strata(shop: Any) -> None:
    done = evalkit(shop, "w1", "--format", "csv", "--inputs", "inputs.jsonl", "--n", "2")
    assert "state=denied: 2 of 20" in done.stdout
    assert "keep it from the labeler" in done.stdout


def test_refusals_and_bad_usage(shop: Any) -> None:
    for code, *args in (
        (3, "w1", "--n", "2"),
        (3, "other", "--inputs", "inputs.jsonl", "--n", "2"),
        (2, "../w1", "--inputs", "inputs.jsonl"),
        (2, "w1", "--inputs", "inputs.jsonl"),
        (2, "w1", "--inputs", "absent.jsonl", "--n", "2"),
        (2, "w1", "--format", "xlsx"),
        (2, "w1", "--n", "0"),
    ):
        done = evalkit(shop, *map(str, args))
        assert done.returncode == code, (args, done.stderr)
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
    assert not (shop.folder / "windows" / "keys").exists()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom evalkit.cli.label import label\n"
        "label.main(['export', '--help'], standalone_mode=False)\n"
        "print([n for n in ('duckdb', 'scipy', 'numpy', 'jinja2', 'yaml') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
