"""One studio, from the wheel, for a file of tests, and one browser for all of them."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from helpers.browser import chromium, visiting
from helpers.studio import client, running_studio, unpacked_wheel

_opened, _browsers = ExitStack(), []


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Return the files of the wheel, built once for all workers."""
    base = tmp_path_factory.getbasetemp()
    return unpacked_wheel(base.parent if base.name.startswith("popen-") else base)


@pytest.fixture(scope="module")
def studio(wheel):
    """Yield the address of a running studio."""
    with running_studio(wheel) as address:
        yield address.rstrip("/")


@pytest.fixture
def api(studio):
    """Yield a client of the studio."""
    with client(studio) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser():
    """Return the one browser of all tests here."""
    if not _browsers:
        _browsers.append(_opened.enter_context(chromium()))
    return _browsers[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem):
    """End the browser before tests of elsewhere: its event loop would be in their way."""
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        _browsers.clear()
        _opened.close()


@pytest.fixture
def visit(browser):
    """Yield a fresh context; the test fails if a page wrote an error."""
    with visiting(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened
