"""Plain text read without the grammar, against the grammar's reading of the same."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate.gate.shell import parse, straight
from toolgate.gate.shell.model import Word
from toolgate.gate.shell.plain import MAX_CHARACTERS, read_plain

HERE = {"cwd": "/home/dev/app", "home": "/home/dev"}
WORDS = st.sampled_from(
    (
        *("ls", "git", "-la", "--all", "a/b.py", "*.py", "~", "~/x", "a{b,c}", "{}", "'a b'", "20"),
        *(
            '"c d"',
            "'$x'",
            '"a\\"b"',
            "x'y'z",
            '--m="a b"',
            "-20",
            r"\(",
            r"\;",
            "a=b",
            "@{u}",
            "''",
        ),
    )
)
FIRST = st.sampled_from(["ls", "cd", "git", "./run", "/bin/cat", "echo", "cd sub", "pushd /tmp"])
REDIRECTS = st.sampled_from(["2>&1", ">out.txt", "> out.txt", "2>/dev/null", "< in", ">>'a b'"])
COMMANDS = st.builds(
    lambda first, words, redirects, blank: blank.join([first, *words, *redirects]),
    FIRST,
    st.lists(WORDS, max_size=4),
    st.lists(REDIRECTS, max_size=2),
    st.sampled_from([" ", " ", "  ", " \\\n  ", " \\\n"]),
)
PIPELINES = st.lists(COMMANDS, min_size=1, max_size=3).map(" | ".join)
LISTS = st.lists(
    st.tuples(PIPELINES, st.sampled_from([" && ", " || ", "; ", ";", "\n", "\n\n", " && \\\n"])),
    min_size=1,
    max_size=4,
)


def left_in_doubt(parts):
    """Say whether a line follows one with a pipeline of three: there the grammar is in doubt."""
    long = False
    for pipeline, operator in parts[:-1]:
        long = long or pipeline.count(" | ") == 2
        if long and "\n" in operator.replace("\\\n", ""):
            return True
        long = long and operator.strip() != ";"
    return False


@settings(max_examples=300, deadline=None)
@given(LISTS)
def test_it_is_what_the_grammar_reads(parts):
    text = "".join(pipeline + operator for pipeline, operator in parts)[: -len(parts[-1][1])]
    doubtful = left_in_doubt(parts)
    assert (read_plain(text) is None) == doubtful
    if doubtful:
        return
    # Braces say what binds: in a list the grammar takes some pipelines to hold what is before.
    # And it takes some line ends for blanks.
    grouped = "".join(f"{{ {pipeline}; }}{operator}" for pipeline, operator in parts)
    grouped = grouped[: -len(parts[-1][1])]
    assert read_plain(grouped) is None
    plain, grammar = parse.read(text, **HERE), parse.read(grouped, **HERE)
    assert plain == grammar


NEEDS_GRAMMAR = [
    *(
        "",
        " ",
        "a &&",
        "a |",
        "a; b |",
        "| a",
        "a | | b",
        "a ;; b",
        "a & b",
        "a &",
        "a &&\nb",
        "a |\nb",
        "a #b",
    ),
    *("$x", "a $(b)", "a `b`", 'a "$x"', 'a "`b`"', "a 'b", 'a "b', "(a)", "{ a; }", "! a", "a > "),
    *("if a; then b; fi", "x=1", "x=1 a", "a=(b)", "[ -f a ]", "[[ a ]]", "export A=b", "time a"),
    *("a <<E", "a <<<b", "a <(b)", "a 2>&-", "a >&2-x &", "*x", "~/x", "{a,b}", "a\\ b", "a{}\\;"),
    *("a *2>&1", "a 0>b", "a b3>c", "a {,b}'c'", "a { } b", "a >[ b", "a == b", ">b a", "100%a"),
    *("a | b | c\nd", "a | b | c && d\n\ne >f"),
    *("\u00e9", "a \u00e9", "'a'2>b", "a > > b", "> a", "a" * (MAX_CHARACTERS + 1)),
]


@pytest.mark.parametrize("text", NEEDS_GRAMMAR, ids=lambda text: repr(text[:20]))
def test_what_is_not_plain_is_left_to_the_grammar(text):
    assert read_plain(text) is None


PRECEDENCE = [
    "cd /srv && find . 2>/dev/null | sort > out.txt",
    "cd /srv && a | b | c > out.txt",
    "cd /srv || a | b | c > out.txt",
]


@pytest.mark.parametrize("text", PRECEDENCE)
def test_a_pipeline_in_a_list_does_not_take_in_what_is_before_it(text):
    script = parse.read(text, **HERE)
    assert script.cwd in ("/srv", "")
    assert not script.commands[0].piped
    assert script.commands[-1].cwd == script.cwd
    assert script.commands[-1].stdin == (len(script.commands) - 2,)


@pytest.mark.parametrize("text", ["'" * 4_000, "a" * 4_000 + "'", "a |" * 1_300, '"\\' * 2_000])
def test_hostile_text_takes_little_time(text):
    def spent():
        begun = time.process_time()
        read_plain(text)
        return time.process_time() - begun

    assert min(spent() for _ in range(5)) < 0.05


STRAIGHT = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from(
                (
                    *("cd", "cd sub", "cd ..", "cd /srv", "cd -", "ls a*", "rm {a,b} >x", "exit 1"),
                    *("return", "cat <f 2>&1", "echo 'a b' ~/x", "./run", "pushd x", "source y"),
                )
            ),
            min_size=1,
            max_size=3,
        ).map(" | ".join),
        st.sampled_from([" && ", " || ", "; ", "\n"]),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(STRAIGHT)
def test_a_straight_text_is_read_as_the_walk_reads_it(parts):
    text = "".join(pipeline + operator for pipeline, operator in parts)
    here = HERE | {"arguments": (Word("run"), Word("a"))}
    at_once = parse.read(text, **here)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(straight, "is_straight", lambda program: False)
        assert parse.read(text, **here) == at_once


BODIES = st.lists(
    st.sampled_from(
        ["a b", "", "$x `y` $(z)", "it's", 'say "no', "EOFS", " EOF", "\\", ")", "é…", "#"]
    ),
    max_size=4,
).map(lambda lines: "".join(line + "\n" for line in lines))
QUOTING = st.one_of(
    st.builds(lambda body: f"git commit -m \"$(cat <<'EOF'\n{body}EOF\n)\"", BODIES),
    st.builds(lambda body: f"cat > 'a b' <<'EOF'\n{body}EOF", BODIES),
    st.builds(lambda body: f'python3 - x << "EOF"\n{body}EOF', BODIES),
    st.sampled_from(['grep -v "^$"', 'echo "a $"', "ls a*", "cd sub", "cat f 2>&1"]),
)
QUOTED = st.lists(
    st.tuples(QUOTING, st.sampled_from([" && ", " || ", "; ", "\n", " > o.txt\n"])),
    min_size=1,
    max_size=3,
)


def by_grammar(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "read_plain", lambda text, work=None: None)
        return parse.read(text, **HERE)


@settings(max_examples=400, deadline=None)
@given(QUOTED)
def test_here_documents_are_read_as_the_grammar_reads_them(parts):
    text = "".join(quoting + operator for quoting, operator in parts)
    assert parse.read(text, **HERE) == by_grammar(text)


@settings(max_examples=300, deadline=None)
@given(
    COMMANDS,
    st.sampled_from(["a b", "$x", "it's", "\\", "a\nb; c | d", ""]),
    st.sampled_from("'\""),
)
def test_an_open_quotation_is_read_as_the_grammar_reads_it_closed(command, said, mark):
    text = f"{command} && git commit -m {mark}{said}"
    assert parse.read(text, **HERE) == by_grammar(text)


@pytest.mark.parametrize(
    "text",
    [
        "a <<'E'\n" * 2_000,
        "a \"$(cat <<'E'\n" * 2_000,
        "a <<'E'\nx" + "\nEx" * 8_000,
        "a " * 16_000 + "*" * 500,
        '"$' * 8_000,
    ],
)
def test_hostile_here_documents_take_little_time(text):
    def spent():
        begun = time.process_time()
        read_plain(text)
        return time.process_time() - begun

    assert min(spent() for _ in range(5)) < 0.05
