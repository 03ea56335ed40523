"""The list of techniques, and what DPWaveCluster refuses: in one line, before anything is spent."""

import math

import numpy as np
import pytest

from shoal._registry import choices
from shoal.cluster import DPWaveCluster
from shoal.cluster.wavecluster._band import MAX_SENSITIVE, band_of
from shoal.cluster.wavecluster._techniques import TECHNIQUES
from shoal.exceptions import MissingBoundsError, ParameterError
from shoal.noise import MAX_SCALE
from shoal.privacy import Ledger

X = np.random.default_rng(0).uniform(-1, 1, (50, 2))


def test_the_list_is_that_of_the_registry():
    assert tuple(TECHNIQUES) == choices("DPWaveCluster", "technique")


def test_missing_bounds_and_ledger():
    with pytest.raises(MissingBoundsError, match=r"^bounds must be given"):
        DPWaveCluster().fit(X)
    with pytest.raises(ParameterError, match=r"^ledger must be a Ledger or None"):
        DPWaveCluster(bounds=(-1.0, 1.0), ledger=1.0).fit(X)


def test_too_many_columns_cost_nothing(subtests):
    for columns, kwargs, error in [
        (21, {"grid": 8}, r"grid must have fewer than 2\^62 cells in all, got 8\^21"),
        (21, {"grid": "auto"}, r"grid must have fewer than 2\^62 cells in all, got 8\^21"),
        (62, {"grid": 2}, r"grid must have fewer than 2\^62 cells in all, got 2\^62"),
        (8192, {"grid": 64}, r"grid must have fewer than 2\^62 cells in all, got 64\^8192"),
        (8, {"grid": "auto", "technique": "qt"}, "grid must have at most 4194304 cells in all"),
        (6, {"epsilon": math.inf}, "grid must have at most 4194304 cells .* a finite epsilon"),
        (8, {"wavelet": "db4", "grid": 16}, "wavelet must change at most 1024 values"),
        (20, {"wavelet": "db4", "grid": 8}, 'wavelet must be "haar" for 20 columns'),
    ]:
        with subtests.test(columns=columns, kwargs=kwargs, error=error):
            ledger = None if "epsilon" in dict(kwargs) else Ledger(epsilon=10.0)
            with pytest.raises(ParameterError, match=f"^{error}"):
                DPWaveCluster(bounds=(-1.0, 1.0), ledger=ledger, **kwargs).fit(
                    np.zeros((3, columns))
                )
            assert not ledger or len(ledger) == 0


@pytest.mark.parametrize("columns", [10, 20, 40, 61])
def test_many_columns_where_codes_allow_it(columns):
    grid = 8 if columns <= 20 else 2
    fitted = DPWaveCluster(bounds=(-1.0, 1.0), grid=grid).fit(np.zeros((300, columns)))
    assert fitted.labels_.shape == (300,)


SMALL = np.arange(-9.0, -2.0, 0.5)


def fits(estimator):
    try:
        estimator.fit(X)
    except ParameterError as error:
        if "epsilon must be larger" not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("technique", ["oneshot", "thr", "thr-em", "qt", "baseline", "density"])
def test_smallest_epsilons_that_pass_the_check_can_be_drawn(technique, subtests):
    for kwargs in [{"grid": 8}, {"grid": "auto"}, {"grid": 8, "wavelet": "sym5"}]:
        with subtests.test(kwargs=kwargs):
            drawn = []
            for power in SMALL:
                ledger = Ledger(epsilon=1.0)
                settings = {"technique": technique, "ledger": ledger, "random_state": 0, **kwargs}
                drawn.append(
                    fits(DPWaveCluster(epsilon=10.0**power, bounds=(-1.0, 1.0), **settings))
                )
                assert len(ledger) == drawn[-1]
            assert drawn == sorted(drawn)
            assert set(drawn) == {False, True}


def test_scales_of_any_band_can_be_drawn():
    """The check is for the largest sensitivity that a band may have."""
    assert band_of("dmey", 2, 64, 6).sensitivity <= MAX_SENSITIVE <= MAX_SCALE


@pytest.mark.full
def test_largest_epsilons(subtests):
    for technique in ["oneshot", "thr", "thr-em", "qt", "baseline", "density"]:
        with subtests.test(technique=technique):
            for wavelet in ["haar", "db2"]:
                for epsilon in [30.0, 1e9]:
                    kwargs = {
                        "bounds": (-1.0, 1.0),
                        "grid": 8,
                        "technique": technique,
                        "wavelet": wavelet,
                    }
                    assert DPWaveCluster(epsilon=epsilon, **kwargs).fit(X).labels_.shape == (50,)
