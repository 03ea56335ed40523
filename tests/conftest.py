"""How pytest-xdist shares out the tests, and databases for those of the collector.

Tests go out by file, those of Spark all to one worker, and those of the studio too: so what tests
share is made once, and one Java machine is started, one wheel built, one browser opened. The mark
`xdist_group` does neither: xdist 3.8 writes the group into a node's id where pytest 9.2 no longer
reads it.
"""

import gc
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

from helpers import sizes
from helpers.loggers import restored_loggers
from helpers.postgres import PostgresServer, find_postgres

if TYPE_CHECKING:
    from xdist.remote import Producer

# Scopes whose tests wait for processes and browsers, or fit much: they go out before short ones,
# so that no worker has a long file left when the others are done.
LONG = ("spark", "tests/audit", "tests/cli", "tests/collector", "tests/golden", "tests/js")
LONG += ("tests/planted", "tests/shuffler", "tests/studio", "tests/test_")
GARBAGE = 10_000  # new objects that the garbage collector waits for; Python's own default is 700


class ByFile(LoadScopeScheduling):
    """Tests of one file run on one worker, and so do those of Spark, and those of the studio."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file.startswith("tests/studio/"):
            return "tests/studio"
        return "spark" if "_spark" in PurePosixPath(file).name else file

    def schedule(self) -> None:
        """Give out the first units as xdist does, then those that take long."""
        begins = self.collection is None
        super().schedule()
        if begins:
            rest = sorted(self.workqueue.items(), key=lambda unit: _turn(unit[0]))
            self.workqueue.clear()
            self.workqueue.update(rest)


def _turn(scope: str) -> int:
    """Return when a scope goes out: those of many files first, short ones last."""
    return 0 if scope in ("spark", "tests/studio") else 1 if scope.startswith(LONG) else 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> ByFile | None:
    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


class ExamplesEnd:
    """What examples of servers do to the whole process ends with them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        if not isinstance(item, pytest.DoctestItem):
            yield
            return
        with restored_loggers():
            yield


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ExamplesEnd())  # hooks of this file see the tests beside it alone
    _let_children_take_interrupts()
    if config.getoption("markexpr") == "not full":
        sizes.quick_run()


def _let_children_take_interrupts() -> None:
    """Turn an ignored Ctrl-C, as in `make test &`, into a handler that does nothing.

    A program inherits what its parent ignores, and no handler: those that tests start and send
    Ctrl-C take it as in the foreground, and this process goes on ignoring it.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


def pytest_collection_finish() -> None:
    # Spare the garbage collector all that was collected: it looked at that again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Start the one PostgreSQL of this worker, when the first test asks for it."""
    with PostgresServer(find_postgres()) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty database of each kind, for one test."""
    with _empty_database(request, tmp_path) as url:
        yield url


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def module_database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Return the address of a database of each kind that all tests of a file share."""
    with _empty_database(request, tmp_path_factory.mktemp("database")) as url:
        yield url


@contextmanager
def _empty_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{folder / 'collector.db'}"
        return
    server = request.getfixturevalue("postgres")
    with server.database() as name:
        yield server.url(name)
