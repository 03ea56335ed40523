"""Files of devices that wait for no disk: what is asked of it is tested in test_device_file."""

import pytest

from shoal.client import device_file


@pytest.fixture(autouse=True)
def no_disk_to_wait_for(request, monkeypatch):
    if "durable" not in request.fixturenames:
        monkeypatch.setattr(device_file, "SYNCHRONOUS", "OFF")
        monkeypatch.setattr(device_file, "sync_folder", lambda folder: None)


@pytest.fixture
def durable():
    """Ask for the disk as a device does."""
