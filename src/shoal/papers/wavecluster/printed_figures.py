"""The figures that the source prints in its text, beside ours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from shoal.papers.wavecluster import FIGURE_SETS, PUBLISHED_K, Measurement, Method, mean_measure
from shoal.papers.wavecluster.versions import PLAIN

__all__ = ["HEADINGS", "printed_figures"]

HEADINGS = ("figure in the text", "printed", "as published here", "corrected")
SPIRALS = "ds2"
LOWEST = 0.5
# Section 7.2: |Z| and k of ds2, and the range of the relative errors of PrivQT and Baseline.
PRINTED_SIGNS, PRINTED_K, PRINTED_RANGE = 241, 144, (0.322, 1.505)
SOURCES = ("published", "corrected")


def printed_figures(
    measurements: Sequence[Measurement], pictures: Iterable[Mapping[str, Any]]
) -> list[list[str]]:
    """List the source's printed figures beside ours, with standard errors.

    Parameters
    ----------
    measurements : sequence of Measurement
        Of both versions.
    pictures : iterable of dict
        Records of the fits for pictures: what WaveCluster finds without privacy.

    Returns
    -------
    rows : list of list of str
        In the columns of ``HEADINGS``.
    """
    return [*_true(pictures), *_means(measurements), _excess(measurements), *_ranges(measurements)]


def _true(pictures: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    for one in pictures:
        if one["dataset"] == SPIRALS and one["version"] == PLAIN:
            zeros, found = str(one["not_positive"]), str(one["significant"])
            return [
                ["|Z| of ds2, without privacy", str(PRINTED_SIGNS), zeros, zeros],
                ["k of ds2, without privacy", str(PRINTED_K), found, found],
            ]
    return []


def _means(measurements: Sequence[Measurement]) -> list[list[str]]:
    return [
        [
            f"k' of {technique} on {SPIRALS} at epsilon {epsilon:g}",
            f"{printed:.1f}",
            *(
                _mean_and_error(measurements, source, technique, epsilon, lambda one: one.k_private)
                for source in SOURCES
            ),
        ]
        for epsilon, row in PUBLISHED_K.items()
        for technique, printed in row.items()
    ]


def _excess(measurements: Sequence[Measurement]) -> list[str]:
    printed = PUBLISHED_K[1.0]["qt"] - PRINTED_K
    return [
        f"k' - k of qt on {SPIRALS} at epsilon 1 (bound (1 - p)|Z|/2 = 108.45)",
        f"{printed:.1f}",
        *(
            _mean_and_error(measurements, source, "qt", 1.0, lambda one: one.k_private - one.k)
            for source in SOURCES
        ),
    ]


def _mean_and_error(
    measurements: Sequence[Measurement],
    source: str,
    technique: str,
    epsilon: float,
    value: Callable[[Measurement], float],
) -> str:
    values = [
        value(one)
        for one in measurements
        if (one.dataset, one.epsilon) == (SPIRALS, epsilon) and one.method == (source, technique)
    ]
    if not values:
        return "not run"
    error = np.std(values, ddof=1) / sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{np.mean(values):.1f} ± {error:.1f}"


def _ranges(measurements: Sequence[Measurement]) -> list[list[str]]:
    low, high = PRINTED_RANGE
    return [
        [
            f"relative error of k' of qt and baseline, from epsilon {LOWEST:g} on",
            f"{low:.1%} to {high:.1%}",
            *(_range(measurements, source, ("qt", "baseline")) for source in SOURCES),
        ],
        [
            f"the same of thr and thr-em, from epsilon {LOWEST:g} on",
            "below 4.7% on average",
            *(_range(measurements, source, ("thr", "thr-em")) for source in SOURCES),
        ],
    ]


def _range(measurements: Sequence[Measurement], source: str, techniques: Sequence[str]) -> str:
    runs: dict[tuple[str, Method, float], list[Measurement]] = {}
    for one in measurements:
        known = one.dataset in FIGURE_SETS and one.epsilon >= LOWEST
        if known and one.method.source == source and one.method.technique in techniques:
            runs.setdefault((one.dataset, one.method, one.epsilon), []).append(one)
    errors = [mean_measure(some, "k_error").value for some in runs.values()]
    if not errors:
        return "not run"
    return f"{min(errors):.1%} to {max(errors):.1%}, mean {np.mean(errors):.1%}"
