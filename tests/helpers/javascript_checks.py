"""What reports of the JavaScript client must be, as functions that raise AssertionError.

Expected distributions come from Python's ``log_density`` and ``column_distribution``, which have
proofs of their own, and from textbook formulas. The words come from fixed seeds; a right client
would fail a check with other seeds in one of 10^6 runs.
tests/planted breaks the client on purpose and expects these very functions to notice.
"""

import itertools

import numpy as np
from scipy import stats

from shoal.audit import audit_mechanism

ALARM = 1e-6
CUTS = 40  # intervals of equal probability


def _agrees(p, what):
    assert p > ALARM, f"{what}: p = {p:.1e}"


def radius_and_direction(node, mechanism, record, n, *, seed="radius"):
    """Laplace noise: a gamma distributed radius, and a direction without a preference."""
    noise = node.draw(mechanism, [record], n, seed=seed) - np.asarray(record)
    columns = noise.shape[1]
    radii = np.linalg.norm(noise, axis=1)
    gamma = stats.gamma(columns, scale=1.0 / mechanism.epsilon)
    _agrees(stats.kstest(radii, gamma.cdf).pvalue, "radius")
    # One coordinate of a uniform direction has a squared size of Beta(1/2, (d - 1)/2).
    for column in range(columns):
        cosines = noise[:, column] / radii
        squares = stats.beta(0.5, (columns - 1) / 2)
        _agrees(stats.kstest(cosines**2, squares.cdf).pvalue, f"direction {column}")
        _agrees(stats.binomtest(int((cosines > 0).sum()), n).pvalue, f"sign of {column}")
    turns = np.arctan2(noise[:, 1], noise[:, 0]) / (2 * np.pi) % 1.0
    _agrees(stats.kstest(turns, "uniform").pvalue, "angle")


def inside_the_box(node, mechanism, record, n, *, seed="box"):
    """Redrawn reports: none outside, and the quadrants as likely as the density says."""
    reports = node.draw(mechanism, [record], n, seed=seed)
    low, high = map(np.asarray, mechanism.bounds)
    assert ((reports >= low) & (reports <= high)).all()
    other = mechanism.__class__(**mechanism.get_params() | {"random_state": 0})
    drawn = other.fit_transform(np.tile(record, (20 * n, 1)))
    for column in range(reports.shape[1]):
        result = stats.ks_2samp(reports[:, column], drawn[:, column])
        _agrees(result.pvalue, f"column {column}")


def columns_follow(node, mechanism, record, n, *, seed="columns"):
    """Mechanisms that report each column by itself: its distribution, in equally likely parts."""
    reports = node.draw(mechanism, [record], n, seed=seed)
    columns = reports.shape[1]
    reported = mechanism.reported_columns(columns)
    for column in range(columns):
        line = mechanism.column_distribution(column, columns)
        values = reports[:, column]
        if reported < columns:
            chosen = values != line.unreported
            share = stats.binomtest(int(chosen.sum()), n, reported / columns)
            _agrees(share.pvalue, f"how often column {column} is reported")
            values = values[chosen]
        edges = _edges(line)
        chances = np.diff(line.cdf(edges, np.array([record[column]]))[:, 0])
        counts = np.histogram(values, edges)[0]
        kept = chances * len(values) > 5  # so few are expected elsewhere that none may be
        assert counts[~kept].sum() <= 5 * (~kept).sum() + 30
        expected = chances[kept] / chances[kept].sum() * counts[kept].sum()
        _agrees(stats.chisquare(counts[kept], expected).pvalue, f"column {column}")


def _edges(line):
    """Cut the line in even parts, and around each value that has a probability of its own."""
    edges = np.linspace(line.low, line.high, CUTS + 1)
    # Between cells, so that no report lies on an edge.
    edges = line.unreported + (np.floor((edges - line.unreported) / line.step) + 0.5) * line.step
    around = [point + side * line.step / 2 for point in line.points for side in (-1, 1)]
    return np.unique(np.concatenate([edges, around]))


def corners_follow(node, mechanism, record, n, *, seed="corners"):
    """Duchi's mechanism: each corner as often as its probability."""
    reports = node.draw(mechanism, [record], n, seed=seed)
    lattice = mechanism.lattice(len(record))
    corners = np.array(list(itertools.product((-1, 1), repeat=len(record))))
    chances = np.exp(mechanism.log_density(lattice.decode(corners), record))
    signs = np.rint((reports - lattice.origin) / lattice.step).astype(int)
    counts = [(signs == corner).all(axis=1).sum() for corner in corners]
    assert sum(counts) == n
    _agrees(stats.chisquare(counts, chances * n).pvalue, "corners")


def responses_follow(node, mechanism, record, n, *, seed="responses"):
    """Partition responses: each partition and color as often as its probability."""
    reports = node.draw(mechanism, [record], n, seed=seed).astype(int)
    format = mechanism.report_format()
    first = [column.first for column in format.columns]
    levels = [column.levels for column in format.columns]
    pairs = np.array(list(np.ndindex(*levels))) + first
    chances = np.exp(mechanism.log_density(pairs, record))
    codes = (reports[:, 0] - first[0]) * levels[1] + reports[:, 1]
    counts = np.bincount(codes, minlength=len(pairs))
    assert counts.sum() == n
    # Of each partition, and of the true color against all others: every cell has enough of them.
    by_partition = counts.reshape(levels)
    _agrees(stats.chisquare(by_partition.sum(axis=1)).pvalue, "partitions")
    true = chances.reshape(levels).argmax(axis=1)
    kept = by_partition[np.arange(levels[0]), true].sum()
    _agrees(stats.binomtest(int(kept), n, chances.reshape(levels).max(axis=1).sum()).pvalue, "kept")
    others = [np.roll(row, -color)[1:] for row, color in zip(by_partition, true, strict=True)]
    if levels[1] > 2:  # colors: else there is but one other
        _agrees(stats.chisquare(np.sum(others, axis=0)).pvalue, "other colors")


def audit_holds(node, mechanism, *, samples, search_samples, least, seed="audit"):
    """Our audit finds no more than is claimed, and not much less."""
    audit = audit_mechanism(
        node.reports_of(mechanism, seed=seed),
        bounds=mechanism.bounds,
        claim=mechanism.guarantee_,
        samples=samples,
        search_samples=search_samples,
        confidence=1 - ALARM,
    )
    assert not audit.exceeds(), f"{audit.epsilon:.2f} is more than {audit.claimed:.2f}"
    assert audit.epsilon > least * audit.claimed, f"only {audit.epsilon:.2f} is found"
    return audit
