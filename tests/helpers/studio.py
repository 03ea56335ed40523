"""A studio as users have it: the wheel, unpacked, in a process of its own."""

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from fastapi import FastAPI

from helpers.collector import running_app
from shoal._file_locks import lock_file
from shoal.studio import StudioSettings, Workspace, create_studio

ROOT = Path(__file__).parents[2]
START = "from shoal.cli import main; main()"
READY = "ready "
DATA = ("SHOAL_DATA", "SHOAL_DB", "SHOAL_TOKEN")  # what a test must ask for by itself


def unpacked_wheel(shared: Path) -> Path:
    """Build the wheel once for all workers, and return the folder that holds its files."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: it builds the wheel")
    from hatchling.builders.wheel import WheelBuilder

    folder = shared / "studio-wheel"
    with (shared / "studio-wheel.lock").open("w") as lock:
        lock_file(lock.fileno(), exclusive=True)
        if not folder.exists():
            builder = WheelBuilder(str(ROOT))
            wheel = Path(next(builder.build(directory=str(shared), versions=["standard"])))
            part = shared / "studio-wheel.part"
            with zipfile.ZipFile(wheel) as held:
                held.extractall(part)
            part.rename(folder)
    return folder


@contextmanager
def running_studio(wheel: Path, *arguments: str, **environment: str) -> Iterator[str]:
    """Run ``shoal studio`` from the files of the wheel; yield the address that it prints."""
    with studio_process(wheel, *arguments, **environment) as (address, _):
        yield address


@contextmanager
def studio_process(
    wheel: Path, *arguments: str, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Do the same for a test that ends the process itself."""
    kept = {name: value for name, value in os.environ.items() if name not in DATA}
    process = subprocess.Popen(
        [sys.executable, "-c", START, "studio", "--no-browser", "--port", "0", *arguments],
        env={
            **kept,
            "PYTHONPATH": str(wheel),
            "XDG_CACHE_HOME": str(wheel.parent / "cache"),
            **environment,
        },
        cwd=wheel.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline().strip()
        assert line.startswith(READY), f"the studio did not start: {line!r}"
        yield line.removeprefix(READY), process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=120)  # seconds pass on a busy machine, most of them in the queue
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


class StudioHere(NamedTuple):
    """A studio in a thread of this process, whose workspace tests can reach."""

    workspace: Workspace
    address: str
    client: httpx.Client
    app: FastAPI


@contextmanager
def studio_here(**settings) -> Iterator[StudioHere]:
    """Run a studio in this process: for tables and failures that no request can bring."""
    chosen = StudioSettings(**{"port": 0, **settings})
    workspace = Workspace(chosen)
    app = create_studio(workspace)
    with running_app(app, chosen) as (address, opened):
        opened.headers["Shoal-Studio"] = "1"
        yield StudioHere(workspace, address, opened, app)


def client(address: str) -> httpx.Client:
    """Return a client that may change something, as the pages may."""
    return httpx.Client(base_url=address, headers={"Shoal-Studio": "1"}, timeout=60)


@contextmanager
def studio_in_process(workspace: Workspace) -> Iterator[str]:
    """Serve a workspace that the test has put tables into; yield its address."""
    settings = replace(workspace.settings, port=0)
    with running_app(create_studio(workspace), settings) as (address, _):
        yield address
