"""Reports that no records explain: lies are left out, honest reports are not touched."""

import numpy as np
import pytest

from shoal._bounds import public_box
from shoal.exceptions import ParameterError
from shoal.mechanisms import Duchi, Hybrid, Laplace, PartitionResponse, Piecewise, SquareWave
from shoal.reports import GaussianChannel, NoiseAwareDensity, NoiseAwareKMeans, liars_weight
from shoal.reports._record_distributions import PosteriorDraws
from shoal.reports._trimming import trimmed
from shoal.reports._unexplained import explained_reports

BOX = (-1.0, 1.0)
BOUNDS = public_box(BOX, 2)
KINDS = [PartitionResponse, Piecewise, SquareWave, Hybrid, Duchi, Laplace]


def kept(reports, mechanism):
    return explained_reports(reports, mechanism, BOUNDS, np.random.RandomState(0))


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 32.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_honest_reports_are_kept(kind, epsilon, spread):
    """Of records at one point, the worst case, too: false alarms have probability 1e-9."""
    records = np.random.default_rng(0).normal(0.3, spread, (3_000, 2))
    mechanism = kind(epsilon, bounds=BOX, random_state=0)
    assert kept(mechanism.fit_transform(records), mechanism).all()


@pytest.mark.parametrize("kind", [PartitionResponse, Piecewise, SquareWave, Hybrid, Laplace])
def test_many_equal_reports_are_left_out(kind):
    mechanism = kind(4.0, bounds=BOX, random_state=0)
    reports = mechanism.fit_transform(np.random.default_rng(0).uniform(-1, 1, (5_000, 2)))
    reports[:250] = reports[0]
    found = kept(reports, mechanism)
    assert found[:250].sum() <= 25
    assert found[250:].sum() >= 4_720


def test_one_partition_with_all_its_colors_is_left_out():
    mechanism = PartitionResponse(4.0, bounds=BOX, random_state=0)
    reports = mechanism.fit_transform(np.zeros((5_000, 2)))
    colors = mechanism.partitions_.n_colors
    reports[:250] = np.column_stack([np.full(250, 7), np.arange(250) % colors])
    assert kept(reports, mechanism)[:250].sum() <= 25


def test_a_single_report_that_is_too_far_is_left_out():
    mechanism = Laplace(4.0, bounds=BOX, random_state=0)
    reports = mechanism.fit_transform(np.zeros((1_000, 2)))
    reports[3] = [25.0, 25.0]  # 34 from the box: e^-136
    assert np.flatnonzero(~kept(reports, mechanism)).tolist() == [3]


def test_reports_of_two_rounds_together_are_kept():
    mechanism = PartitionResponse(4.0, bounds=BOX, random_state=0, first_partition=200)
    later = mechanism.fit_transform(np.zeros((500, 2)))
    assert later[:, 0].min() >= 200
    assert kept(later, mechanism).all()
    both = np.concatenate([np.zeros((500, 2)), later])
    assert kept(both, mechanism).all()


@pytest.mark.parametrize("estimator", [NoiseAwareKMeans, NoiseAwareDensity])
def test_labels_of_reports_that_are_left_out(estimator):
    mechanism = Laplace(8.0, bounds=BOX, random_state=0)
    X = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 500, axis=0)
    reports = mechanism.fit_transform(X)
    reports[:40] = reports[0]
    model = estimator(n_clusters=2, mechanism=mechanism, contamination=0.0, random_state=0)
    model.fit(reports)
    assert model.left_out_ == 40
    assert (model.labels_[:40] == -1).all()
    assert (model.labels_[40:] >= 0).mean() > 0.3  # reports lie around the cells of a density
    assert len(model.labels_) == len(reports)


def test_nobody_lies_and_bits_are_the_same():
    mechanism = PartitionResponse(4.0, bounds=BOX, n_clusters=2, random_state=0)
    reports = mechanism.fit_transform(np.repeat([[-0.5, -0.5], [0.5, 0.5]], 500, axis=0))
    trusting, robust = (
        NoiseAwareKMeans(2, mechanism=mechanism, contamination=c, random_state=0).fit(reports)
        for c in (None, 0.0)
    )
    assert (trusting.cluster_centers_ == robust.cluster_centers_).all()
    assert trusting.left_out_ == robust.left_out_ == 0


def test_small_clusters_are_no_clusters_where_liars_could_make_them_up():
    mechanism = Laplace(20.0, bounds=BOX, random_state=0)
    X = np.repeat([[-0.5], [0.5]], [1_500, 500], axis=0)
    model = NoiseAwareDensity(mechanism=mechanism, contamination=0.0, random_state=0)
    model.fit(mechanism.fit_transform(X))
    assert model.n_clusters_ == 2
    model.contamination = 0.2  # 30% of the records, as a lie weighs 1.5
    assert model.refine().n_clusters_ == 1


def test_centers_without_a_far_part():
    """Two clusters of three: the lightest is left out, and never a whole even share."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    density = PosteriorDraws(
        np.repeat(points, 50, axis=0) + np.linspace(0, 0.01, 150)[:, None],
        np.repeat([0.0092, 0.0092, 0.0016], 50),
        np.ones(2),
        1,
    )
    rng = np.random.RandomState(0)
    assert trimmed(density, 2, None, rng) is density
    assert trimmed(density, 2, 0.0, rng) is density
    assert trimmed(density, 2, 0.05, rng) is density  # the third has 8%
    rest = trimmed(density, 2, 0.1, rng)
    assert rest.weights[100:].max() == 0.0
    assert rest.weights.sum() == pytest.approx(1.0)
    even = np.stack(np.meshgrid(*[np.arange(12.0)] * 2), axis=-1).reshape(-1, 2)
    spread = PosteriorDraws(even, np.full(144, 1 / 144), np.ones(2), 1)
    assert trimmed(spread, 4, 0.1, rng) is spread  # no part matters more than others


def test_what_a_lie_weighs():
    partition = PartitionResponse(1.0, bounds=BOX)
    assert liars_weight(partition, 2) == 1 / float(partition.keep_probability)
    # Piecewise, by hand: a report is of the window with probability (1 - o) / (1 + o s), where
    # o = e^-epsilon and s = e^(epsilon/2), for each column's epsilon.
    odds, ratio = np.exp(-2.0), np.exp(1.0)
    informed = (1 - odds) / (1 + odds * ratio)
    assert liars_weight(Piecewise(4.0, bounds=BOX), 2) == pytest.approx(informed**-2, rel=1e-3)
    assert liars_weight(Duchi(2.0, bounds=BOX), 2) == pytest.approx(1 / np.tanh(1.0))
    assert liars_weight(Laplace(2.0, bounds=BOX), 2) == 1.5
    assert liars_weight(GaussianChannel(0.1, bounds=BOX), 2) == 1.5
    with pytest.raises(ParameterError, match="mechanism must be the one that made the reports"):
        liars_weight(None, 2)


def test_reports_of_another_mechanism_are_refused():
    mechanism = PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0]))
    model = NoiseAwareKMeans(2, mechanism=mechanism, contamination=0.0)
    with pytest.raises(ParameterError, match="from another mechanism"):
        model.fit([[0.0, 1e6]])
