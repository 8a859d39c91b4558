"""Layer 1, authority: who wrote each policy that decided, and who let them.

An edge leads from a policy to the one that authorizes its author. It counts when
it recomputes: the author's signature over the policy's digest verifies, and the
authorizing policy names the author and gives them that key.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol

from toolgate.canonical import parse
from toolgate.errors import CanonicalizationError
from toolgate.signing import is_key, is_signature, verifies
from toolgate.verify.findings import Seen, finding
from toolgate.verify.policy import Author, Policy

ROOTED, LOOP_CLOSES, UNROOTED, LOOP_OPEN = "ROOTED", "LOOP_CLOSES", "UNROOTED", "LOOP_OPEN"


class Edge(NamedTuple):
    """A policy, its author, and the policy that lets them write it.

    Args:
        policy: the policy's digest.
        name: its author.
        key: the author's key.
        authorizing_policy: the policy above; None where the author claims none.
        fault: why it does not recompute; None if it does.
    """

    policy: str
    name: str
    key: str
    authorizing_policy: str | None
    fault: str | None


class Authority(NamedTuple):
    """Where a policy's authority ends.

    Args:
        policy: the policy's digest.
        status: ROOTED, LOOP_CLOSES, UNROOTED or LOOP_OPEN.
        edges: from the policy upwards, as far as the chain was followed.
        end: the root, the loop's genesis, or the policy at which the chain ends.
        sentence: what that means, for people.
    """

    policy: str
    status: str
    edges: list[Edge]
    end: str
    sentence: str

    def as_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        return {**self._asdict(), "edges": [edge._asdict() for edge in self.edges]}


class Policies(Protocol):
    """The policies a ledger holds."""

    def held(self, version: str) -> Policy | None:
        """Return a policy that is held unaltered, None if there is none."""

    def signature(self, version: str) -> bytes | None:
        """Return what is kept as the author's signature of a policy, None if nothing is."""

    def announced_at(self, version: str) -> int | None:
        """Return the number of the policy_set entry of a policy, None if there is none."""


Speaks = Callable[[str, str, list[str], int | None], bool]
"""Says whether a key speaks for a name, given a policy's keys, at a place on the spine."""


def authority_of(
    version: str,
    policies: Policies,
    speaks: Speaks,
    roots: Collection[str],
    known: dict[str, Edge],
) -> Authority:
    """Follow a policy's chain of authors to its end.

    Args:
        version: the policy's digest.
        policies: the policies the ledger holds.
        speaks: whose keys are whose.
        roots: policy digests and keys that are trusted.
        known: the edges that were recomputed already, by policy.
    """
    edges: list[Edge] = []
    at: str | None = version
    why = ""
    while at is not None:
        if at in roots:
            return _rooted(version, edges, at, f"policy {at}")
        policy = policies.held(at)
        author = None if policy is None else policy.authored_by
        if author is None:
            what = "is not held" if policy is None else "names no author"
            why = f"It {what}." if at == version else f"The chain ends at {at}, which {what}."
            break
        edge = known.get(at) or _edge(at, author, policies, speaks)
        known[at] = edge
        edges.append(edge)
        at = edge.authorizing_policy
        why = f"The chain ends at {edge.name!r}, whom nobody authorizes."
        if edge.key in roots and edge.fault in (None, _NO_POLICY):
            return _rooted(version, edges, edge.key, f"key {edge.key} of {edge.name!r}")
    return _looped(version, edges) or Authority(version, UNROOTED, edges, at or version, why)


def _rooted(version: str, edges: list[Edge], root: str, what: str) -> Authority:
    broken = next((edge for edge in edges if edge.fault not in (None, _NO_POLICY)), None)
    if broken is not None:
        sentence = f"Leads to the pinned {what}, but not by edges that all recompute."
        return Authority(version, UNROOTED, edges, root, sentence)
    return Authority(version, ROOTED, edges, root, f"Ends at the pinned {what}.")


