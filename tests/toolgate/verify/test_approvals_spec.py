"""The page on approvals says what the code does, and its example verifies."""

import json
import re
from importlib.resources import files

from toolgate.approval import CITED, message
from toolgate.canonical import digest, profile_bytes
from toolgate.gate.policy.compose import OPERATORS
from toolgate.records import EVIDENCE, KINDS
from toolgate.signing import verifies
from toolgate.verify import authority
from toolgate.verify.faults import FAULTS
from toolgate.verify.read import decode

TEXT = (files("toolgate") / "spec" / "approvals.md").read_text("utf-8")
BLOCKS = [
    block.encode().strip().split(b"\n")
    for block in re.findall(r"^```\n(.*?)^```", TEXT, re.M | re.S)
]


def test_the_bytes_that_are_signed():
    (signed,), (approval, *_) = BLOCKS
    ev = json.loads(approval)["ev"]
    assert signed == message(ev) == profile_bytes({k: v for k, v in ev.items() if k != "sig"})
    assert verifies(ev["key"], ev["sig"], signed)
    # RFC 8032, section 7.1, test 1
    assert ev["key"].endswith("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


def test_the_example_is_an_answered_ask():
    approval, ask, answer = BLOCKS[1]
    assert all(decode(line) is not None for line in BLOCKS[1])
    asked, made, given = json.loads(ask), json.loads(answer), json.loads(approval)
    event = digest(profile_bytes(asked["ev"]))
    assert given["ev"]["decision_digest"] == event
    assert made["basis"] == [event, digest(approval)]
    assert made["parents"] == sorted([digest(ask), digest(approval)])
    assert made["intent"] == asked["intent"]


def test_every_word_and_finding_is_named():
    codes = [
        fault.code
        for fault in FAULTS
        if fault.code.startswith(("entries.appro", "entries.composition", "entries.authority"))
    ]
    words = [*OPERATORS, *EVIDENCE, CITED, *codes]
    statuses = (authority.ROOTED, authority.LOOP_CLOSES, authority.UNROOTED, authority.LOOP_OPEN)
    assert len(codes) >= 13
    assert [word for word in words if f"`{word}`" not in TEXT] == []
    assert [word for word in statuses if f"| {word} |" not in TEXT] == []
    assert f"{{{', '.join([*KINDS['approval'], 'ts'])}}}" in TEXT
