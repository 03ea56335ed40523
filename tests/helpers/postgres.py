"""A real PostgreSQL for tests: started when one asks for it, gone when the run is, however it ends.

The server has a temporary folder, a port on 127.0.0.1 and a password of its own; what the machine
itself runs is not touched. PostgreSQL refuses to run as root, so it then runs as ``postgres``.
"""

import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, Self

if TYPE_CHECKING:
    import psycopg

USER = "postgres"
START_SECONDS = 60
# Below the ports that systems give to outgoing connections: still free at a restart.
PORTS = range(20_000, 32_000)
SETTINGS = {
    "autovacuum": "off",
    "listen_addresses": "127.0.0.1",
    "max_connections": "40",
    "shared_buffers": "16MB",
}
# Ends the server and removes its folder once whoever started it is gone, even by SIGKILL.
WATCH = """
cat > /dev/null
kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")" 2> /dev/null
for attempt in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" 2> /dev/null && break; sleep 0.2; done
"""


class PostgresServer:
    """One server, and as many databases in it as tests want."""

    def __init__(self, binaries: Path) -> None:
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-postgres-"))
        self.password = secrets.token_hex(16)
        self.port = free_port()
        self._names = (f"test_{number}" for number in itertools.count())
        self._process: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:
            user = _find_user(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._identity: dict[str, Any] = {
                "user": USER,
                "group": user.pw_gid,
                "extra_groups": [],
            }
        else:
            self._identity = {}
        self._watcher = subprocess.Popen(
            ["sh", "-c", WATCH, "watch", str(self.folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        try:
            self._init()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the server's first process is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The server's first process, parent of all others."""
        assert self._process is not None
        return self._process.pid

    def url(self, database: str) -> str:
        """Return the address of a database, as SQLAlchemy reads it."""
        return f"postgresql+psycopg://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> "psycopg.Connection[tuple[Any, ...]]":
        """Connect without SQLAlchemy; each statement is a transaction of its own."""
        import psycopg

        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=USER,
            password=self.password,
            dbname=database,
            autocommit=True,
        )

    @contextmanager
    def database(self) -> Iterator[str]:
        """Make an empty database; it is dropped at the end, whoever is still connected."""
        name = next(self._names)
        self._execute("CREATE DATABASE {}", name)
        try:
            yield name
        finally:
            if not self.running:  # a test killed it
                self.start()
            self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        log = self.folder / "log"
        settings = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        arguments = [f"--{name}={value}" for name, value in settings.items()]
        with log.open("ab") as end:
            self._process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self._data, *arguments],
                stdout=end,
                **self._calm(end),
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            if not self.running or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start: {log.read_text()[-2000:]}")
            time.sleep(0.02)

    def restart(self) -> None:
        """Shut down in order, as an administrator does, and start again: connections are lost."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait(START_SECONDS)
        self.start()

    def kill(self) -> None:
        """Kill every process of the server at once, as if the machine had lost its power."""
        os.kill(self.pid, signal.SIGSTOP)  # so that it starts no other while they are listed
        children = _children(self.pid)
        for process in (self.pid, *children):
            os.kill(process, signal.SIGKILL)
        assert self._process is not None
        self._process.wait(START_SECONDS)
        while any(is_alive(child) for child in children):
            time.sleep(0.01)

    def stop(self) -> None:
        """End the server and remove all it wrote."""
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()
        if self._process is not None:
            self._process.wait(START_SECONDS)
        self._watcher.wait(START_SECONDS)

    def _init(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password)
        if self._identity:
            os.chown(secret, _find_user(USER).pw_uid, -1)
        log = self.folder / "log"
        options = [f"--username={USER}", f"--pwfile={secret}", "--auth=scram-sha-256"]
        with log.open("ab") as end:
            made = subprocess.run(
                [
                    self.binaries / "initdb",
                    "-D",
                    self._data,
                    *options,
                    "--no-sync",
                    "--no-locale",
                    "-EUTF8",
                ],
                stdout=end,
                **self._calm(end),
                check=False,
            )
        if made.returncode:
            raise RuntimeError(f"initdb fails: {log.read_text()[-2000:]}")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _calm(self, log: Any) -> dict[str, Any]:
        """Return how processes start: without rights, settings or interrupts of the tests."""
        return {
            "cwd": self.folder,
            "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            "stderr": log,
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,
            **self._identity,
        }

    def _ready(self) -> bool:
        """Read what pg_ctl reads: the first line is the process, the last one its state."""
        try:
            lines = (self._data / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return False
        return bool(lines) and lines[0] == str(self.pid) and lines[-1] == "ready"

    def _execute(self, statement: LiteralString, name: str) -> None:
        from psycopg import sql

        with self.connect() as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


def find_postgres() -> Path:
    """Return the folder of PostgreSQL's programs, or skip the test where it cannot run."""
    import pytest

    pytest.importorskip("psycopg", reason="needs psycopg: pip install '.[serve]'")
    if not hasattr(os, "geteuid"):
        pytest.skip("PostgreSQL is started as a user of Unix")
    if (found := postgres_programs()) is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    if os.geteuid() == 0 and not _is_user(USER):
        pytest.skip(f"PostgreSQL refuses to run as root, and there is no user {USER}")
    return found


def postgres_programs() -> Path | None:
    """Return the folder of the newest PostgreSQL's programs, if there is one."""
    # Debian keeps programs of each version apart, and off the path.
    folders = list(Path("/usr/lib/postgresql").glob("*/bin"))
    folders.sort(key=lambda folder: int(folder.parent.name), reverse=True)
    if on_path := shutil.which("initdb"):
        folders.insert(0, Path(on_path).resolve().parent)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def is_alive(process: int) -> bool:
    """Whether it runs: one that nobody has waited for is dead, too."""
    return _stat(process)[:1] not in ([], ["Z"])


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on, and that no connection is given."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _find_user(name: str) -> Any:
    import pwd  # which Windows lacks

    return pwd.getpwnam(name)


def _is_user(name: str) -> bool:
    try:
        _find_user(name)
    except KeyError:
        return False
    return True


def _children(parent: int) -> list[int]:
    """Return the processes that this one started."""
    everyone = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    return [process for process in everyone if _stat(process)[1:2] == [str(parent)]]


def _stat(process: int) -> list[str]:
    """Return state, parent and further fields of a process; nothing where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
