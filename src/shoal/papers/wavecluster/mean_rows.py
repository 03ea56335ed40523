"""Means over the runs of a technique, one row for each measure: what the curves are drawn from."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from shoal.papers.wavecluster import PUBLISHED_K, Mean
from shoal.papers.wavecluster.versions import VERSIONS

__all__ = ["TITLES", "mean_rows"]

# By the name of the figure: a column of the records, and how it is called.
TITLES = {
    "k": "significant cells k'",
    "dsg": "DSG_C",
    "f_measure": "F-measure",
    "ocm": "OCM",
    "two_ce": "2CE",
    "k_share": "k' / k",
}
SHARES = ("f_measure", "ocm", "two_ce")
PRINTED_SET = "ds2"


def mean_rows(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Take means over repeats.

    Parameters
    ----------
    records : iterable of dict
        Of measurements.

    Returns
    -------
    rows : list of dict
        Corrected ones first, which get full lines. ``value``, ``low`` and ``high`` are a mean and
        its interval of 95%, cut where no mean can lie; ``published`` is what the source prints.
    """
    cells: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for record in records:
        names = ("version", "dataset", "mechanism", "epsilon")
        cells.setdefault(tuple(record[name] for name in names), []).append(record)
    order = list(reversed(VERSIONS.values()))
    rows = []
    for key, runs in sorted(cells.items(), key=lambda cell: order.index(cell[0][0])):
        version, dataset, mechanism, epsilon = key
        for measure, title in TITLES.items():
            mean = Mean.of(
                (_value(run, measure) for run in runs),
                lowest=0.0,
                highest=1.0 if measure in SHARES else math.inf,
            )
            rows.append(
                {
                    "version": version,
                    "dataset": dataset,
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                    "measure": measure,
                    "title": title,
                    **dict(zip(("value", "low", "high"), mean, strict=True)),
                    "published": _printed(*key) if measure == "k" else None,
                }
            )
    return rows


def _value(record: Mapping[str, Any], measure: str) -> float:
    if measure == "k":
        return float(record["k_private"])
    if measure == "k_share":
        return float(record["k_private"] / record["k"])
    return float(record[measure])


def _printed(version: str, dataset: str, mechanism: str, epsilon: float) -> float | None:
    if (version, dataset) != (VERSIONS["published"], PRINTED_SET):
        return None
    return PUBLISHED_K.get(epsilon, {}).get(mechanism)
