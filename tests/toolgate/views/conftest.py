"""Ledgers that the tests of views only read."""

import ledgers
import pytest

from . import cases


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """The sound base ledger."""
    root = tmp_path_factory.mktemp("views") / "base"
    ledgers.build(root)
    return root


@pytest.fixture(scope="session")
def told(tmp_path_factory):
    """The ledger with a call of every kind of story."""
    root = tmp_path_factory.mktemp("views") / "told"
    cases.tell(root)
    return root
