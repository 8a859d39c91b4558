"""The blind form: nothing the gate said, drawn once, with its key chained before it exists."""

import csv
import io
import json
import os
from hashlib import sha256
from hmac import digest as hmac_digest
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import EvalkitError, RefusedError, UsageError
from evalkit.windows.receipts import read_chain
from toolgate.canonical import digest, digest_of

WORDS = ("allow", "ask", "deny", "denied", "rule", "plain-read", "secret-rule", "danger-rule")


def form_of(shop: Any) -> list[dict[str, str]]:
    """Read the form as a spreadsheet would."""
    text = (shop.folder / "form.csv").read_bytes().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def key_of(shop: Any) -> dict[str, Any]:
    """Read the key."""
    body: dict[str, Any] = json.loads((shop.folder / "keys" / "w1.key.json").read_bytes())
    return body


def test_the_form_says_nothing_of_what_the_gate_said(shop: Any) -> None:
    shop.export()
    data = (shop.folder / "form.csv").read_text("utf-8-sig").lower()
    for word in WORDS:
        assert word not in data.replace("verdict", "").replace("context_limited", ""), word
    for secret in ("session-", "sha256:", "call-", "real-", "2026", "state="):
        assert secret not in data, secret
    for row in form_of(shop):
        assert list(row) == [
            "id",
            "tool",
            "input",
            "cwd_class",
            "verdict",
            "context_limited",
            "note",
        ]
        assert (row["verdict"], row["context_limited"], row["note"]) == ("", "", "")
        assert row["cwd_class"] == "project"


