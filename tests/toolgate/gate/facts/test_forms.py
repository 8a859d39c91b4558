"""Every form in which a file written earlier is run, and every form in which it is only named."""

import json

import pytest

from .session import CWD, Session, codes

PYTHON = "import shutil\nshutil.rmtree('/home/dev')\n"
NODE = "require('child_process').execSync('rm -rf ~')\n"
SHELL = "#!/bin/bash\nrm -rf ~\n"
GO = (
    'package main\nimport "os/exec"\nfunc main() { exec.Command("rm", "-rf", "/home/dev").Run() }\n'
)
MAKE = "all:\n\trm -rf ~\n\nclean:\n\techo hi\n"
RUN = {"executes_artifact", "pending_write", "unread_artifact"}
DENIED, ASKED = "deny", "ask"


@pytest.fixture
def session(gate):
    return Session(gate)


def package(**scripts):
    return json.dumps({"scripts": scripts})


BAD = "rm -rf ~"
FORMS = {
    "operand": ("x.sh", SHELL, "bash x.sh"),
    "redirected": ("x.sh", SHELL, "bash < x.sh"),
    "piped": ("x.sh", SHELL, "cat x.sh | sh"),
    "substituted": ("x.sh", SHELL, 'eval "$(cat x.sh)"'),
    "required": ("x.js", NODE, "node -e \"require('./x.js')\""),
    "imported": ("x.mjs", NODE, "node --input-type=module -e \"import('./x.mjs')\""),
    "after a newline": ("x.sh", SHELL, "echo hi\n./x.sh"),
    "after &": ("x.sh", SHELL, "sleep 1 & ./x.sh"),
    "after an assignment": ("x.sh", SHELL, "X=1 ./x.sh"),
    "timeout": ("x.sh", SHELL, "timeout 5 ./x.sh"),
    "nice": ("x.sh", SHELL, "nice -n 5 ./x.sh"),
    "sudo -u": ("x.sh", SHELL, "sudo -u bob ./x.sh"),
    "then": ("x.sh", SHELL, "if true; then ./x.sh; fi"),
    "negated": ("x.sh", SHELL, "! ./x.sh"),
    "subshell": ("x.sh", SHELL, "(./x.sh)"),
    "interpreter by path": ("x.sh", SHELL, "/bin/bash x.sh"),
    "versioned interpreter": ("x.py", PYTHON, "python3.12 x.py"),
    "interpreter's options": ("x.sh", SHELL, "bash -o errexit x.sh"),
    "awk -f": ("x.awk", 'BEGIN { system("rm -rf ~") }\n', "awk -f x.awk data"),
    "source then call": ("lib.sh", "f() { rm -rf ~; }\n", "source lib.sh; f"),
    "source, then a line": ("lib.sh", "function f { rm -rf ~; }\n", "source lib.sh\nf"),
    "sourced over a program": ("lib.sh", "ls() { rm -rf ~; }\n", "source lib.sh; ls"),
    "sourced alias": ("lib.sh", "alias ls='rm -rf ~'\n", "source lib.sh\nls"),
    "no extension": ("deploy", "#!/bin/sh\nrm -rf ~\n", "./deploy"),
    "shebang after chmod": ("t", "#!/usr/bin/env python3\n" + PYTHON, "chmod +x t && ./t"),
    "make": ("Makefile", MAKE, "make"),
    "make -f": ("own.mk", MAKE, "make -f own.mk"),
    "make -f, attached": ("own.mk", MAKE, "make -fown.mk all"),
    "make -f, other name": ("Makefile.ci", MAKE, "make --file=Makefile.ci all"),
    "make, shell as it is read": ("Makefile", "X := $(shell rm -rf ~)\nall:\n\techo\n", "make all"),
    "make, rule by pattern": ("Makefile", "%.o: %.c\n\trm -rf ~\n", "make a.o"),
    "npm run": ("package.json", package(build=BAD), "npm run build"),
    "npm test": ("package.json", package(pretest=BAD), "npm test"),
    "yarn": ("package.json", package(x=BAD), "yarn x"),
    "pnpm": ("package.json", package(x=BAD), "pnpm x"),
    "node --run": ("package.json", package(x=BAD), "node --run x"),
    "npm version": ("package.json", package(preversion=BAD), "npm version patch"),
    "npm --prefix": ("web/package.json", package(x=BAD), "npm --prefix web run x"),
    "npm -w": ("web/package.json", package(x=BAD), "npm run x -w web"),
    "pnpm -C": ("web/package.json", package(x=BAD), "pnpm -C web x"),
    "composer": (
        "composer.json",
        '{"scripts": {"post-install-cmd": "rm -rf ~"}}',
        "composer install",
    ),
    "CI, run here": (
        ".github/workflows/ci.yml",
        "jobs:\n  a:\n    steps:\n    - run: rm -rf ~\n",
        "act",
    ),
    "CI, block": (
        ".github/workflows/ci.yml",
        "jobs:\n  a:\n    steps:\n    - name: b\n      run: |\n        echo hi\n        rm -rf ~\n",
        "act",
    ),
    "CI, list": (".gitlab-ci.yml", "a:\n  script:\n    - rm -rf ~\n", "gitlab-runner exec shell a"),
    "git hook": (".git/hooks/pre-commit", SHELL, "git commit -m x"),
    "git hook, pushing": (".git/hooks/pre-push", SHELL, "git push"),
    "hook manager": (
        ".pre-commit-config.yaml",
        "repos:\n- repo: local\n  hooks:\n  - id: a\n    entry: rm -rf ~\n    language: system\n",
        "pre-commit run",
    ),
    "hook manager, by git": (
        "lefthook.yml",
        "pre-commit:\n  commands:\n    a:\n      run: rm -rf ~\n",
        "git commit -m x",
    ),
    "cron": ("jobs", "*/5 * * * * rm -rf ~\n", "crontab jobs"),
    "cron, by a word": ("jobs", "@daily rm -rf ~\n", "crontab - < jobs"),
    "at": ("jobs", BAD, "at now < jobs"),
    "cp then run": ("x.sh", SHELL, "cp x.sh y && bash y"),
    "mv then run": ("x.sh", SHELL, "mv x.sh y && ./y"),
    "ln then run": ("x.sh", SHELL, "ln -s x.sh y && ./y"),
    "cd then relative": ("tools/x.sh", SHELL, "cd tools && ./x.sh"),
    "glob": ("x.sh", SHELL, "bash *.sh"),
    "glob as a program": ("x.sh", SHELL, "./*.sh"),
    "glob in a loop": ("x.sh", SHELL, 'for f in *.sh; do bash "$f"; done'),
    "found files": ("tools/x.sh", SHELL, "find . -name '*.sh' -exec bash {} \\;"),
    "listed files": ("x.sh", SHELL, "ls *.sh | xargs -n1 bash"),
    "variable": ("x.sh", SHELL, "f=x.sh; bash $f"),
    "variable in a loop": ("x.sh", SHELL, "for f in x.sh y.sh; do ./$f; done"),
    "part of it, piped": ("x.sh", SHELL, "head -100 x.sh | bash"),
    "edited, piped": ("x.sh", SHELL, "sed -n p x.sh | sh"),
    "here-string": ("x.sh", SHELL, 'bash <<< "$(cat x.sh)"'),
    "here-document": ("x.sh", SHELL, "bash <<EOF\n$(cat x.sh)\nEOF"),
    "python -m": ("pkg/x.py", PYTHON, "python -m pkg.x"),
    "harmless import": ("x.py", PYTHON, "python -c 'import x'"),
    "import by name": ("x.py", PYTHON, "python -c \"__import__('x')\""),
    "read and run": ("x.py", PYTHON, "python -c \"exec(open('x.py').read())\""),
    "pytest": ("tests/test_x.py", PYTHON, "pytest"),
    "pytest, one file": ("tests/test_x.py", PYTHON, "uv run pytest tests/test_x.py::test_a"),
    "unittest, by module": ("tests/test_x.py", PYTHON, "python -m unittest tests.test_x"),
    "tests of JavaScript": ("src/x.test.ts", NODE, "npx jest"),
    "node without extension": ("x.js", NODE, "node x"),
    "node, a folder": ("index.js", NODE, "node ."),
    "through npx": ("x.ts", NODE, "npx tsx x.ts"),
    "settings that are code": ("webpack.config.js", NODE, "npx webpack"),
    "linter's settings": ("eslint.config.js", NODE, "npx eslint ."),
    "build of a package": ("setup.py", PYTHON, "uv pip install -e ."),
    "application": ("x.py", PYTHON, "uvicorn x:app"),
    "application, option": ("x.py", PYTHON, "celery -A x worker"),
    "tasks": ("Taskfile.yml", "tasks:\n  a:\n    cmds:\n      - rm -rf ~\n", "task a"),
    "just": ("Justfile", "a:\n    rm -rf ~\n", "just a"),
    "processes": ("Procfile", "web: rm -rf ~\n", "foreman start"),
    "settings of a shell": ("x.sh", SHELL, "BASH_ENV=x.sh bash -c true"),
    "installed program": ("node_modules/.bin/jest", SHELL, "npx jest"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_file_would_do_is_what_running_it_does(session, form):
    path, content, command = FORMS[form]
    session.write(path, content)
    decision = session(command)
    assert (decision.state, decision.rule) == (DENIED, "delete-whole-tree"), decision.sentence
    assert "executes_artifact" in codes(decision)
    assert {fact.entry for fact in decision.facts} == {"e1"}


@pytest.mark.parametrize(
    ("path", "content", "command"),
    [
        ("x.go", GO, "go run x.go"),
        ("x.sh", SHELL, "./x*"),
        ("x.sh", SHELL, "bash x.?h"),
        ("x.lua", "os.execute('rm -rf ~')\n", "lua x.lua"),
    ],
)
def test_what_cannot_be_told_apart_or_read_is_asked_about(session, path, content, command):
    session.write(path, content)
    decision = session(command)
    assert decision.state == ASKED
    assert "executes_artifact" in codes(decision)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("x.sh", "cat x.sh"),
        ("x.sh", "grep -n rm x.sh"),
        ("x.sh", "diff x.sh old.sh"),
        ("x.sh", "bash -n x.sh"),
        ("x.js", "node --check x.js"),
        ("x.sh", "head -20 x.sh"),
        ("x.sh", "shellcheck x.sh"),
        ("x.py", "python -m py_compile x.py"),
        ("x.py", "ruff check x.py"),
        ("x.py", "black x.py"),
        ("x.js", "npx eslint x.js"),
        ("x.js", "npx prettier --write x.js"),
        ("x.sh", "chmod +x x.sh"),
        ("x.sh", "git add x.sh && git commit -m 'add x.sh'"),
        ("x.sh", "wc -l *.sh"),
        ("x.sh", "for f in *.sh; do wc -l $f; done"),
        ("x.sh", "find . -name '*.sh' -exec shellcheck {} \\;"),
        ("x.sh", "echo bash x.sh"),
        ("x.sh", "cat x.sh | wc -l"),
        ("x.py", "python other.py x.py"),
        ("own.mk", "make -f own.mk clean"),
        ("own.mk", "make -n -f own.mk"),
        ("package.json", "npm run lint"),
    ],
)
def test_a_reference_is_no_execution(session, path, command):
    content = {"py": PYTHON, "js": NODE, "mk": MAKE, "json": package(build=BAD)}
    session.write(path, content.get(path.rpartition(".")[2], SHELL))
    decision = session(command)
    assert decision.state == "allow", decision.sentence
    if path.startswith("x."):
        assert not codes(decision) & RUN


