import numpy as np
import pytest

from shoal.cluster import DPWaveCluster
from shoal.exceptions import ParameterError
from shoal.plotting import draw_thresholds
from shoal.plotting.thresholds import _count
from shoal.privacy import Release

RECORDS = np.random.default_rng(0).normal([[0.5] * 3] * 400 + [[-0.5] * 3] * 400, 0.1)


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [1.0, float("inf")])
def test_picture_from_a_release_alone(columns, epsilon, tmp_path):
    model = DPWaveCluster(epsilon=epsilon, bounds=(-1.0, 1.0), grid=16)
    release = model.fit(RECORDS[:, :columns]).release_
    again = Release.from_json(release.to_json())  # as a reader gets it
    path = draw_thresholds(tmp_path / "thresholds.png", again)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_nothing_significant(tmp_path):
    model = DPWaveCluster(epsilon=0.01, bounds=(-1.0, 1.0), grid=16, random_state=0)
    release = model.fit(np.zeros((1, 2))).release_
    assert draw_thresholds(tmp_path / "empty.png", release).exists()


def test_sparse_release_is_refused(tmp_path):
    model = DPWaveCluster(bounds=(-1.0, 1.0), grid=64, random_state=0)
    release = model.fit(np.zeros((50, 6))).release_
    with pytest.raises(ParameterError, match="release must hold the whole band"):
        draw_thresholds(tmp_path / "sparse.png", release)


def test_clusters_that_are_counted():
    mask = np.zeros((6, 6), dtype=bool)
    mask[0, 0] = mask[1, 1] = True  # corners touch: one cluster of two
    mask[4, 4] = True  # alone: not counted
    assert _count(mask) == (1, 3)
