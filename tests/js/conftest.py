"""One browser, one collector and a server of pages for each file of tests."""

import pytest

from helpers.browser import ROOT, chromium, serving_files
from helpers.collector import running_collector
from helpers.report_page import Question


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    path = tmp_path_factory.mktemp("collector") / "reports.db"
    with running_collector(f"sqlite:///{path}", refresh_seconds=0.01) as running:
        yield running


@pytest.fixture(scope="module")
def files(collector):
    folders = {"/js/": ROOT / "clients/js", "/vectors/": ROOT / "clients/vectors"}
    with serving_files(folders, connect=f"'self' {collector.address}") as serving:
        yield serving


@pytest.fixture
def ask(collector, files):
    return lambda **changed: Question(collector, files, **changed)
