"""Programs that run another command: what they wrap is judged as if it stood alone."""

import pytest

from toolgate.gate.decision import STRICTNESS

# {} is the command's words, <> the same as one quoted text.
WRAPPERS = [
    *("sudo {}", "sudo -u root {}", "sudo -n -E A=1 {}", "sudo --user=root -- {}", "sudo -i {}"),
    *(
        "sudo -s <>",
        "sudo sh -c <>",
        "sudo su -c <>",
        "doas {}",
        "doas -u root {}",
        "doas sh -c <>",
    ),
    *("su -c <>", "su root -c <>", "su - root -c <>", "su -l --command=<> root"),
    *("su root --session-command <>", "runuser -u x -- {}", "setpriv --reuid=0 {}", "gosu root {}"),
    *("env {}", "env -i PATH=/bin {}", "env -u A {}", "env - {}", "env -S <>", "env -S<>"),
    *("env --split-string=<>", "A=1 {}", "A=1 2>/dev/null {}", "true | A=1 2>/dev/null {}"),
    *("nice {}", "nice -n 5 {}", "nice -5 {}", "nice --adjustment=5 {}", "ionice -c 3 {}"),
    *("nohup {} &", "timeout 5 {}", "timeout -k 5 -s KILL 10 {}", "timeout --foreground 10 {}"),
    *("time {}", "time -p {}", "time A=1 {}", "/usr/bin/time -v {}", "/usr/bin/time -o t -f %e {}"),
    *("time {{ {}; }}", "! {}", "! {{ {}; }}", "coproc {}", "coproc NAME {{ {}; }}"),
    *("stdbuf -oL {}", "stdbuf -o L -e 0 {}", "setsid -w {}", "taskset -c 0 {}", "chrt -f 10 {}"),
    *(
        "numactl -N 0 {}",
        "setarch x86_64 {}",
        "linux32 {}",
        "arch -x86_64 {}",
        "prlimit --cpu=1 {}",
    ),
    *("xargs {} < /dev/null", "echo | xargs -n 1 {}", "parallel {} ::: ''", "parallel ::: <>"),
    *(
        "parallel <> ::: ''",
        "sem {}",
        "find . -maxdepth 0 -exec {} \\;",
        "find . -exec sh -c <> \\;",
    ),
    *(
        "watch {}",
        "watch -n 5 <>",
        "flock /tmp/l {}",
        "flock -n /tmp/l -c <>",
        "flock /tmp/l -c <>",
    ),
    *("bash -c <>", "bash -lc <>", "bash -xec <>", "bash -c -- <>", "bash -c -e <>", "bash -ce <>"),
    *("bash --norc -o pipefail -c <>", "sh -c <>", "zsh -c <>", "dash -c <>", "fish -c <>"),
    *("bash -c '$0 \"$@\"' {}", "bash -c '\"$@\"' _ {}", "bash <<< <>", "echo <> | bash"),
    *("echo <> | sudo bash -s", "bash /dev/stdin <<< <>", "source /dev/stdin <<< <>"),
    *("bash <<'E'\n{}\nE", "cat <<'E' | sh\n{}\nE", "eval {}", "eval <>", "builtin eval <>"),
    *("exec {}", "exec -a x {}", "command {}", "command -p {}", "trap <> EXIT", "busybox {}"),
    *("busybox sh -c <>", "script -c <>", "script -q /dev/null {}", "script -q /dev/null -c <>"),
    *(
        "strace -f {}",
        "strace -f -o out -e trace=file {}",
        "ltrace {}",
        "valgrind {}",
        "perf stat {}",
    ),
    *("f() {{ {}; }}; f", "function f {{ {}; }}; f", 'f() {{ "$@"; }}; f {}', "f() ( {} ); f"),
    *('a=({}); "${{a[@]}}"', 'set -- {}; "$@"', "if true; then {}; fi", "while {}; do :; done"),
    *(
        "for i in 1 2; do {}; done",
        "for ((i=0; i<2; i++)); do {}; done",
        "select x in a; do {}; done",
    ),
    *("case x in x) {} ;; esac", "cat <({})", 'echo "$({})"', "echo `{}`", "echo ${{x:-$({})}}"),
    *("cat <<E\n$({})\nE", "cat <<< $({})", 'cat <<< "$({})" > out', "echo $(( $({}) + 1 ))"),
    *("[[ -n $({}) ]]", "x=$({})", "x=($({}))", "unset $({})", "export x=$({})", "({})"),
    *("true && {}", "false || {}", "true; {}", "true | {}", "true &\n{}", "a | b | c && {}"),
    *("git -c alias.x=!<> x", "systemd-run {}", "systemd-run --user -p X=1 {}", "unshare -r {}"),
    *("nsenter -t 1 -m {}", "chroot / {}", "npm exec -c <>", "npx -c <>", "poetry run {}"),
    *("uv run {}", "pipenv run {}", "bundle exec {}", "nix-shell --run <>", "nix develop -c {}"),
    *("conda run -n x {}", "direnv exec . {}", "mise exec -- {}", "dotenv -e x -- {}"),
    *("ssh-agent {}", "fakeroot {}", "firejail {}", "xvfb-run -a {}", "dbus-run-session -- {}"),
    *("torsocks {}", "proxychains4 -q {}", "caffeinate -i {}", "hyperfine <>", "rlwrap {}"),
    *("entr -r {}", "watchexec -e py {}", "nodemon --exec <>", "tmux new-session -d <>"),
    *("python -c 'import os; os.system(\"<\")'", "perl -e 'system(\"<\")'", "ruby -e '`<`'"),
    *('node -e \'require("child_process").execSync("<")\'', "awk 'BEGIN{{system(\"<\")}}'"),
    *("sed '1e <' x", "tar xf a.tar --to-command <>", "tar cf a --checkpoint-action=exec=<> b"),
]
COMMANDS = [
    "rm -rf /",
    "git push --force origin main",
    "rm -rf src",
    "git reset --hard",
    "cat .env",
]


