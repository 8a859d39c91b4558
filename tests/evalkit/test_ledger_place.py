"""A database is no place for runs and windows, and its address is printed nowhere."""

import pytest
from click.testing import CliRunner

from evalkit.cli import evalkit

ADDRESS = "postgresql://someone:hunter2@host/ledger"


@pytest.mark.parametrize("command", [("window", "list"), ("run", "set.json"), ("resume", "run-1")])
@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_database_is_refused_without_naming_it(command, by):
    more = ["--ledger", ADDRESS] if by == "option" else []
    environ = {"TOOLGATE_LEDGER": ADDRESS} if by == "environment" else {}
    done = CliRunner().invoke(evalkit, [*command, *more], env=environ)
    said = f"{done.output}{done.exception}"
    assert done.exit_code != 0
    assert "evalkit needs a directory" in said
    assert "hunter2" not in said
    assert "someone" not in said