def _looped(version: str, edges: list[Edge]) -> Authority | None:
    """Return the authority of a policy whose chain of authors comes back to itself."""
    bottom = edges[-1] if edges else None
    if bottom is None or not any(
        bottom.name == edge.name or bottom.key == edge.key for edge in edges[:-1]
    ):
        return None
    if all(edge.fault is None for edge in edges):
        status = LOOP_CLOSES
        sentence = (
            f"The chain of authors comes back to {bottom.name!r}; its genesis is policy "
            f"{bottom.policy}. Every edge recomputes, so trust rests on this loop and not on a "
            "writer."
        )
    else:
        status = LOOP_OPEN
        sentence = (
            f"The chain of authors comes back to {bottom.name!r}, but not every edge recomputes, "
            "so the loop carries no trust."
        )
    return Authority(version, status, edges, bottom.policy, sentence)


_NO_POLICY = "the authorizing policy is not held in a readable form"


def _edge(version: str, author: Author, policies: Policies, speaks: Speaks) -> Edge:
    fault = _signature_fault(version, author, policies.signature(version))
    above = author.authorizing_policy
    if fault is None and above is not None:
        policy = policies.held(above)
        if policy is None:
            fault = _NO_POLICY
        elif author.name not in policy.authors:
            fault = f"{author.name!r} is none of the authors that the authorizing policy names"
        elif not speaks(
            author.name,
            author.key,
            policy.principals.get(author.name, []),
            policies.announced_at(version),
        ):
            fault = f"the key is none that the authorizing policy gives {author.name!r}"
    return Edge(version, author.name, author.key, above, fault)


def _signature_fault(version: str, author: Author, data: bytes | None) -> str | None:
    if data is None:
        return "the policy is not signed"
    try:
        body = parse(data)
    except CanonicalizationError as error:
        return f"the signature is {error}"
    if (
        not isinstance(body, dict)
        or body.keys() != {"key", "sig"}
        or not is_key(body["key"])
        or not is_signature(body["sig"])
    ):
        return "the signature is not an object of key and sig"
    if body["key"] != author.key:
        return f"it is signed with {body['key']}, which is not the author's key"
    if not verifies(author.key, body["sig"], version.encode("ascii")):
        return "the signature does not verify"
    return None


def authority_findings(
    found: Collection[Authority], governed: Callable[[str], Collection[str]], *, pinned: bool
) -> list[Seen]:
    """Return what is wrong with the authority of some policies.

    Args:
        found: their authority.
        governed: returns the principals whose calls a policy decided.
        pinned: whether roots were given.
    """
    seen: list[Seen] = []
    told: set[str] = set()

    def add(code: str, policy: str, message: str) -> None:
        seen.append(Seen(finding(code, policy, message)))

    # A loop first: an edge of it that does not recompute is a fault of the loop.
    for one in sorted(found, key=lambda item: item.status != LOOP_OPEN):
        for edge in one.edges:
            if edge.fault is None or edge.policy in told or _spared(one, edge):
                continue
            told.add(edge.policy)
            code = "entries.authority_loop" if one.status == LOOP_OPEN else "entries.authority_edge"
            add(code, edge.policy, f"the claim that {edge.name!r} wrote it fails: {edge.fault}")
        names = {edge.name for edge in one.edges}
        if len(names) == 1 and one.status != ROOTED:
            (name,) = names
            if not {name, f"user:{name}"}.isdisjoint(governed(one.policy)):
                message = f"only {name!r} wrote it, and it decides over calls of {name!r}"
                add("entries.authority_self", one.policy, message)
        if pinned and one.status != ROOTED:
            add("entries.authority_unrooted", one.policy, f"reaches no pinned root: {one.sentence}")
    return seen


def _spared(one: Authority, edge: Edge) -> bool:
    """Say whether what an edge lacks lies above a pinned root, where nothing is asked for."""
    return one.status == ROOTED and edge.fault == _NO_POLICY
