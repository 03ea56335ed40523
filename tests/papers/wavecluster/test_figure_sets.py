"""The sets of the source's figures: what WaveCluster finds on them without privacy."""

import math

import numpy as np
import pytest

from helpers.paper_data import needs_files
from shoal.cluster import DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.papers.wavecluster import PublishedWaveCluster, haar_band, load_figure_set


@needs_files
@pytest.mark.parametrize(
    ("name", "signs", "k", "found"),
    [
        ("ds1", (501, 523), 201, (202, 15)),
        ("ds2", (159, 241), 144, (144, 3)),
        ("ds3", (323, 253), 291, (320, 5)),
    ],
)
def test_reference_counts(name, signs, k, found):
    """The source prints |Z| = 241, k = 144 and 3 clusters for ds2; on ds3, 68 cells tie."""
    chosen = load_figure_set(name)
    parameters = {"bounds": chosen.bounds, "grid": chosen.grid, "threshold": chosen.threshold}
    plain = DPWaveCluster(epsilon=math.inf, **parameters).fit(chosen.X)
    # Nothing is left of noise at this scale, so counts rounded are those of the published grid.
    loud = PublishedWaveCluster("qt", **{**parameters, "epsilon": 1e6}, random_state=0).fit(
        chosen.X
    )
    band = haar_band(np.rint(loud.counts_))
    assert ((band > 0).sum(), (band <= 0).sum()) == signs
    assert math.ceil((1 - chosen.threshold) * signs[0]) == k
    assert (plain.n_significant_, plain.n_clusters_) == found


def test_unknown_sets_are_refused():
    with pytest.raises(ParameterError, match="name must be one of"):
        load_figure_set("ds4")


@needs_files
def test_the_fourth_set_has_a_public_box():
    check_ins = load_figure_set("gowalla")
    assert check_ins.columns == ("longitude", "latitude")
    assert check_ins.bounds.low.tolist() == [-180.0, -90.0]
    assert math.isclose(np.abs(check_ins.X[:, 1]).max(), 69.6798, abs_tol=1e-3)
