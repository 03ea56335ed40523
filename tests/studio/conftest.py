"""One studio, from the wheel, for a file of tests, and one browser for all of them."""

import pytest

from helpers.browser import chromium, visiting
from helpers.studio import client, running_studio, unpacked_wheel


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


@pytest.fixture(scope="package")
def browser():
    """Yield a browser; it ends with the package, since its event loop is in other tests' way."""
    with chromium() as started:
        yield started


@pytest.fixture
def visit(browser):
    """Yield a fresh context; the test fails if a page wrote an error."""
    with visiting(browser, viewport={"width": 1440, "height": 900}) as opened:
        yield opened
