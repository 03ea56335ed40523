"""One database of each kind for a file of tests; every test has a campaign of its own in it."""

import itertools

import pytest

from helpers.campaigns import signed_campaign
from shoal.collector.store import Store

NAMES = (f"campaign-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def store(module_database_url):
    with Store.open(module_database_url) as opened:
        yield opened


@pytest.fixture
def campaign(store):
    """Return the id of a new campaign."""
    name = next(NAMES)
    store.add_campaign(signed_campaign(name))
    return name


@pytest.fixture
def counted(store):
    """Return the id of a new campaign that takes three reports of a device."""
    name = next(NAMES)
    store.add_campaign(signed_campaign(name, device_ids=True, reports_per_device=3))
    return name
