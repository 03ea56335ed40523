"""Everything in ``shoal.remap`` and ``shoal.reports``, where code that reads records is missing.

Run in a process of its own: ``python reports_without_readers.py MODULE...`` refuses to import
the modules.
"""

import importlib.abc
import sys

import numpy as np
from sklearn.base import BaseEstimator

METHODS = ("kmeans", "agglomerative", "optics", "dbscan", "affinity")


class Refuse(importlib.abc.MetaPathFinder):
    """Refuse to find some modules and what is in them."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        if any(name == module or name.startswith(f"{module}.") for module in self.modules):
            raise ImportError(f"{name} reads records")


def device(epsilon):
    """Describe Laplace noise, as a server does that has no mechanism."""
    from shoal._report_channel import ReportChannel
    from shoal.privacy import Adjacency, Guarantee

    class Device(ReportChannel, BaseEstimator):
        noise_kind = "radial"

        def __init__(self, *, bounds=(-1.0, 1.0), ledger=None, random_state=None):
            self.bounds = bounds
            self.ledger = ledger
            self.random_state = random_state

        @property
        def guarantee_(self):
            return Guarantee("metric", epsilon=epsilon, adjacency=Adjacency.SUBSTITUTE)

        def fit(self, X):
            return self

        def log_density(self, z, x):
            distances = np.linalg.norm(np.atleast_2d(z) - x, axis=1)
            return np.log(epsilon**2 / (2 * np.pi)) - epsilon * distances

        def variance(self, X=None):
            return 3 / epsilon**2 if X is None else np.full(np.shape(X), 3 / epsilon**2)

    return Device()


def color_device():
    """Describe colors of cells, as a server does that has no mechanism."""
    from fractions import Fraction

    from shoal._bounds import public_box
    from shoal._report_channel import PartitionChannel
    from shoal.partitions import box_axes, default_partitions
    from shoal.privacy import Adjacency, Guarantee

    class ColorDevice(PartitionChannel, BaseEstimator):
        bounds = (-1.0, 1.0)
        epsilon = 2.0

        def __init__(self, *, partitions=None, first_partition=0, ledger=None):
            self.partitions = partitions
            self.first_partition = first_partition
            self.ledger = ledger

        @property
        def guarantee_(self):
            return Guarantee("local", epsilon=self.epsilon, adjacency=Adjacency.SUBSTITUTE)

        @property
        def keep_probability(self):
            return Fraction(2, 5)

        def make_partitions(self, columns=None):
            axes = box_axes(public_box(self.bounds, 2))
            return self.partitions or default_partitions(axes, epsilon=self.epsilon)

        def log_density(self, z, x):
            raise NotImplementedError

        def variance(self, X=None):
            raise NotImplementedError

        def fit(self, X):
            return self

    return ColorDevice()


def campaign(reports, rng):
    """Run both rounds of a campaign on colors that are chance."""
    rounds = reports.TwoRoundCampaign(2, mechanism=color_device())
    first = np.column_stack([rng.integers(0, 256, 100), rng.integers(0, 8, 100)])
    second = np.column_stack([rng.integers(0, rounds.second(first).n_partitions, 100), first[:, 1]])
    second[:, 0] += rounds.first.n_partitions
    return rounds.cluster(first, second, random_state=0)


def main(*modules):
    sys.meta_path.insert(0, Refuse(modules))
    from shoal import remap, reports
    from shoal._bounds import public_box

    rng = np.random.default_rng(0)
    Z = rng.choice([-0.5, 0.5], size=(200, 1)) + rng.normal(0, 0.2, size=(200, 2))
    box = (-1.0, 1.0)
    gaussian = reports.GaussianChannel(0.2, bounds=box)
    model = reports.NoiseAwareKMeans(2, mechanism=gaussian, random_state=0).fit(Z)
    kmeans = reports.NoiseAwareKMeans(2, mechanism=device(8.0), random_state=0)
    cloud = remap.Cloud(np.ones((1, len(Z))), Z)
    grid = remap.RegularGrid(public_box(box, 2), np.array([8, 8]), np.array([4, 4]))
    convolution = remap.Convolution(np.ones((9, 9)), grid.cells, grid.outer)
    density = reports.NoiseAwareDensity(mechanism=device(8.0), random_state=0)
    colors = np.column_stack([rng.integers(0, 256, 100), rng.integers(0, 8, 100)]).astype(float)
    results = {
        "CellChannel": remap.CellChannel,
        "Cloud": cloud,
        "Convolution": convolution.forward(np.ones((8, 8))),
        "RegularGrid": grid.centers,
        "geometric_medians": remap.geometric_medians([cloud], np.zeros((1, 2)), scale=1.0),
        "squared_distances": remap.squared_distances(Z, Z),
        "BayesRemap": remap.BayesRemap(device(8.0)).fit_transform(Z),
        "Clip": remap.Clip(bounds=box).fit_transform(Z),
        "GridRemap": remap.GridRemap(bounds=box, cells=8).fit_transform(Z),
        "iterative_bayesian_update": remap.iterative_bayesian_update([1, 2, 1], [0.2, 0.6, 0.2]),
        "ANALYSES": reports.ANALYSES,
        "AnalysisMethod": reports.AnalysisMethod,
        "AnalysisParameter": reports.AnalysisParameter,
        "CountedReports": reports.CountedReports.of_blocks([colors], color_device()).n_reports,
        "analyze_reports": reports.analyze_reports(
            Z, parameters={"n_clusters": 2}, mechanism=device(8.0)
        ),
        "check_analysis": reports.check_analysis("noise-aware", mechanism=device(8.0)),
        "liars_weight": reports.liars_weight(device(8.0), 2),
        "CampaignPlan": reports.TwoRoundCampaign(2, mechanism=color_device()).plan(100),
        "ClusterCount": reports.select_n_clusters(Z, random_state=0),
        "DBSCANEps": reports.select_dbscan_eps(Z),
        "GaussianChannel": gaussian.variance(Z),
        "NoiseAwareDensity": density.fit(Z).predict(Z),
        "NoiseAwareKMeans": kmeans.fit(Z).predict(Z),
        "ReleasedClusters": reports.load_release(model.release_).transform(Z),
        "ReportClusters": reports.cluster_reports(Z, "kmeans", random_state=0),
        "TwoRoundCampaign": campaign(reports, rng).predict(Z),
        "cluster_reports": [reports.cluster_reports(Z, method) for method in METHODS],
        "label_encoded": reports.label_encoded(model.release_, Z),
        "label_on_device": reports.label_on_device(model.release_, Z),
        "load_release": reports.load_release(model.release_).predict(Z),
        "select_dbscan_eps": reports.select_dbscan_eps(Z, standardize=True),
        "select_n_clusters": reports.select_n_clusters(Z, method="gap", random_state=0),
        "spread_over_box": reports.spread_over_box(3, box, columns=2),
    }
    assert set(results) == {*remap.__all__, *reports.__all__}
    for module in modules:
        assert module not in sys.modules
    print("all ran")  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
