"""Whatever a policy of the public toolgate says, each key gets its line and the result is sound."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.bases import bases_beside
from toolgate.gate.policy.compile import whole_source
from toolgate.gate.policy.faults import policy_faults
from toolgate.gate.policy.public import CHANGED, REFUSED, TAKEN, imported

KEYS = (
    *("rules", "thresholds", "fail_mode", "unattended", "questions", "trusted_hosts"),
    *("trusted_tools", "limits", "gated_tools", "backend", "audit", "other"),
    *("match", "action", "reason", "tool", "input_regex", "ask", "deny", "authorized", "modes"),
)
WORDS = ("ask", "deny", "allow", "passthrough", "*", "Bash|Edit", "a(?=b)", "a+", "api.example.com")
ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), ANY, max_size=8))
def test_any_policy_is_read_key_by_key_and_what_comes_of_it_is_sound(body):
    made = imported(body, "imported")
    source = json.dumps(made.body).encode()
    whole = whole_source(source, bases=bases_beside("/nowhere/p.yaml"))
    assert policy_faults(whole) == []
    assert {line.fate for line in made.lines} <= {TAKEN, CHANGED, REFUSED}
    assert all(line.why for line in made.lines)
    for key, value in body.items():
        told = [
            line
            for line in made.lines
            if line.key == key or line.key.startswith((key + ".", key + "["))
        ]
        assert told or value in ([], {}), key
