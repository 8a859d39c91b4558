"""Where a chain of authors ends, edge by edge, and what is said of it."""

import msgspec
import pytest
from approved import key, policy, signature

from toolgate.canonical import digest, profile_bytes
from toolgate.verify.authority import Edge, authority_findings, authority_of
from toolgate.verify.keys import Keys
from toolgate.verify.policy import Policy


class Held:
    """Policies that are held, and what is kept as their signatures."""

    def __init__(self, *signed):
        self.texts = {digest(text): text for text, _ in signed}
        self.signatures = {digest(text): signature(text, by) for text, by in signed if by}
        self.asked = 0

    def held(self, version):
        text = self.texts.get(version)
        return None if text is None else msgspec.json.decode(text, type=Policy)

    def signature(self, version):
        self.asked += 1
        return self.signatures.get(version)

    def announced_at(self, version):
        return None


def follow(policies, text, *roots, known=None):
    known = {} if known is None else known
    return authority_of(digest(text), policies, Keys().speaks, roots, known)


ROOT = policy("root", "carol", None, "alice")
MADE = policy("made", "alice", ROOT, "bob")
BELOW = policy("below", "bob", MADE, "alice")


def test_the_ends_of_a_chain():
    sound = Held((ROOT, "carol"), (MADE, "alice"), (BELOW, "bob"))
    found = follow(sound, BELOW)
    assert (found.status, found.end) == ("UNROOTED", digest(BELOW))
    assert found.sentence == "The chain ends at 'carol', whom nobody authorizes."
    assert [(edge.name, edge.fault) for edge in found.edges] == [
        ("bob", None),
        ("alice", None),
        ("carol", None),
    ]
    nameless = policy("nameless", None)
    alone = follow(Held((nameless, None)), nameless)
    assert (alone.status, alone.sentence, alone.edges) == ("UNROOTED", "It names no author.", [])
    gone = follow(Held(), nameless)
    assert (gone.status, gone.sentence) == ("UNROOTED", "It is not held.")
    above = follow(Held((MADE, "alice")), MADE)
    assert above.sentence == f"The chain ends at {digest(ROOT)}, which is not held."
    assert above.edges[0].fault == "the authorizing policy is not held in a readable form"
    child = policy("child", "bob", nameless)
    ends = follow(Held((child, "bob"), (nameless, None)), child)
    assert ends.sentence == f"The chain ends at {digest(nameless)}, which names no author."
    assert ends.end == digest(nameless)


def test_pinned_roots():
    sound = Held((ROOT, "carol"), (MADE, "alice"))
    by_policy = follow(sound, MADE, digest(ROOT))
    assert (by_policy.status, by_policy.end) == ("ROOTED", digest(ROOT))
    assert by_policy.sentence == f"Ends at the pinned policy {digest(ROOT)}."
    by_key = follow(sound, MADE, key("carol").public)
    assert (by_key.status, by_key.end) == ("ROOTED", key("carol").public)
    # What lies above a pinned key is asked for by nobody.
    spared = follow(Held((MADE, "alice")), MADE, key("alice").public)
    assert spared.status == "ROOTED"
    assert authority_findings([spared], lambda _: (), pinned=True) == []


def test_a_root_behind_an_edge_that_is_broken():
    broken = Held((ROOT, "carol"), (MADE, None))
    found = follow(broken, MADE, digest(ROOT))
    assert (found.status, found.end) == ("UNROOTED", digest(ROOT))
    assert found.sentence == (
        f"Leads to the pinned policy {digest(ROOT)}, but not by edges that all recompute."
    )
    seen = authority_findings([found], lambda _: (), pinned=True)
    assert [one.finding.code for one in seen] == [
        "entries.authority_edge",
        "entries.authority_unrooted",
    ]
    assert seen[0].finding.message == (
        "the claim that 'alice' wrote it fails: the policy is not signed"
    )


def loop(name, first, second, *, unsigned=False):
    """A policy that a chain of two authorizes, whose last author comes again."""
    bottom = policy("bottom", first, None, second)
    middle = policy("middle", second, bottom, first)
    top = policy(name, first, middle)
    signed = [(bottom, first), (middle, second), (top, None if unsigned else first)]
    return Held(*signed), top, bottom


def test_loops():
    policies, top, bottom = loop("top", "alice", "bob")
    found = follow(policies, top)
    assert (found.status, found.end) == ("LOOP_CLOSES", digest(bottom))
    assert found.sentence == (
        f"The chain of authors comes back to 'alice'; its genesis is policy {digest(bottom)}. "
        "Every edge recomputes, so trust rests on this loop and not on a writer."
    )
    policies, top, bottom = loop("top", "alice", "bob", unsigned=True)
    found = follow(policies, top)
    assert (found.status, found.end) == ("LOOP_OPEN", digest(bottom))
    assert found.sentence == (
        "The chain of authors comes back to 'alice', but not every edge recomputes, so the loop "
        "carries no trust."
    )
    [fault, *_] = authority_findings([found], lambda _: (), pinned=False)
    assert fault.finding.code == "entries.authority_loop"


