"""Attacks of the studio, on records that are nobody's: made up, or of a private copy."""

import io
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.experiments import AttackSuite, Provenance, attack_report, attack_suite
from shoal.plotting import Picture, draw_rates
from shoal.schema import EncodedSpace
from shoal.service import RefusedError
from shoal.studio.nobodys_records import ExploredRecords
from shoal.studio.promise_settings import PromiseSettings, set_options
from shoal.tables import ArrayTable

__all__ = ["Attacked", "attack_records", "attacked_columns"]

Progress = Callable[[int, int], None]
MAX_CELL_COLUMNS = 2  # a grid without privacy has too many cells in more
NO_RECORDS = ("PartitionResponse",)  # whose reports are colors: forests learn from records


@dataclass(frozen=True, eq=False)
class Attacked:
    """Finished attacks on records that are nobody's, for pages and files."""

    settings: PromiseSettings
    source: str
    suite: AttackSuite
    picture: Picture
    records: Floats
    names: tuple[str, ...]
    bounds: tuple[Floats, Floats]

    def to_dict(self) -> dict[str, Any]:
        """Return what pages show."""
        suite = self.suite
        return {
            "settings": vars(self.settings),
            "source": self.source,
            "columns": list(self.names),
            "records": suite.records,
            "target": suite.target,
            "guarantee": suite.guarantee,
            "has_power": suite.has_power,
            "headline": [_headline(row) for row in suite.rows],
            "sentences": list(suite.sentences),
            "notes": [*suite.notes, *_uncovered(suite)],
            "rows": [
                {
                    "attack": row.result.attack,
                    "right": _of_100(row.result),
                    "control": _of_100(row.control),
                    "control_words": row.without,
                    "power": row.has_power,
                    "ceiling": None if row.ceiling is None else f"{50 + 50 * row.ceiling:.0f}",
                }
                for row in suite.rows
            ],
            "spec": self.picture.spec,
            "command": self.command,
        }

    @property
    def command(self) -> str:
        """The command of a terminal that attacks the same records, from their file."""
        limits = ",".join(f"{low:g}:{high:.17g}" for low, high in zip(*self.bounds, strict=True))
        attacks = ",".join(row.attack for row in self.suite.rows)
        return shlex.join(
            [
                "shoal",
                "attack",
                "attacked-records.csv",
                "--target",
                self.settings.declared.class_name,
                "--epsilon",
                f"{self.settings.epsilon:g}",
                "--columns",
                ",".join(f"c{index}" for index in range(1, len(self.names) + 1)),
                "--bounds",
                limits,
                *set_options(self.settings.kwargs),
                "--attacks",
                attacks,
                "--runs",
                str(self.settings.attack_runs),
            ]
        )

    def report(self) -> bytes:
        """Return the page of ``shoal attack``."""
        made = Provenance(self.command, None, data=self.source)
        with TemporaryDirectory() as folder:  # made-up records, or those of a private copy
            path = attack_report(
                Path(folder) / "report.html",
                self.suite,
                picture=self.picture,
                made=made,
                raw=False,
            )
            return path.read_bytes()

    def csv(self) -> bytes:
        """Return the attacked records, for the command."""
        text = io.StringIO()
        header = ",".join(f"c{index}" for index in range(1, len(self.names) + 1))
        np.savetxt(text, self.records, fmt="%.17g", delimiter=",", header=header, comments="")
        return text.getvalue().encode()


def attack_records(
    settings: PromiseSettings, records: ExploredRecords, space: EncodedSpace, progress: Progress
) -> Attacked:
    """Try the attacks that fit a method on records that are nobody's, and on no privacy beside it.

    Parameters
    ----------
    settings : PromiseSettings
        Which method, and how thoroughly; its `columns` are not used.
    records : ExploredRecords
        Made up, or of a private copy.
    space : EncodedSpace
        Of their schema.
    progress : callable
        ``progress(done, total)``.

    Returns
    -------
    attacked : Attacked
        How often attackers are right, and how often without privacy.
    """
    columns = attacked_columns(settings, space)
    names = tuple(space.names[column] for column in columns)
    bounds = tuple(limit[list(columns)] for limit in space.bounds)
    points = np.ascontiguousarray(records.encoded[:, list(columns)])
    central = settings.declared.notion == "central"
    suite = attack_suite(
        settings.build(bounds),
        ArrayTable(points, names),
        attacks=(["centers"] if central else ["yeom"]) if settings.effort == "quick" else None,
        runs=settings.attack_runs,
        n_jobs=settings.n_jobs,
        progress=progress,
    )
    return Attacked(
        settings,
        records.words,
        suite,
        draw_rates(suite.rows),
        points,
        names,
        (bounds[0], bounds[1]),
    )


def attacked_columns(settings: PromiseSettings, space: EncodedSpace) -> tuple[int, ...]:
    """Return the encoded columns that a method can take: all, or the first that hold a number."""
    method = settings.declared
    if method.class_name in NO_RECORDS:
        raise RefusedError(
            "invalid-parameter",
            f"No attack fits {settings.method}, whose reports are colors of cells, not records: "
            "audit its claim instead.",
        )
    limit = MAX_CELL_COLUMNS if method.output == "cells" else method.max_columns
    if method.min_columns <= space.columns <= limit:
        return tuple(range(space.columns))
    # The first column of a number, date or place is its value; others say that one is missing.
    first = {part.field: part.start for part in reversed(space.parts) if part.kind == "interval"}
    values = sorted(first.values())[:limit]
    if len(values) < method.min_columns:
        raise RefusedError(
            "invalid-parameter",
            f"{settings.method} needs at least {method.min_columns} columns of numbers, and the "
            f"schema has {len(values)}.",
        )
    return tuple(values)


def _headline(row: Any) -> str:
    return (
        f"The attacker ({row.result.attack}) is right in {100 * row.result.right:.0f} of 100 "
        f"guesses; without the release, 50; on {row.without}, {100 * row.control.right:.0f}."
    )


def _of_100(result: Any) -> str:
    low, high = (50 + 50 * limit for limit in result.interval())
    return f"{100 * result.right:.0f} (95%: {low:.0f} to {high:.0f})"


def _uncovered(suite: AttackSuite) -> list[str]:
    if all(row.ceiling is not None for row in suite.rows):
        return []
    return [
        "No ceiling is drawn for a forest trained on the members' true classes or records: the "
        "promise covers only reports and releases."
    ]