def _wrap(wrapper: str, command: str) -> str:
    text = wrapper.replace("<>", "\x01").replace('<"', '\x02"').replace("<`", "\x02`")
    text = text.replace("'1e <'", "'1e \x02'").format(command)
    return text.replace("\x01", f"'{command}'").replace("\x02", command)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapper_never_lowers_a_decision(decide, wrapper, command):
    plain, wrapped = decide(command), decide(_wrap(wrapper, command))
    assert STRICTNESS[wrapped.state] >= STRICTNESS[plain.state], wrapped.sentence


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapper_takes_the_command_for_its_own(decide, wrapper):
    """What is wrapped is read, not just feared: the program deleted with is named."""
    decision = decide(_wrap(wrapper, "rm -rf /"))
    assert any(effect.type == "fs.delete" for effect in decision.effects), decision.sentence


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("env -C / rm -rf usr", "/usr"),
        ("env --chdir=/srv rm -rf x", "/srv/x"),
        ("sudo -D / rm -rf usr", "/usr"),
        ("cd / && bash -c 'rm -rf usr'", "/usr"),
        ("cd / && eval rm -rf usr", "/usr"),
        ("bash -c 'rm -rf \"$1\"' _ /usr", "/usr"),
        ("bash -c 'rm -rf \"$0\"' /usr", "/usr"),
        ("a | b | c && cd /; rm -rf usr", "/usr"),
        ("parallel rm -rf {}/x ::: /usr", "/usr/x"),
        ('f() { shift; rm -rf "$1"; }; f a /usr', "/usr"),
        ('x=/usr/a.txt; rm -rf "${x%/*}"', "/usr"),
        ('a=(/usr /x); rm -rf "${a[0]}"', "/usr"),
    ],
)
def test_what_is_wrapped_runs_in_its_own_place(decide, command, path):
    deleted = [e.resource for e in decide(command).effects if e.type == "fs.delete"]
    assert path in deleted


@pytest.mark.parametrize(
    "command",
    [
        "env -i git status",
        "nix develop -c pytest -q",
        "bash -c -e 'ls'",
        "flock l -c 'ls'",
        "script -q /dev/null ls",
        'f() { git "$@"; }; f status',
        "parallel echo {} ::: a b",
        "time { ls; pwd; }",
        "cd sub && bash -c 'rm -rf build'",
        "sh -c 'ls \"$1\"' _ src",
        'run() { echo "+ $*"; "$@"; }; run pytest -q',
        "timeout 60 make test",
    ],
)
def test_wrapped_ordinary_work_is_allowed(decide, command):
    assert decide(command).state == "allow", decide(command).sentence


@pytest.mark.parametrize("command", ["runuser -c ls deploy", "runuser", "env", "flock", "script"])
def test_a_wrapper_without_a_command_gets_a_decision(decide, command):
    assert decide(command).rule != "gate-fault"