def test_a_pattern_runs_what_it_names_and_nothing_else(session):
    session.write("tools/x.sh", SHELL)
    session.write("ok/y.sh", "echo hello\n")
    assert session("bash ok/*.sh").state == "allow"
    assert session("bash tools/*.sh").state == DENIED
    assert session("bash tools/*.py").state == "allow"
    session.write("tools/x.sh", "echo hello\n")
    assert session("bash tools/*.sh").state == "allow"
    session.write("tools/z.sh", SHELL, ending="refused")
    assert session("bash tools/*.sh").state == "allow"


def test_a_copy_of_a_build_file_has_its_parts(session):
    session.write("old/package.json", package(build=BAD))
    session("cp old/package.json package.json")
    assert session("npm run build").state == DENIED


def test_a_copy_runs_what_its_origin_runs(session):
    session.write("x.sh", SHELL)
    session.write("y.sh", "bash x.sh\n")
    session("cp y.sh z.sh")
    assert session("bash z.sh").state == DENIED


def test_a_file_of_targets_is_read_as_one(session):
    session.write("own.mk", MAKE)
    assert session("make -f own.mk clean").state == "allow"
    assert session("make -f own.mk all").state == DENIED
    assert session("make -n -f own.mk all").state == "allow"
    session.write("Makefile", "X := $(shell rm -rf ~)\nall:\n\techo\n")
    assert session("make -n").state == DENIED
    session.write("Makefile", f"include own.mk\nother:\n\techo {CWD}\n")
    assert session("make other").state == DENIED
