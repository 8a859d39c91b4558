"""Files that programs look for by themselves and run: build descriptions, settings that are code.

Source: the documentation of each program says where it looks.
"""

from posixpath import basename

_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")


def _settings(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}.config{ending}" for name in names for ending in _SCRIPTS)


_GEMS = ("Gemfile", "gems.rb")
_PROCESSES = ("Procfile", "Procfile.dev")
_COMPOSE = (
    *("Dockerfile", "Containerfile", "compose.yaml", "compose.yml"),
    *("docker-compose.yml", "docker-compose.yaml", "docker-compose.override.yml"),
    "compose.override.yaml",
)
_RUST_BUILD = ("build.rs",)
_PYTHON_BUILD = ("setup.py",)

USUAL: dict[str, tuple[str, ...]] = {
    "pip install": _PYTHON_BUILD,
    "pip wheel": _PYTHON_BUILD,
    "uv pip install": _PYTHON_BUILD,
    "build": _PYTHON_BUILD,
    "inv": ("tasks.py",),
    "invoke": ("tasks.py",),
    "fab": ("fabfile.py",),
    "scons": ("SConstruct",),
    "nox": ("noxfile.py",),
    "doit": ("dodo.py",),
    "waf": ("wscript",),
    "conan": ("conanfile.py",),
    "flask": ("app.py", "wsgi.py"),
    "composer": ("composer.json",),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
    **dict.fromkeys(("bundle", "bundle install", "bundle update", "bundle exec"), _GEMS),
    "bundle check": _GEMS,
    "pod install": ("Podfile",),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "vagrant": ("Vagrantfile",),
    "foreman": _PROCESSES,
    "honcho": _PROCESSES,
    "overmind": _PROCESSES,
    "hivemind": _PROCESSES,
    "docker compose": _COMPOSE,
    "docker-compose": _COMPOSE,
    **dict.fromkeys(("docker compose build", "docker compose up", "docker compose run"), _COMPOSE),
    **dict.fromkeys(("docker compose start", "docker compose create"), _COMPOSE),
    **dict.fromkeys(
        ("cargo build", "cargo b", "cargo check", "cargo c", "cargo test", "cargo t"), _RUST_BUILD
    ),
    **dict.fromkeys(("cargo run", "cargo r", "cargo bench", "cargo clippy"), _RUST_BUILD),
    **dict.fromkeys(("cargo doc", "cargo install", "cargo package"), _RUST_BUILD),
    "pre-commit run": (".pre-commit-config.yaml",),
    "pre-commit": (".pre-commit-config.yaml",),
    "lefthook": ("lefthook.yml", "lefthook.yaml", ".lefthook.yml"),
    "gitlab-runner": (".gitlab-ci.yml",),
    "direnv": (".envrc",),
    "jest": _settings("jest"),
    "vitest": _settings("vitest", "vite"),
    "vite": _settings("vite", "postcss", "tailwind"),
    "webpack": _settings("webpack"),
    "rollup": _settings("rollup"),
    "babel": _settings("babel"),
    "eslint": (*_settings("eslint"), ".eslintrc.js", ".eslintrc.cjs"),
    "prettier": _settings("prettier"),
    "next": _settings("next", "postcss", "tailwind"),
    "nuxt": _settings("nuxt"),
    "astro": _settings("astro"),
    "svelte-kit": _settings("svelte", "vite"),
    "tailwindcss": _settings("tailwind"),
    "postcss": _settings("postcss"),
    "tsup": _settings("tsup"),
    "cypress": _settings("cypress"),
    "playwright": _settings("playwright"),
    "gulp": tuple(f"gulpfile{ending}" for ending in _SCRIPTS),
    "grunt": ("Gruntfile.js", "Gruntfile.cjs"),
}
"""By program, or program and subcommand, the files in the folder it is started in."""

NAMED = frozenset(
    (
        *("bun", "bun run", "deno run", "coverage run", "streamlit", "bats", "electron"),
        *("pm2 start", "pm2 restart", "forever start", "forever", "npx tsx", "npx ts-node"),
        *("npx nodemon", "npx electron", "npx mocha", "node", "tsx", "ts-node", "nodemon"),
        *("pdm run", "hatch run"),
    )
)
"""Programs that run the files among their operands."""

APPLICATIONS = frozenset(
    ("gunicorn", "uvicorn", "hypercorn", "daphne", "granian", "flask", "celery", "flask run")
)
"""Programs that are given a module to load, as ``module:name`` or by an option."""

APPLICATION_OPTIONS = ("-A", "--app")

RUNNERS = frozenset(("npx", "bunx", "pnpx", "yarn", "pnpm", "bun", "npm", "uv", "poetry", "pdm"))
_BETWEEN = frozenset(("exec", "dlx", "x", "run", "tool"))


def tool_of(name: str) -> str:
    """Return the tool a call starts, whoever starts it for the project.

    Args:
        name: program and subcommands as the catalogue has them.
    """
    words = name.split()
    if words[:1] and words[0] in RUNNERS:
        words = [word for word in words[1:] if word not in _BETWEEN] or words[:1]
    return basename(words[0]) if words else ""


def usual_files(name: str) -> tuple[str, ...]:
    """Return the files a call looks for by itself; arguments as of ``tool_of``."""
    if name in USUAL:
        return USUAL[name]
    return USUAL.get(tool_of(name), ())
