"""Code that runs on Linux, macOS and Windows: no name that one of them lacks, but for a reason.

Which names of the standard library a system lacks is read from the type stubs that mypy brings.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import mypy
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/shoal"
STUBS = Path(mypy.__file__).parent / "typeshed/stdlib"
SYSTEMS = ("win32", "darwin")

# Modules of which some names are missing somewhere, by their stub.
PARTIAL = {
    "os": "os/__init__.pyi",
    "select": "select.pyi",
    "shutil": "shutil.pyi",
    "signal": "signal.pyi",
    "socket": "socket.pyi",
    "time": "time.pyi",
    "asyncio": "asyncio/__init__.pyi",
}
# Modules that Windows lacks as a whole.
MISSING = {
    *("curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "spwd", "syslog"),
    *("termios", "tty", "uvloop"),
}
# What has another meaning, or none, on Windows.
KEYWORDS = {"preexec_fn", "start_new_session", "process_group", "pass_fds", "add_signal_handler"}
METHODS = {"is_mount", "add_signal_handler"}  # Path.is_mount: Python 3.12 on Windows
FOLDERS = re.compile(r"/(proc|dev|tmp|etc|var|run)/")

# Where a name is used all the same, and why that is well on every system.
REASONS = {
    ("_file_locks.py", "fcntl"): "the locks of POSIX; Windows has others, beside them",
    ("_processes.py", "os.killpg"): "where Windows has taskkill",
    ("_processes.py", "signal.SIGKILL"): "beside it",
    ("_processes.py", "signal.pthread_sigmask"): "not on Windows, where no signal can be blocked",
    ("_processes.py", "signal.SIG_BLOCK"): "beside it",
    ("_processes.py", "signal.SIG_SETMASK"): "beside it",
    ("_processes.py", "start_new_session"): "where Windows has a group of processes",
    ("collector/worker.py", "os.nice"): "where there is one: a worker of Windows is not bounded",
    ("collector/worker.py", "resource"): "beside it",
    ("experiments/browser_device.py", "os.geteuid"): "asked for first: Windows has no root",
    ("noise/source.py", "os.register_at_fork"): "asked for first: nothing forks on Windows",
    ("privacy/_ledger_file.py", "os.chown"): "asked for first: on Windows the folder decides",
    (
        "service/server.py",
        "socket.TCP_USER_TIMEOUT",
    ): "on Linux alone; elsewhere the proxy ends them",
    ("tables/table.py", "os.sched_getaffinity"): "asked for first; elsewhere all processors count",
}


def missing_names(stub: str, system: str) -> set[str]:
    """Return the names that a stub declares for some system, and not for this one."""
    tree = ast.parse(stub)
    return set(_declared(tree.body, None)) - set(_declared(tree.body, system))


def _declared(body: list[ast.stmt], system: str | None) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If):
            holds = None if system is None else _holds(node.test, system)
            yield from () if holds is False else _declared(node.body, system)
            yield from () if holds is True else _declared(node.orelse, system)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom | ast.Import):
            yield from (alias.asname for alias in node.names if alias.asname)


def _holds(test: ast.expr, system: str) -> bool | None:
    """Return what a condition is on a system; None if that depends on something else."""
    if isinstance(test, ast.BoolOp):
        parts = [_holds(part, system) for part in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, ast.Compare) and ast.unparse(test.left) == "sys.platform":
        same = system == ast.literal_eval(test.comparators[0])
        return same if isinstance(test.ops[0], ast.Eq) else not same
    return None


@cache
def unportable() -> dict[str, frozenset[str]]:
    """Return the names of each module that Windows or macOS lacks."""
    return {
        module: frozenset().union(
            *(missing_names((STUBS / stub).read_text("utf-8"), system) for system in SYSTEMS)
        )
        for module, stub in PARTIAL.items()
    }


@cache
def candidates() -> frozenset[str]:
    """Return words of which each use has at least one."""
    folders = {"proc", "dev", "tmp", "etc", "var", "run", "get_context"}
    return frozenset(folders | MISSING | KEYWORDS | METHODS).union(*unportable().values())


def uses(text: str) -> set[str]:
    """Return what a module uses that some system lacks."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names} & MISSING
        elif isinstance(node, ast.ImportFrom) and node.module:
            lacking = unportable().get(node.module, frozenset())
            found |= {f"{node.module}.{name.name}" for name in node.names if name.name in lacking}
            found |= {node.module} & MISSING
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in unportable().get(owner, frozenset()):
                found.add(f"{owner}.{node.attr}")
            found |= {node.attr} & METHODS
        elif isinstance(node, ast.keyword):
            found |= {node.arg or ""} & KEYWORDS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {node.value} & KEYWORDS
            found |= {match[0] for match in [FOLDERS.match(node.value)] if match}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("get_context"):
            found |= {"fork" for given in node.args if ast.unparse(given) == "'fork'"}
    return found


