"""The page about traces says what the code does."""

import re
from importlib.resources import files

from toolgate.ledger.vault.input import FIELDS, PLACE
from toolgate.replay import DIFFERENT, EXCEPT_BUILD, NOT_REPLAYABLE, SAME
from toolgate.verify.endings import AGREES, TERMINAL
from toolgate.verify.faults import FAULTS
from toolgate.verify.traces.load import FORMATS

TEXT = (files("toolgate") / "spec" / "traces.md").read_text("utf-8")


def rows(head):
    table = TEXT[TEXT.index(head) :].split("\n\n")[0].split("\n")[2:]
    return [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table]


def test_formats():
    named = {cells[0].strip("`") for cells in rows("| format |")}
    assert named == {f"{reader.format}/{reader.version}" for reader in FORMATS}


def test_statuses_and_what_they_agree_with():
    assert {cells[0].strip("`") for cells in rows("| status |")} == {*TERMINAL, "unknown"}
    table = {cells[0].strip("`"): cells[1] for cells in rows("| terminal_state |")}
    assert table == {state: ", ".join(sorted(agrees)) for state, agrees in AGREES.items()}


def test_findings_it_names_exist():
    codes = {fault.code for fault in FAULTS}
    named = set(re.findall(r"`(execution\.[a-z_]+)`", TEXT))
    assert named <= codes
    assert {code for code in codes if code.startswith("execution.")} - named == {
        "execution.other_decision",
        "execution.result_differs",
    }


def test_vault_form_and_results():
    fields = sorted(FIELDS)
    # Only where the host says so are there disposable directories, a shell that goes on, or links.
    place = f"place:{{{','.join(sorted([*PLACE, 'disposable?', 'kept_shell?', 'links?']))}}}"
    shown = ",".join(place if name == "place" else name for name in fields)
    assert f'"call":{{{shown}}}' in TEXT
    results = {cells[0].replace(" ", "_").lower() for cells in rows("| result |")}
    assert results == {SAME, EXCEPT_BUILD, DIFFERENT, NOT_REPLAYABLE}
