"""The reference tables that come with the tests."""

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

TABLES = Path(__file__).parents[2] / "vectors" / "stats"

Row = dict[str, str]


@pytest.fixture(scope="session")
def table() -> Callable[[str], list[Row]]:
    """Return a reader of the reference tables by name; see tests/vectors/stats/README.md."""

    def read(name: str) -> list[Row]:
        with (TABLES / f"{name}.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert rows
        return rows

    return read


@pytest.fixture(scope="session")
def level() -> Callable[[str], float]:
    """Return the level of an alpha that is written in decimal."""
    return lambda alpha: float(1 - Decimal(alpha))