def test_what_a_system_lacks_is_used_for_a_reason_only() -> None:
    found = {
        (file.relative_to(SOURCE).as_posix(), name)
        for file in SOURCE.rglob("*.py")
        for text in [file.read_text("utf-8")]
        if not candidates().isdisjoint(re.findall(r"\w+", text))  # to parse all takes seconds
        for name in uses(text)
    }
    assert found == set(REASONS)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import fcntl", "fcntl"),
        ("from resource import getrlimit", "resource"),
        ("os.pread(descriptor, 1, 0)", "os.pread"),
        ("from os import fork", "os.fork"),
        ("os.open(path, os.O_CLOEXEC)", "os.O_CLOEXEC"),
        ("os.sched_getaffinity(0)", "os.sched_getaffinity"),  # macOS has none
        ("signal.SIGKILL", "signal.SIGKILL"),
        ("socket.AF_UNIX", "socket.AF_UNIX"),
        ("Popen(command, start_new_session=True)", "start_new_session"),
        ("path.is_mount()", "is_mount"),
        ("open('/proc/self/status')", "/proc/"),
        ("multiprocessing.get_context('fork')", "fork"),
    ],
)
def test_planted_names_are_seen(line: str, name: str) -> None:
    assert uses(line) == {name}


def test_what_every_system_has_may_be_used() -> None:
    assert uses("os.replace(a, b); os.kill(1, signal.SIGTERM); os.fsync(3); time.sleep(1)") == set()


def test_tests_can_be_collected_on_windows() -> None:
    """A module that Windows lacks is imported by the test that needs it, or skips its file."""
    found = set()
    for file in (ROOT / "tests").rglob("*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom) and uses(ast.unparse(node)):
                found.add(file.relative_to(ROOT / "tests").as_posix())
    assert found == {"helpers/fake_windows.py"}, "which tests of Linux import when they run"


# shoal on a system without these names: what is imported before has its own copies of them.
WITHOUT = """
import sys
import asyncio, ctypes, multiprocessing, os, selectors, shutil, signal, socket, sqlite3, subprocess
import tempfile, time
import cryptography.hazmat.primitives.ciphers, numpy, sklearn.cluster, sklearn.utils.parallel
sys.path[:0] = sys.argv[1:3]
from helpers.fake_windows import windows_locks
from test_portability import MISSING, PARTIAL, STUBS, missing_names
for name in MISSING:
    sys.modules[name] = None
for module, stub in PARTIAL.items():
    for name in missing_names((STUBS / stub).read_text("utf-8"), "win32"):
        vars(sys.modules[module]).pop(name, None)
os.O_BINARY = 0
from shoal import DPKMeans, Laplace, Ledger, _file_locks
_file_locks._system = windows_locks()
with tempfile.TemporaryDirectory() as folder:
    path = folder + "/spent.ledger"
    model = DPKMeans(2, epsilon=1.0, bounds=(-1, 1), ledger=Ledger(path, epsilon=1.5))
    model.fit(numpy.zeros((50, 2)))
    Laplace(epsilon=0.5, bounds=(-1, 1), ledger=Ledger(path)).fit(numpy.zeros((5, 2)))
    print(len(Ledger(path)), sorted(os.listdir(folder)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the fake of Windows needs Linux")
def test_a_ledger_is_kept_where_names_of_posix_are_missing() -> None:
    tests = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, tests, str(ROOT / "src")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1 ['spent.ledger', 'spent.ledger.head']\n", done.stderr
