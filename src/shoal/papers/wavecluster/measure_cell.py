"""One run of one technique on one set: as published and corrected."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from shoal.experiments.cell import Cell
from shoal.papers.wavecluster import Measurement, Method, load_figure_set
from shoal.papers.wavecluster.figure_comparison import Load, figure_comparison
from shoal.papers.wavecluster.versions import VERSIONS, versions

__all__ = ["MeasureCell", "read_measurement"]

# What a cell says itself, or the version does.
ELSEWHERE = ("dataset", "method", "epsilon", "seed")


@dataclass(frozen=True)
class MeasureCell:
    """Measure all versions of a cell's technique.

    Parameters
    ----------
    load : callable
        From the name of a set to the set.
    """

    load: Load = load_figure_set

    def __call__(self, cell: Cell) -> Iterable[dict[str, Any]]:
        """Measure; repeats classify one tenth of the records after the other."""
        comparison = figure_comparison(self.load, cell.dataset)
        for version, method in versions(cell.mechanism.name).items():
            found = comparison.measure(method, cell.epsilon, seed=cell.seed, fold=cell.repeat)
            measured = asdict(found)
            yield {"version": version} | {
                name: value for name, value in measured.items() if name not in ELSEWHERE
            }


def read_measurement(record: dict[str, Any]) -> Measurement:
    """Turn a record back into a measurement.

    Parameters
    ----------
    record : dict
        Of a cell of a mechanism's name, a set and an epsilon.

    Returns
    -------
    measurement : Measurement
        Its seed is the number of the repeat.
    """
    source = next(name for name, version in VERSIONS.items() if version == record["version"])
    values = {name: record[name] for name in Measurement.__annotations__ if name not in ELSEWHERE}
    return Measurement(
        dataset=record["dataset"],
        method=Method(source, record["mechanism"]),  # type: ignore[arg-type]
        epsilon=record["epsilon"],
        seed=record["repeat"],
        **values,
    )