@pytest.mark.parametrize(
    ("name", "signer"), [("alice", "alice 2"), ("alias", "alice")], ids=["name", "key"]
)
def test_a_loop_comes_back_to_a_name_or_to_a_key(name, signer):
    bottom = policy("bottom", name, None, "bob").replace(
        key(name).public.encode(), key(signer).public.encode(), 1
    )
    middle = policy("middle", "bob", bottom, "alice")
    top = policy("top", "alice", middle)
    found = follow(Held((bottom, signer), (middle, "bob"), (top, "alice")), top)
    assert [edge.name for edge in found.edges] == ["alice", "bob", name]
    assert [edge.fault for edge in found.edges] == [None] * 3
    assert found.status == "LOOP_CLOSES"


def test_two_edges_of_one_author_are_a_loop():
    bottom = policy("bottom", "alice", None, "alice")
    top = policy("top", "alice", bottom)
    assert follow(Held((bottom, "alice"), (top, "alice")), top).status == "LOOP_CLOSES"
    assert follow(Held((bottom, "alice")), bottom).status == "UNROOTED"


def test_an_author_without_a_key_in_the_policy_above():
    above = policy("above", "carol", None, "dan", principals={})
    made = policy("made", "dan", above)
    [edge, _] = follow(Held((above, "carol"), (made, "dan")), made).edges
    assert edge.fault == "the key is none that the authorizing policy gives 'dan'"
    stranger = policy("stranger", "eve", above)
    [edge, _] = follow(Held((above, "carol"), (stranger, "eve")), stranger).edges
    assert edge.fault == "'eve' is none of the authors that the authorizing policy names"


GOOD = {"key": key("carol").public, "sig": key("carol").sign(digest(ROOT).encode())}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (None, "the policy is not signed"),
        (b"{", "the signature is "),
        (b"[]", "the signature is not an object of key and sig"),
        (b'"key"', "the signature is not an object of key and sig"),
        ({**GOOD, "more": 1}, "the signature is not an object of key and sig"),
        ({"key": GOOD["key"]}, "the signature is not an object of key and sig"),
        ({**GOOD, "key": "carol"}, "the signature is not an object of key and sig"),
        ({**GOOD, "sig": "x"}, "the signature is not an object of key and sig"),
        (
            {**GOOD, "key": key("eve").public},
            f"it is signed with {key('eve').public}, which is not the author's key",
        ),
        ({**GOOD, "sig": key("carol").sign(b"x")}, "the signature does not verify"),
    ],
)
def test_signatures_that_are_none(data, fault):
    policies = Held((ROOT, "carol"))
    assert follow(policies, ROOT).edges[0].fault is None
    kept = data if data is None or isinstance(data, bytes) else profile_bytes(data)
    policies.signatures[digest(ROOT)] = kept
    assert str(follow(policies, ROOT).edges[0].fault).startswith(fault)


def test_an_edge_is_recomputed_once():
    policies, known = Held((ROOT, "carol"), (MADE, "alice"), (BELOW, "bob")), {}
    for text in (ROOT, MADE, BELOW, BELOW):
        follow(policies, text, known=known)
    assert policies.asked == 3
    assert all(type(edge) is Edge for edge in known.values())


def test_a_fault_of_a_loop_is_told_as_one_although_another_chain_has_it_first():
    bottom = policy("bottom", "alice", None, "bob")
    middle = policy("middle", "bob", bottom, "alice")
    top = policy("top", "alice", middle)
    policies = Held((bottom, None), (middle, "bob"), (top, "alice"))
    chains = [follow(policies, middle), follow(policies, top)]
    assert [one.status for one in chains] == ["UNROOTED", "LOOP_OPEN"]
    seen = authority_findings(chains, lambda _: (), pinned=False)
    assert [(one.finding.code, one.finding.entry) for one in seen] == [
        ("entries.authority_loop", digest(bottom))
    ]


def test_an_author_who_governs_nobody_else():
    found = follow(Held((ROOT, "carol")), ROOT)
    for governed in (["carol"], ["user:carol"], ["dan", "carol"]):
        [one] = authority_findings([found], lambda _, who=governed: who, pinned=False)
        assert one.finding.code == "entries.authority_self"
        assert one.finding.message == (
            "only 'carol' wrote it, and it decides over calls of 'carol'"
        )
    assert authority_findings([found], lambda _: ["dan"], pinned=False) == []
    rooted = follow(Held((ROOT, "carol")), ROOT, digest(ROOT))
    assert authority_findings([rooted], lambda _: ["carol"], pinned=True) == []
