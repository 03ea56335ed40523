"""How the measures of a version compare: what the verdicts on the thesis are read from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.exceptions import DataError
from shoal.experiments.estimate import Estimate
from shoal.papers.by_repeat import by_repeat, select
from shoal.papers.kd_laplace import Figure, load_figures
from shoal.papers.kd_laplace.settings import REAL, SHAPES
from shoal.papers.study import Records

__all__ = ["LOW_WORDS", "Measures", "high_budget", "low_budget", "published_difference"]

Where = Callable[[Any], bool]

TOP_LOW, BOTTOM_HIGH = 3.5, 7.0  # "lower privacy budgets", "higher privacy budgets"
LOW_WORDS = f"epsilon up to {TOP_LOW:g}"


def low_budget(row: Any) -> bool:
    """Return whether a record is of a low budget."""
    return bool(row["epsilon"] <= TOP_LOW)


def high_budget(row: Any) -> bool:
    """Return whether a record is of a high budget."""
    return bool(row["epsilon"] >= BOTTOM_HIGH)


@dataclass(frozen=True)
class Measures:
    """The records of one version, and the contrasts that claims are about.

    Parameters
    ----------
    records : mapping of str to list of dict
        Of all parts.
    version : {"as published", "corrected"}
        Which methods.
    """

    records: Records
    version: str

    def rows(self, part: str, where: Where | None = None, **wanted: Any) -> list[Mapping[str, Any]]:
        """List the version's records of the parts whose names begin so."""
        every = [
            row for name in self.records if name.startswith(part) for row in self.records[name]
        ]
        return select(every, where, version=self.version, **wanted)

    def ami(self, where: Where | None = None, *, part: str = "utility", **wanted: Any) -> Estimate:
        """Estimate the mean agreement of k-means clusters, or of those of another clusterer."""
        wanted.setdefault("clusterer", "KMeans")
        return Estimate.of(by_repeat(self.rows(part, where, **wanted), "ami"))

    def difference(
        self,
        part: str,
        value: str,
        first: Mapping[str, Any],
        second: Mapping[str, Any],
        where: Where | None = None,
    ) -> Estimate:
        """Estimate how much larger a measure is among the first than among the second."""
        ones = by_repeat(self.rows(part, where, **first), value)
        others = by_repeat(self.rows(part, where, **second), value)
        return Estimate.of(one - other for one, other in zip(ones, others, strict=True))

    def slope(self, part: str, value: str, **wanted: Any) -> Estimate:
        """Estimate the change of a measure for one more column, by least squares."""
        rows = self.rows(part, **wanted)
        middle = sum(row["columns"] for row in rows) / len(rows)
        square = sum((row["columns"] - middle) ** 2 for row in rows) / len(rows)
        weighted = [
            {**row, value: row[value] * (row["columns"] - middle) / square}
            for row in rows
            if row[value] is not None
        ]
        return Estimate.of(by_repeat(weighted, value))

    def real_against_shapes(self, part: str, value: str, **wanted: Any) -> Estimate:
        """Estimate how much larger a measure is on real tables than on shapes, both narrow."""
        return self.difference(
            part,
            value,
            {"dataset": REAL, **wanted},
            {"dataset": SHAPES, **wanted},
            lambda row: row["columns"] <= 3,
        )


def published_difference(measure: str, first: str, second: str, where: Where) -> float | None:
    """Average the difference of two mechanisms in the published figures of heart and seeds.

    Parameters
    ----------
    measure : {"ami", "advantage"}
        Which figures; AMI is that of k-means.
    first, second : str
        Names of mechanisms.
    where : callable
        A condition on a record with ``epsilon``.

    Returns
    -------
    difference : float or None
        None where the figures are not there.
    """
    try:
        figures = load_figures(measure)
    except DataError:
        return None

    def mean(mechanism: str) -> dict[tuple[Any, ...], float]:
        return {
            (figure.dataset, figure.columns, figure.epsilon): figure.value
            for figure in figures
            if _counts(figure, mechanism) and where({"epsilon": figure.epsilon})
        }

    ones, others = mean(first), mean(second)
    both = ones.keys() & others.keys()
    return sum(ones[key] - others[key] for key in both) / len(both) if both else None


def _counts(figure: Figure, mechanism: str) -> bool:
    return (
        figure.mechanism == mechanism
        and figure.dataset in REAL
        and figure.clusterer in ("", "KMeans")
    )