def test_rows_are_in_the_order_of_ids_that_mean_nothing(shop: Any) -> None:
    shop.export()
    ids = [row["id"] for row in form_of(shop)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 15
    assert all(len(name) == 12 and set(name) <= set("0123456789abcdef") for name in ids)
    times = {body["_decision"]: body["ts"] for body in _decisions(shop)}
    order = [times[item["decision_digest"]] for item in key_of(shop)["items"]]
    assert order != sorted(order)


def _decisions(shop: Any) -> list[dict[str, Any]]:
    found = []
    for path in Path(shop.desk.root).glob("sessions/*.jsonl"):
        for line in path.read_bytes().splitlines():
            body = json.loads(line)
            if body["kind"] == "decision":
                found.append(body | {"_decision": digest_of(body["ev"])})
    return found


def test_the_key_leads_back_to_the_decisions(shop: Any) -> None:
    shop.export()
    key, form = key_of(shop), {row["id"]: row for row in form_of(shop)}
    decisions = {body["_decision"]: body for body in _decisions(shop)}
    inputs = {digest_of(value): value for value in shop.values}
    salt = bytes.fromhex(key["salt"])
    assert len(key["items"]) == len(form) == 15
    for item in key["items"]:
        body = decisions[item["decision_digest"]]
        assert item["state"] == body["ev"]["decision_state"]
        assert item["rule"] == body["rule"]
        assert item["stratum"] == f"state={item['state']}"
        expected = hmac_digest(salt, item["decision_digest"].encode(), "sha256").hex()[:12]
        assert item["id"] == expected
        command = inputs[body["ev"]["args_digest"]]["command"]
        assert f"command: {command}" in form[item["id"]]["input"]
        assert form[item["id"]]["tool"] == body["intent"]["action_type"]


def test_the_draw_is_bottom_k_by_hmac_as_specified(committed: Any) -> None:
    committed.export(n=None, seed_file=str(committed.folder / "seed.hex"))
    seed = bytes(range(32))
    expected = set()
    for state in ("allowed", "asked", "denied"):
        members = [
            body["_decision"]
            for body in _decisions(committed)
            if body["ev"]["decision_state"] == state
        ]
        members.sort(key=lambda name: hmac_digest(seed, f"state={state}{name}".encode(), "sha256"))
        expected.update(members[:4])
    assert {item["decision_digest"] for item in key_of(committed)["items"]} == expected


def test_the_key_is_chained_and_readable_by_its_owner_only(shop: Any) -> None:
    done = shop.export()
    path = shop.folder / "keys" / "w1.key.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (shop.folder / "form.csv").stat().st_mode & 0o777 == 0o600
    receipt = read_chain(shop.desk.root).receipts[-1]
    key = key_of(shop)
    assert receipt.action == "sample.drawn"
    assert receipt.entry == done.entry
    assert receipt.details == {
        "key": digest(path.read_bytes().removesuffix(b"\n")),
        "seed": "sha256:" + sha256(bytes.fromhex(key["seed"])).hexdigest(),
        "slice": key["slice"],
        "form": digest((shop.folder / "form.csv").read_bytes()),
        "n": 15,
    }


def test_the_form_does_not_exist_when_the_key_could_not_be_chained(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolgate.errors import LedgerError
    from toolgate.ledger.append import Ledger

    def broken(*_args: Any, **_fields: Any) -> str:
        assert (shop.folder / "keys" / "w1.key.json").exists()
        assert not (shop.folder / "form.csv").exists()
        raise LedgerError("cannot append")

    monkeypatch.setattr(Ledger, "audit", broken)
    with pytest.raises(LedgerError):
        shop.export()
    assert not (shop.folder / "form.csv").exists()
    assert not (shop.folder / "keys" / "w1.key.json").exists()


def test_formula_cells_are_neutralized(shop: Any) -> None:
    rows = [{"args_digest": digest_of(value), "text": "=HYPERLINK(1)"} for value in shop.values]
    shop.inputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = shop.export()
    assert {row["input"] for row in form_of(shop)} == {"'=HYPERLINK(1)"}
    assert done.unchecked == 15


def test_secrets_in_the_text_are_redacted(restock: Any, tmp_path: Path) -> None:
    shop = restock(tmp_path, "strata: [state]\n", calls=3)
    rows = [
        {"args_digest": digest_of(value), "text": "curl https://me:hunter22@host -H token=abc"}
        for value in shop.values
    ]
    shop.inputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shop.export()
    for row in form_of(shop):
        assert "hunter22" not in row["input"]
        assert "abc" not in row["input"]
        assert row["input"].startswith("curl https://[redacted")


def test_the_same_seed_gives_the_same_form(restock: Any, tmp_path: Path) -> None:
    from evalkit.labels.seed import commitment

    seed = bytes(range(32))
    more = f"strata: [state]\nsample: {{n: 4, seed_commitment: '{commitment(seed)}'}}\n"
    forms = []
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        (place / "seed.hex").write_text(seed.hex())
        shop = restock(place, more)
        shop.export(n=None, seed_file=str(place / "seed.hex"))
        forms.append((place / "form.csv").read_bytes())
    assert forms[0] == forms[1]


def test_a_fresh_seed_gives_another_form(restock: Any, tmp_path: Path) -> None:
    forms = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shop = restock(tmp_path / name, "strata: [state]\n")
        shop.export()
        forms.append((tmp_path / name / "form.csv").read_bytes())
    assert forms[0] != forms[1]


def test_without_inputs_it_says_that_the_ledger_keeps_no_content(shop: Any) -> None:
    with pytest.raises(RefusedError, match="keeps no content"):
        shop.export(inputs=None)
    assert not (shop.folder / "keys").exists()


def test_a_call_without_a_row_is_refused_whole(shop: Any) -> None:
    shop.inputs.write_text(json.dumps({"tool_input": shop.values[0]}) + "\n")
    with pytest.raises(RefusedError, match=r"of 15 drawn calls have no row"):
        shop.export()
    assert not (shop.folder / "form.csv").exists()
    assert len(read_chain(shop.desk.root).receipts) == 2


def test_a_window_is_drawn_from_once(shop: Any) -> None:
    done = shop.export()
    with pytest.raises(RefusedError) as caught:
        shop.export(out=str(shop.folder / "other.csv"), key=str(shop.folder / "other.json"))
    assert done.entry in str(caught.value)
    assert done.key_digest in str(caught.value)
    assert not (shop.folder / "other.csv").exists()


@pytest.mark.parametrize("name", ["form.csv", "keys/w1.key.json"])
def test_nothing_is_overwritten(shop: Any, name: str) -> None:
    path = shop.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(RefusedError, match="never replaced"):
        shop.export()
    assert path.read_text() == "mine"


def test_key_and_form_are_two_files(shop: Any) -> None:
    with pytest.raises(RefusedError, match="apart"):
        shop.export(key=str(shop.folder / "form.csv"))


def test_a_seed_nobody_committed_to_is_refused(shop: Any) -> None:
    (shop.folder / "seed.hex").write_text("0" * 64)
    with pytest.raises(RefusedError, match="committed to no seed"):
        shop.export(seed_file=str(shop.folder / "seed.hex"))


def test_a_commitment_needs_its_own_seed(committed: Any) -> None:
    with pytest.raises(RefusedError, match="--seed-file"):
        committed.export(n=None)
    (committed.folder / "seed.hex").write_text("0" * 64)
    with pytest.raises(RefusedError, match="committed to"):
        committed.export(n=None, seed_file=str(committed.folder / "seed.hex"))


def test_the_declared_size_holds(committed: Any) -> None:
    with pytest.raises(UsageError, match="fixed sample"):
        committed.export(n=9, seed_file=str(committed.folder / "seed.hex"))


def test_a_size_is_needed(shop: Any) -> None:
    with pytest.raises(UsageError, match="--n N"):
        shop.export(n=None)


def test_a_stratum_with_fewer_calls_gives_all_it_has(restock: Any, tmp_path: Path) -> None:
    shop = restock(tmp_path, "strata: [state, tool]\nsample: {n: {'state=denied,tool=Bash': 99}}\n")
    done = shop.export(n=None)
    assert done.drawn == {"state=denied,tool=Bash": done.available["state=denied,tool=Bash"]}


def test_a_draw_of_nothing_is_refused_and_chains_nothing(restock: Any, tmp_path: Path) -> None:
    shop = restock(tmp_path, "strata: [tool]\nsample: {n: {'tool=Nothing': 9}}\n")
    before = read_chain(shop.desk.root)
    with pytest.raises(RefusedError, match=r"draws 0 of 60 calls.*tool=Bash, tool=Read"):
        shop.export(n=None)
    assert read_chain(shop.desk.root) == before
    assert not (shop.folder / "form.csv").exists()
    assert not (shop.folder / "keys").exists()


def test_a_window_that_is_not_closed_is_refused(restock: Any, tmp_path: Path) -> None:
    shop = restock(tmp_path, "strata: [state]\n", calls=3)
    os.unlink(Path(shop.desk.folder) / "w1.close.json")
    with pytest.raises(RefusedError, match="is not there"):
        shop.export()
    with pytest.raises(EvalkitError, match="no declaration"):
        shop.export(window="other")


def test_a_ledger_changed_since_closing_is_refused(shop: Any) -> None:
    path = next(Path(shop.desk.root).glob("sessions/session-0.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    with pytest.raises(RefusedError, match="closed was"):
        shop.export()


def test_an_edited_close_record_is_refused(shop: Any) -> None:
    path = Path(shop.desk.folder) / "w1.close.json"
    path.write_bytes(path.read_bytes().replace(b'"rows":60', b'"rows":61'))
    with pytest.raises(RefusedError, match="close record was edited"):
        shop.export()
