"""Runs kept in a CSV file, so that a long benchmark can be stopped and goes on where it was."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Generic, TypeVar

Run = TypeVar("Run")  # a dataclass of str, int and float


class KeptRuns(Generic[Run]):
    """Runs by what they are runs of, in memory and in a file if there is one."""

    def __init__(self, kind: type[Run], key: tuple[str, ...], path: Path | None) -> None:
        self._fields, self._key, self._path = fields(kind), key, path
        self._runs: dict[tuple[str | float, ...], Run] = {}
        if path is not None and path.exists():
            with path.open(newline="") as file:
                for line in csv.DictReader(file):
                    self._keep(kind(**{f.name: f.type(line[f.name]) for f in self._fields}))

    def __contains__(self, key: tuple[str | float, ...]) -> bool:
        return key in self._runs

    def __getitem__(self, key: tuple[str | float, ...]) -> Run:
        return self._runs[key]

    def add(self, runs: Iterable[Run]) -> None:
        """Keep runs, each as a line of the file."""
        for run in runs:
            self._keep(run)
            if self._path is not None:
                self._write(run)

    def _keep(self, run: Run) -> None:
        self._runs[tuple(getattr(run, name) for name in self._key)] = run

    def _write(self, run: Run) -> None:
        new = not self._path.exists()
        with self._path.open("a", newline="") as file:
            rows = csv.DictWriter(file, [f.name for f in self._fields], lineterminator="\n")
            if new:
                rows.writeheader()
            rows.writerow(asdict(run))
