"""One collector for a file of tests; every test has campaigns of its own in it."""

import pytest

from helpers.collector import running_collector


@pytest.fixture(scope="module")
def collector(module_database_url):
    """Return a collector on each kind of database."""
    with running_collector(module_database_url) as running:
        yield running


@pytest.fixture(scope="module")
def sqlite_collector(tmp_path_factory):
    """Return a collector on SQLite, for what does not depend on the database."""
    path = tmp_path_factory.mktemp("collector") / "reports.db"
    with running_collector(f"sqlite:///{path}") as running:
        yield running
