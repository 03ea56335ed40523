"""The page Trade-off: methods of all trust models at equal worst-case privacy, as `shoal compare`.

What is compared on is nobody's record: made up from the schema, or drawn from the private copy, as
points of the schema's encoded space. The comparison runs in a process of its own, which gets the
points through a pipe; its results come back the same way, and nothing is written to a disk.
"""

import functools
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from shoal._registry import METHODS
from shoal._typing import Floats
from shoal.experiments.compare import (
    Baseline,
    ComparedTable,
    Comparison,
    MethodRow,
    choose_contenders,
    compare_methods,
    draw_costs,
    recommend,
)
from shoal.mechanisms import Laplace
from shoal.studio.jobs import JobProgress
from shoal.studio.killable import run_killable
from shoal.studio.nobodys_records import ExploredRecords, explored_records
from shoal.studio.trade_off_settings import TradeOffSettings, plain_settings
from shoal.studio.trade_off_texts import compare_command, file_names, python_snippet
from shoal.studio.workspace import StudioTable
from shoal.tables import ArrayTable

__all__ = ["TradeOff", "run_comparison"]

MORE = "ask for {} runs"
DRAWN_EVERY = 0.7  # seconds: a chart takes some tenths of one


class TradeOff:
    """A comparison that a page asked for.

    Parameters
    ----------
    table : StudioTable
        Its schema, settings and private copy are read, not its records.
    settings : TradeOffSettings
        What is compared.

    Raises
    ------
    ShoalError
        If no method fits, or the schema is not complete.
    """

    def __init__(self, table: StudioTable, settings: TradeOffSettings) -> None:
        choose_contenders(table.described.space.columns, settings.methods)  # refused before a job
        self.settings = settings
        self._table = table
        self._schema = table.described
        self._records: ExploredRecords = explored_records(table, settings.source)

    def work(self, progress: JobProgress) -> dict[str, Any]:
        """Compare, showing curves as they are finished.

        Parameters
        ----------
        progress : JobProgress
            Of the job; a cancellation ends the comparison's process at once.

        Returns
        -------
        answer : dict
            As pages read it.
        """
        schema, settings = self._schema, self.settings
        partial = _Partial(self, progress)
        reader, writer = multiprocessing.Pipe(duplex=False)
        with reader, writer:
            comparison = run_killable(
                lambda: partial.look(reader),
                run_comparison,
                writer,
                self._records.encoded,
                schema.space.names,
                schema.space.bounds,
                settings,
            )
        return self.told(comparison)

    def told(self, comparison: Comparison) -> dict[str, Any]:
        """Return a comparison as pages read it."""
        settings, names = self.settings, file_names(self._table, self.settings.source)
        return {
            "table": self._table.id,
            "settings": plain_settings(settings),
            "source_words": self._records.words,
            "records": comparison.baseline.n_records,
            "recommendation": recommend(comparison, more=MORE),
            "decides": comparison.decides,
            "blind": comparison.baseline.trivial_costs.even,
            "left_out": list(comparison.left_out),
            "rows": [self._row(row) for row in comparison.rows],
            "picture": draw_costs(comparison).spec,
            "files": {**names._asdict(), "source": settings.source},
            "command": compare_command(settings, names),
            "snippet": python_snippet(settings, names, comparison.baseline.n_records),
        }

    def _row(self, row: MethodRow) -> dict[str, Any]:
        plain = {
            name: value
            for name, value in asdict(replace(row, attack={})).items()
            if name != "attack"
        }
        return {**plain, "explore": f"{self._explored_epsilon(row):.6g}"}

    def _explored_epsilon(self, row: MethodRow) -> float:
        """Return the epsilon with which Explore promises the same worst case."""
        method = next(one for one in METHODS if one.name == row.contender)
        if method.notion != "metric":
            return row.own_epsilon
        # There, a metric epsilon is for the distance of the schema, not for columns in [-1, 1].
        return row.epsilon / self._worst_case_of_one

    @functools.cached_property
    def _worst_case_of_one(self) -> float:
        """The local epsilon of a metric epsilon of 1 in the space of the schema."""
        some = {name: values[:1] for name, values in self._records.columns.items()}
        features = replace(
            self._schema, fields=self._schema.features
        )  # whose row it is, is no point
        one = Laplace(1.0, schema=features, random_state=0).fit(some)
        return one.local_guarantee_.epsilon


@dataclass
class _Partial:
    """What came back from the process so far."""

    asked: TradeOff
    progress: JobProgress
    baseline: Baseline | None = None
    rows: list[MethodRow] = field(default_factory=list)
    shown: int = 0
    drawn: float = 0.0
    changed: bool = False

    def look(self, reader: Any) -> None:
        """Read what has come, draw what is new, and end where the job was canceled."""
        self.progress.check()
        while reader.poll():
            kind, *content = reader.recv()
            if kind == "baseline":
                (self.baseline,) = content
            elif kind == "rows":
                self.rows.extend(content[0])
                self.changed = True
            else:
                self.progress(*content)
        if self.changed and time.monotonic() - self.drawn > DRAWN_EVERY:
            self._show()

    def _show(self) -> None:
        settings = self.asked.settings
        kept = [row for row in self.rows if self._is_whole(row, len(settings.epsilons))]
        self.changed = False
        if not any(row.cost for row in kept) or self.baseline is None:
            return
        whole = Comparison(
            self.baseline, tuple(kept), tuple(sorted(settings.epsilons)), settings.runs, {}, ()
        )
        self.shown += 1
        self.progress.show({"number": self.shown, "picture": draw_costs(whole).spec})
        self.drawn = time.monotonic()

    def _is_whole(self, row: MethodRow, epsilons: int) -> bool:
        """Return whether a method is done at all epsilons."""
        same = [one for one in self.rows if one.method == row.method]
        return len(same) == epsilons


def run_comparison(
    pipe: Connection,
    points: Floats,
    names: Sequence[str],
    bounds: tuple[Floats, Floats],
    settings: TradeOffSettings,
) -> Comparison:
    """Compare methods on points that are nobody's; in a process of its own.

    Parameters
    ----------
    pipe : Connection
        Gets the baseline, rows as they are finished, and how far it is.
    points : ndarray of shape (n, d)
        In the encoded space of a schema.
    names : sequence of str
        Of its columns.
    bounds : tuple of ndarray
        Its public box.
    settings : TradeOffSettings
        What is compared.

    Returns
    -------
    comparison : Comparison
        Without attacks.
    """
    table = ComparedTable.from_table(
        ArrayTable(points, tuple(names)),
        file=Path(settings.source),
        bounds=bounds,
        n_clusters=settings.clusters,
    )
    send: Callable[[Any], None] = pipe.send
    send(("baseline", table.baseline))
    return compare_methods(
        table,
        choose_contenders(len(names), settings.methods),
        epsilons=settings.epsilons,
        runs=settings.runs,
        seed=settings.seed,
        attacks=False,
        progress=lambda done, total: send(("progress", done, total)),
        on_rows=lambda rows: send(("rows", list(rows))),
    )
