"""Whatever a policy's source says, it compiles or is refused in words. A test without examples."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.errors import PolicyError
from toolgate.gate.bases import bases_beside
from toolgate.gate.policy.compile import compile_policy
from toolgate.gate.policy.faults import _TOP
from toolgate.gate.policy.model import Policy

CATALOG = "sha256:" + "0" * 64
WORDS = (
    *sorted(_TOP),
    *("rule", "decide", "because", "effects", "tools", "type", "when", "text", "mode", "floor"),
    *("override", "of", "owner", "expires", "ask", "deny", "allow", "expect", "command", "input"),
    *("policy", "file", "digest", "balanced", "authorized", "destructive", "trusted_hosts", "x"),
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS), ANY, max_size=8))
def test_any_source_compiles_or_is_refused_in_words(body):
    source = json.dumps({"version": 1, "name": "any", **body}).encode()
    try:
        data = compile_policy(source, CATALOG, bases=bases_beside("/nowhere/p.yaml"))
    except PolicyError as error:
        assert error.faults
        return
    assert Policy(data).name


def test_every_fault_is_told_at_once():
    text = (
        b"version: 1\nname: x\nextra: 1\nfail_mode: open\naxes: {authorized: 2}\n"
        b"names: {trusted_tools: ['*']}\n"
        b"rules:\n  - {rule: r, decide: deny, because: x, when: {text: ['(?=a)']}, floor: 1}\n"
        b"overrides:\n  - {override: o, of: q}\nexamples:\n  - {command: ls, expect: maybe}\n"
    )
    try:
        compile_policy(text, CATALOG)
    except PolicyError as error:
        told = "\n".join(error.faults)
    for part in (
        "unknown key extra",
        "fail_mode",
        "authorized",
        "trusted tool",
        "look-ahead",
        "floor is 1",
        "expires is missing",
        "owner is missing",
        "of is 'q'",
        "expect is 'maybe'",
    ):
        assert part in told
