"""Whatever people sign and agents try: what the writer lets through, the verifier accepts."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from lifted import ANSWERS, OPEN, SHIPPED, Counter

from toolgate.canonical import digest_of
from toolgate.verify import verify

RULES = ["may-ask", "may-deny", "milder", "default"]
STEPS = st.one_of(
    st.tuples(st.just("try"), st.sampled_from(RULES), st.sampled_from("xy")),
    st.tuples(
        st.just("sign"),
        st.sampled_from(["alice", "bob"]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from([1, 500_000_000, 3_600_000_000, 7_200_000_000]),
    ),
    st.tuples(st.just("refuse"), st.sampled_from(["alice", "bob"]), st.sampled_from(["x", None])),
    st.tuples(st.just("turn")),
    st.tuples(st.just("wait")),
)


def play(desk, steps):
    """Play some steps; return how many calls were let through."""
    through = 0
    for number, (step, *more) in enumerate(steps):
        if step == "try":
            rule, args = more
            state = "denied" if ANSWERS[rule] == "deny" else "asked"
            if desk.retry(f"c{number}", rule, state=state, args=args).allowed:
                desk.done(f"c{number}", args=args)
                through += 1
        elif step in ("sign", "refuse"):
            by, args, *length = more
            desk.let(
                by,
                args_digest=None if args is None else digest_of(args),
                verdict="approve" if step == "sign" else "refuse",
                expiry=desk.ts + 1000 + (length[0] if length else 1),
            )
        elif step == "turn":
            desk.prompt(f"p{number}")
        else:
            desk.ts += 400_000_000
    return through


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=14), st.sampled_from(["dag", "linear"]))
def test_what_the_writer_lets_through_verifies(steps, shape):
    with TemporaryDirectory() as folder:
        desk = Counter(folder, "s", OPEN, shape=shape)
        desk.prompt("p")
        desk.say("first", "denied", rule="may-deny", args="z")
        through = play(desk, steps)
        desk.close()
        report = verify(folder)
        assert report.findings == []
        lines = (Path(folder) / "spine-000000000001.jsonl").read_bytes().splitlines()
        cited = [
            entry
            for line in lines
            for entry in (json.loads(line)["ev"].get("details") or {}).get("approvals", [])
        ]
        assert len(cited) == len(set(cited)) == through


def test_the_same_steps_do_more_where_more_may_be_lifted():
    """So that the law above is not kept by letting nothing through."""
    steps = [("try", "may-ask", "x"), ("sign", "bob", "x", 10_000), ("try", "may-ask", "x"),
             ("sign", "bob", None, 10_000), ("try", "milder", "y"), ("try", "may-deny", "y"),
             ("sign", "bob", "y", 10_000), ("try", "may-deny", "y")]  # fmt: skip
    with TemporaryDirectory() as folder:
        desk = Counter(folder, "s", SHIPPED)
        desk.prompt("p")
        assert play(desk, steps) == 3
