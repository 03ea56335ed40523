"""Must show: the density remap, from reports alone, loses to no other way back into the domain."""

import os
from pathlib import Path

import numpy as np
import pytest

from helpers.cases import case
from helpers.remap_comparison import compare_remaps
from shoal.mechanisms import Laplace
from shoal.remap import BayesRemap, Clip

DATA = os.environ.get("SHOAL_DATA")
needs_data = pytest.mark.skipif(
    not DATA, reason="SHOAL_DATA is not set: the kd-Laplace author's files are not here"
)


@needs_data
@pytest.mark.full
def test_density_remap_is_at_or_above_the_others_on_mean_ami():
    """Five files, ten epsilons, ten runs; fixed seeds, so no false alarm."""
    tables = compare_remaps(DATA, runs=10)
    means = {way: table.mean() for way, table in tables.items()}
    for way in ("plain", "clip", "grid"):
        assert means["bayes"] >= means[way], means


@needs_data
def test_density_remap_helps_where_noise_is_as_large_as_clusters():
    tables = compare_remaps(DATA, runs=3, names=("skewed",), epsilons=(1.0, 1.5))
    means = {way: np.mean(table) for way, table in tables.items()}
    assert means["bayes"] > max(means["plain"], means["clip"], means["grid"]) + 0.05, means


@needs_data
@pytest.mark.parametrize("d", [5, 9])
def test_density_remap_does_no_harm_in_many_columns(d):
    """Heart, 5 and 9 columns: root mean squared error at most 1.05 of that of clipped reports."""
    for epsilon in [0.1, 0.5, 1.0, 3.5, 9.0]:
        with case(epsilon=epsilon):
            path = Path(DATA) / "kd_laplace" / "heart_as_published.csv"
            records = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(d))
            low = np.array([100.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 120.0, 0.0])[:d]
            high = np.array([170.0, 160.0, 30.0, 600.0, 30.0, 20.0, 180.0, 240.0, 20.0])[:d]
            mechanism = Laplace(epsilon, bounds=(low, high), random_state=0)
            reports = mechanism.fit_transform(records)
            inside = np.clip(records, low, high)
            moved = np.linalg.norm(BayesRemap(mechanism).fit_transform(reports) - inside)
            clipped = np.linalg.norm(Clip((low, high)).transform(reports) - inside)
            assert moved <= 1.05 * clipped
