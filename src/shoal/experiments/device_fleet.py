"""Many devices on one machine: each with a file of its own, several at a time, on all cores.

A device spends most of its time on checks and on waiting for the disk. So some run at the same time
on threads, and where there are many, in processes: one for each core, each with its own devices. A
process is told what to do on its standard input, and ends when that does.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from shoal._processes import OWN_GROUP
from shoal._typing import Floats
from shoal.client import Device
from shoal.exceptions import DeliveryError, ShoalError

__all__ = ["DeviceFleet", "TakingPart", "obey"]

THREADS = 8  # of a process: devices that wait for the disk at the same time
MANY = 400  # devices from which on a process for each core is worth its start
MAX_PROCESSES = 4
CHUNK = 32  # devices: what has begun is finished after Ctrl-C
OBEY = "from shoal.experiments.device_fleet import obey; import sys; obey(sys.stdin, sys.stdout)"
Chunk = Sequence[tuple[int, Sequence[float]]]


@dataclass(frozen=True)
class TakingPart:
    """What the devices of a campaign are given, and nothing of their records.

    Parameters
    ----------
    folder : str
        For their files.
    document : str
        Where the campaign's document is.
    public_key : str
        That it must be signed with.
    ingest_key : str
        That reports are sent with.
    """

    folder: str
    document: str
    public_key: str
    ingest_key: str

    def open_device(self, number: int, **kwargs: Any) -> Device:
        """Return a device with its file."""
        path = Path(self.folder) / f"{number:05}.db"
        return Device(path, public_key=self.public_key, ingest_key=self.ingest_key, **kwargs)


class DeviceFleet:
    """Context manager that runs many devices, in this process or in several.

    Parameters
    ----------
    n_devices : int
        Number of devices.

    Examples
    --------
    >>> from shoal.experiments import DeviceFleet
    >>> with DeviceFleet(4) as fleet:
    ...     print(type(fleet).__name__)
    DeviceFleet
    """

    def __init__(self, n_devices: int) -> None:
        n_processes = min(MAX_PROCESSES, os.cpu_count() or 1)
        self._workers: list[_Worker] = [_Here()]
        if n_devices >= MANY:
            self._workers = [_Process() for _ in range(n_processes)]
        self._pools = [ThreadPoolExecutor(1) for _ in self._workers]

    def report(
        self, given: TakingPart, records: Mapping[int, Floats], done: Callable[[int], None]
    ) -> None:
        """Let each device join the campaign and send the report of its record."""
        self._run("report", given, records, done)

    def label(
        self, given: TakingPart, records: Mapping[int, Floats], done: Callable[[int], None]
    ) -> dict[int, int]:
        """Return the cluster of each record, as found on the device that holds it."""
        return dict(zip(records, self._run("label", given, records, done), strict=True))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for worker, pool in zip(self._workers, self._pools, strict=True):
            pool.shutdown()
            worker.end()

    def _run(
        self,
        task: str,
        given: TakingPart,
        records: Mapping[int, Floats],
        done: Callable[[int], None],
    ) -> list[Any]:
        """Do a task in chunks; a process has the same devices each time."""
        waiting: list[Future[list[Any]]] = []
        every = [(number, record.tolist()) for number, record in records.items()]
        for number, first in enumerate(range(0, len(every), CHUNK)):
            at = number % len(self._workers)
            chunk = every[first : first + CHUNK]
            waiting.append(self._pools[at].submit(self._workers[at].run, task, given, chunk))
        results: list[Any] = []
        for future in waiting:
            results.extend(future.result())
            done(len(results))
        return results


class _Worker(Protocol):
    def run(self, task: str, given: TakingPart, chunk: Chunk) -> list[Any]:
        """Let some devices do a task."""
        ...

    def end(self) -> None:
        """End it."""
        ...


class _Here:
    """Devices of this process."""

    def __init__(self) -> None:
        self._devices: dict[int, Device] = {}

    def run(self, task: str, given: TakingPart, chunk: Chunk) -> list[Any]:
        """Let some devices do a task, on threads; the first failure ends it."""
        work = TASKS[task]
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(lambda one: work(given, self._devices, *one), chunk))

    def end(self) -> None:
        """Do nothing: it ends with this process."""


class _Process:
    """Devices of another process, which does as it is told line by line."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", OBEY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **OWN_GROUP,
        )

    def run(self, task: str, given: TakingPart, chunk: Chunk) -> list[Any]:
        """Let some devices do a task; DeliveryError says what failed."""
        told, answered = self._process.stdin, self._process.stdout
        assert told is not None
        assert answered is not None
        told.write(json.dumps({"task": task, "given": asdict(given), "chunk": chunk}) + "\n")
        told.flush()
        answer = json.loads(answered.readline() or '{"error": "a process of devices ended"}')
        if "error" in answer:
            raise DeliveryError(answer["error"])
        results: list[Any] = answer["results"]
        return results

    def end(self) -> None:
        """Close its input, and wait for its end."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


def obey(told: IO[str], answers: IO[str]) -> None:
    """Run devices as a :class:`DeviceFleet` of another process tells, until it says no more."""
    here = _Here()
    for line in told:
        plain = json.loads(line)
        try:
            results = here.run(plain["task"], TakingPart(**plain["given"]), plain["chunk"])
            answer: dict[str, Any] = {"results": results}
        except ShoalError as failure:
            answer = {"error": str(failure)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _report(
    given: TakingPart, devices: dict[int, Device], number: int, record: Sequence[float]
) -> None:
    device = devices[number] = given.open_device(number)
    device.join(given.document)
    device.report(record)


def _label(
    _given: TakingPart, devices: dict[int, Device], number: int, record: Sequence[float]
) -> int:
    return devices[number].label(record)


TASKS: dict[str, Callable[..., Any]] = {"report": _report, "label": _label}
