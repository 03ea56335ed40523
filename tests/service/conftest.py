"""A collector stands for every server: it has all parts that servers share."""

import pytest

from helpers.collector import running_collector


@pytest.fixture(scope="module")
def sqlite_collector(tmp_path_factory):
    """Return a collector on SQLite, for what does not depend on the database."""
    path = tmp_path_factory.mktemp("collector") / "reports.db"
    with running_collector(f"sqlite:///{path}") as running:
        yield running
