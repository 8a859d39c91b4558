"""The windows' ledger maker, and a closed window to draw from."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_SOURCE = Path(__file__).parents[1] / "windows" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("windows_ledgers", _SOURCE)
assert _SPEC is not None
assert _SPEC.loader is not None
ledgers = importlib.util.module_from_spec(_SPEC)
sys.modules["windows_ledgers"] = ledgers
_SPEC.loader.exec_module(ledgers)

SEED = bytes(range(32))
RULES = ("plain-read", "secret-rule", "danger-rule")


class Shop(NamedTuple):
    """A closed window with its inputs."""

    desk: Any
    inputs: Path
    folder: Path
    values: list[Any]

    def export(self, **changes: Any) -> Any:
        """Export with the usual paths."""
        from evalkit.labels.export import Request, export

        fields: dict[str, Any] = {
            "window": "w1",
            "root": self.desk.root,
            "folder": self.desk.folder,
            "inputs": str(self.inputs),
            "out": str(self.folder / "form.csv"),
            "key": str(self.folder / "keys" / "w1.key.json"),
            "n": 5,
        }
        return export(Request(**(fields | changes)), ledgers.END + 9 * ledgers.HOUR)


def stock(tmp_path: Path, more: str, calls: int = 60, *, void: bool = False) -> Shop:
    """Write a ledger, close a window over it and keep the calls' inputs."""
    desk = ledgers._desk(tmp_path, "dag")
    desk.declare(ledgers.DECLARATION + more)
    values = []
    for place in range(calls):
        kind = place % 3
        value = {"command": f"run step {place}", "description": f"=step {place}"}
        values.append(value)
        call = desk.maker.decide(
            ("allowed", "asked", "denied")[kind],
            ledgers.START + place * 1_000_000,
            session=f"session-{place % 4}",
            tool=("Bash", "Read")[place % 2],
            rule=RULES[kind],
            value=value,
        )
        if kind == 0:
            desk.maker.outcome(call, call.fields.ts + 1)
    for number in range(4):
        desk.maker.close(f"session-{number}", ledgers.END - 1)
    if void:
        for path in Path(desk.root).glob("sessions/*.jsonl"):
            path.write_bytes(path.read_bytes().replace(b'"rule":"plain-read"', b'"rule":"other"'))
    desk.close()
    inputs = tmp_path / "inputs.jsonl"
    inputs.write_text(
        "".join(
            json.dumps({"id": f"real-{place}", "tool_input": value, "cwd": "/home/dev/project"})
            + "\n"
            for place, value in enumerate(values)
        )
    )
    return Shop(desk, inputs, tmp_path, values)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Return a closed window whose strata are the states, without a commitment."""
    return stock(tmp_path, "strata: [state]\n")


@pytest.fixture
def committed(tmp_path: Path) -> Shop:
    """Return a closed window that committed to ``SEED``, whose file is beside it."""
    from evalkit.labels.seed import commitment

    (tmp_path / "seed.hex").write_text(SEED.hex() + "\n")
    return stock(
        tmp_path, f"strata: [state]\nsample: {{n: 4, seed_commitment: '{commitment(SEED)}'}}\n"
    )


@pytest.fixture
def restock() -> Any:
    """Return the function that makes a closed window."""
    return stock
