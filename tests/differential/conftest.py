"""The gate the readings are compared with."""

import pytest

from toolgate.gate.engine import Gate
from toolgate.gate.open import default_gate


@pytest.fixture(scope="session")
def gate() -> Gate:
    return default_gate()
