"""Inputs made to be slow: time of a decision at n and at 2n, and their ratio.

    python tests/benchmarks/hostile.py [--size CHARACTERS]

Every form is built to about half the longest text that is read, and to all of
it. Linear reading gives a ratio of two; what is refused outright costs next to
nothing. Nothing here fails: the table is for people.
"""

import argparse
import time
from collections.abc import Callable

from toolgate.gate.call import Place, ToolCall
from toolgate.gate.engine import Gate
from toolgate.gate.open import default_gate
from toolgate.gate.shell.source import MAX_CHARACTERS

Form = Callable[[int], str]


def _repeat(piece: str, before: str = "", after: str = "") -> Form:
    return lambda size: before + piece * max(1, (size - len(before)) // len(piece)) + after


FORMS: dict[str, Form] = {
    "one long word": _repeat("a", "echo "),
    "many words": _repeat(" ab", "echo"),
    "many commands": _repeat("a;"),
    "many pipes": _repeat("a|", after="a"),
    "long && chain": _repeat("a&&", after="a"),
    "open substitutions": _repeat("$("),
    "open parentheses": _repeat("("),
    "open braces": _repeat("{ "),
    "open expansions": _repeat("${a:-", "echo "),
    "open double quotes": _repeat('"$(', "echo "),
    "backticks": _repeat("`", "echo "),
    "adjacent backticks": _repeat("`a` ", "echo "),
    "escaped backticks": _repeat("\\`", "echo `", "`"),
    "brace lists": _repeat("{a,b}", "echo "),
    "brace sequences": _repeat("{1..99}", "echo "),
    "nested braces": _repeat("{a,", "echo "),
    "globs": _repeat("*", "rm "),
    "glob brackets": _repeat("[a-z]*", "rm "),
    "backslashes": _repeat("\\", "echo "),
    "continued lines": _repeat("\\\n", "echo "),
    "torn words": _repeat("''", "r", "m"),
    "torn dollars": _repeat("$a/", "echo ", "; echo $x/$y/z"),
    "redirections": _repeat(">f ", "echo "),
    "here-documents": _repeat("<<E ", "cat ", "\nE\n"),
    "here-documents, each with a body": _repeat("cat <<E\nx\nE\n"),
    "one long here-document": _repeat("line $x\n", "cat <<E\n", "E\n"),
    "here-strings": _repeat("<<<a ", "cat "),
    "process substitutions": _repeat("<(a) ", "cat "),
    "assignments": _repeat("a=$a$a;"),
    "doubled variables": _repeat("a=$a$a b=$a$b;", "a=x;"),
    "array appends": _repeat("a+=(x);", "a=();", 'echo "${a[@]}"'),
    "functions": _repeat("f() { a; };", after="f"),
    "functions calling the one before": lambda size: (
        "f0() { a; };"
        + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }};" for n in range(1, size // 24))
        + f"f{size // 24 - 1}"
    ),
    "recursive function": _repeat("f; ", "f() { ", "}; f"),
    "loops": _repeat("for i in 1 2;do a;done;"),
    "nested loops": lambda size: (
        "for i in 1 2 3;do " * min(25, size // 24)
        + _repeat("a;")(size // 2)
        + "done;" * min(25, size // 24)
    ),
    "cases": _repeat("case x in x)a;;esac;"),
    "conditionals": _repeat("if a;then b;fi;"),
    "comments": _repeat("# x\n", after="a"),
    "repaired line ends": _repeat("a|b|c\nd >f\n"),
    "negated groups": _repeat("! { a; }; "),
    "suffix patterns": _repeat("*a", "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo ${x%", "}"),
    "nested eval": _repeat("eval ", after="a"),
    "nested wrappers": _repeat("env ", after="a"),
    "xargs of xargs": _repeat("xargs ", after="a"),
    "find expression": _repeat(" -name x -o", "find ."),
    "find brackets": _repeat("( ", "find . "),
    "find deletes": _repeat(" -type d -empty -delete", "find ."),
    "loops in loops": _repeat("for f in *; do x=$x$f; ", "x=a; "),
    "patch": _repeat("--- a/x\n+++ b/x\n+y\n", "git apply <<E\n", "E\n"),
    "non-ASCII": _repeat("é", "echo "),
    "python code": _repeat("x=1;", "python -c '", "'"),
    "javascript code": _repeat("f();", "node -e '", "'"),
    "sed script": _repeat("s/a/b/;", "sed '", "' f"),
    "awk program": _repeat("{print}", "awk '", "' f"),
    "sql": _repeat("select 1;", "psql -c '", "'"),
    "closing parentheses": _repeat(")"),
    "patterns in parentheses": _repeat("@(a) ", "echo "),
    "tests that never end": _repeat("[ a = "),
    "regular expressions cut off": _repeat("[[ a =~ (x ]];"),
    "groups in a pipe that never ends": _repeat("a | (b) "),
    "pipes without an end": _repeat("cat | "),
    "deep paths": _repeat("a/" * 2_000 + " ", "rm -rf "),
    "a folder up again and again": _repeat("../" * 1_300 + " ", "cat "),
    "changes of directory": _repeat("cd a; "),
    "reads and sends": _repeat("curl -d @x y;"),
    "files written and run": _repeat("echo a>b;sh b;"),
    "texts run in texts": _repeat("bash -c 'bash -c ls';"),
    "substitutions in a here-document": _repeat("$(rm x)\n", "cat >a <<E\n", "E\n"),
    "a script that is written": _repeat("rm -rf b\n", "cat >a.sh <<'E'\n", "E\n"),
    "a program that is written": _repeat("import os;os.remove('a')\n", "cat >a.py <<'E'\n", "E\n"),
    "additions in python": _repeat("a=a+a\n", "python3 -c '", "'"),
    "calls in python": _repeat('open("a","w")\n', "python3 -c '", "'"),
    "backticks in perl": _repeat("`ls`;", "perl -e '", "'"),
    "powershell": _repeat("rm a;", "pwsh -c '", "'"),
    "cmd": _repeat("del a & ", "cmd /c '", "'"),
    "values made of values": lambda size: (
        'python3 -c \'x0="a"\n'
        + "".join(f'x{n}="".join([x{n - 1},x{n - 1}])\n' for n in range(1, size // 32))
        + f"import os\nos.system(x{size // 32 - 1})'"
    ),
    "python started often": _repeat("python3 -c 'print(1)';"),
    "files sourced": _repeat("source a;"),
    "shell started by sed": _repeat("1e ls\n", "sed '", "' f"),
}


def _spent(gate: Gate, text: str) -> float:
    place = Place("/home/dev/app", ("/home/dev/app",), "/home/dev")
    call = ToolCall(
        *("bench", "s", None, None, ("main",), "u", "user", "Bash", {"command": text}, place),
        *(None, None, 0),
    )
    best = 60.0
    for _ in range(3):
        begun = time.process_time()
        gate.decide(call)
        best = min(best, time.process_time() - begun)
    return best


def main() -> None:
    """Print one line a form, the slowest last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=MAX_CHARACTERS - 64, help="characters, at 2n")
    size = parser.parse_args().size
    gate = default_gate()
    rows = []
    for name, form in FORMS.items():
        half, whole = form(size // 2), form(size)
        spent = (_spent(gate, half), _spent(gate, whole))
        rows.append((spent[1], name, len(half), len(whole), spent[0]))
    print(f"{'form':34} {'n':>6} {'2n':>6} {'ms at n':>8} {'ms at 2n':>8} ratio")
    for whole_time, name, half_size, whole_size, half_time in sorted(rows):
        ratio = whole_time / half_time if half_time > 0.0002 else 0.0
        print(
            f"{name:34} {half_size:6} {whole_size:6} {half_time * 1000:8.2f} "
            f"{whole_time * 1000:8.2f} {ratio:5.2f}"
        )


if __name__ == "__main__":
    main()
