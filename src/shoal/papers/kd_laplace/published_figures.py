"""Published figures beside records: joined, and their distance."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.exceptions import DataError
from shoal.papers.kd_laplace import load_figures

__all__ = ["Distance", "distances", "published_values", "with_published"]

Key = tuple[str, str, int, float, str]


class Distance(NamedTuple):
    """How far the means of repeats are from the published figures, on average."""

    published: float
    again: float
    absolute: float
    figures: int


def published_values(measure: str) -> dict[Key, float]:
    """Read the published figures of a measure.

    Parameters
    ----------
    measure : str
        As in :func:`shoal.papers.kd_laplace.load_figures`.

    Returns
    -------
    values : dict
        By dataset, mechanism, columns, epsilon and clusterer; none where the files are not there.
    """
    try:
        figures = load_figures(measure)
    except DataError:
        return {}
    return {
        (one.dataset, one.mechanism, one.columns, one.epsilon, one.clusterer): one.value
        for one in figures
    }


def with_published(rows: Iterable[Mapping[str, Any]], measure: str) -> list[dict[str, Any]]:
    """Add the published figure to each record of the methods as published.

    Parameters
    ----------
    rows : iterable of mapping
        Records.
    measure : str
        Which figures.

    Returns
    -------
    rows : list of dict
        With ``published``, None where there is none.
    """
    values = published_values(measure)
    return [
        {
            **row,
            "published": values.get(_key(row)) if row["version"] == "as published" else None,
        }
        for row in rows
    ]


def distances(
    rows: Iterable[Mapping[str, Any]], measure: str, by: Sequence[str]
) -> dict[tuple[Any, ...], Distance]:
    """Compare the means over repeats, as published, with the published figures.

    Parameters
    ----------
    rows : iterable of mapping
        Records.
    measure : str
        Which measure.
    by : sequence of str
        Columns for each combination of whose values there is a distance.

    Returns
    -------
    distances : dict
        By these values; only where there are published figures.
    """
    cells: dict[Key, list[float]] = {}
    names: dict[Key, tuple[Any, ...]] = {}
    values = published_values(measure)
    for row in rows:
        if row["version"] == "as published" and _key(row) in values and row[measure] is not None:
            cells.setdefault(_key(row), []).append(row[measure])
            names[_key(row)] = tuple(row[name] for name in by)
    groups: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for key, found in cells.items():
        groups.setdefault(names[key], []).append((values[key], float(np.mean(found))))
    return {
        name: Distance(
            float(np.mean([printed for printed, _ in pairs])),
            float(np.mean([again for _, again in pairs])),
            float(np.mean([abs(printed - again) for printed, again in pairs])),
            len(pairs),
        )
        for name, pairs in groups.items()
    }


def _key(row: Mapping[str, Any]) -> Key:
    return (
        row["dataset"],
        row["mechanism"],
        row["columns"],
        row["epsilon"],
        row.get("clusterer") or "",
    )
