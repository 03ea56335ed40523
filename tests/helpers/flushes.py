"""Count how often a process flushes which file: `fsync` and `fdatasync`, seen from below Python.

A library that is loaded first stands between a program and the C library, and writes the name of
every file that is flushed to a log. Run as a program, this module writes to a store and prints what
was flushed in each step; with the setting that must never be, too.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void note(int fd) {
    char link[64], line[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, line, sizeof line - 1);
    const char *path = getenv("FLUSH_LOG");
    if (length < 0 || !path) return;
    line[length++] = '\n';
    int log = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (log >= 0) { ssize_t done = write(log, line, length); (void)done; close(log); }
}
int fsync(int fd) {
    note(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
int fdatasync(int fd) {
    note(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
"""
COMMITS = 12
WAITING = 200


def count_flushes(folder: Path) -> dict[str, int]:
    """Run this module below the counter, and return what it printed; skip where nothing can."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("counting flushes needs Linux and a C compiler: apt-get install gcc")
    source, library = folder / "count.c", folder / "count.so"
    source.write_text(SOURCE)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "FLUSH_LOG": str(folder / "flushes"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "helpers.flushes", str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main(folder: Path) -> None:
    """Write to stores, and print how often their logs were flushed."""
    from helpers.campaigns import signed_campaign
    from helpers.submissions import submission
    from shoal.collector.store import Store
    from shoal.service import GroupCommit, database

    def flushed(name: str) -> int:
        log = Path(os.environ["FLUSH_LOG"])
        return log.read_text().splitlines().count(str(folder / name)) if log.exists() else 0

    async def submit_all(store: Store) -> None:
        async with GroupCommit(store) as writer:
            waiting = (writer.submit(submission("homes", number)) for number in range(WAITING))
            await asyncio.gather(*waiting)

    found = {}
    with Store.open(f"sqlite:///{folder}/full.db") as store:
        store.add_campaign(signed_campaign("homes"))
        before = flushed("full.db-wal")
        for number in range(COMMITS):
            store.append([submission("homes", -1 - number)])
        found["commits"] = flushed("full.db-wal") - before
        before = flushed("full.db-wal")
        asyncio.run(submit_all(store))
        found["waiting"] = flushed("full.db-wal") - before
    # The planted bug: a log that is flushed at checkpoints only.
    with contextlib.ExitStack() as planted:
        for settings in (database.SQLITE_PRAGMAS, database.SQLITE_DURABLE):
            planted.enter_context(mock.patch.dict(settings, {"synchronous": 1}))
        with Store.open(f"sqlite:///{folder}/normal.db") as store:
            store.add_campaign(signed_campaign("homes"))
            before = flushed("normal.db-wal")
            for number in range(COMMITS):
                store.append([submission("homes", number)])
            found["planted"] = flushed("normal.db-wal") - before
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
