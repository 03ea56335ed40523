"""Every method that shoal offers, declared once, as plain data.

The command line, ``shoal compare``, charts, tests and reference pages read this table; nothing is
imported by it, so that ``import shoal`` loads no numpy and charts know no estimator. A new
mechanism or method is one entry of :data:`METHODS`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

__all__ = ["METHODS", "Method", "choices", "class_names"]

TrustModel = Literal["central", "shuffled", "local"]
Notion = Literal["central", "local", "metric"]
Output = Literal["centers", "cells", "records", "reports", "remapped"]

MAX_COLUMNS = 8192  # of any engine
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Method(NamedTuple):
    """One method: a class and the parameters that make it this method.

    Parameters
    ----------
    name : str
        Name of the method in ``--only`` and in charts.
    location : str
        Its class, as ``"module:Class"``.
    notion : {"central", "local", "metric"}
        Notion of its guarantee, which says what its epsilon means.
    output : {"centers", "cells", "records", "reports", "remapped"}
        What it releases.
    summary : str
        What it does, in a few words.
    kwargs : mapping
        Parameters of the class that select this method.
    min_columns, max_columns : int
        Smallest and largest number of columns that it accepts.
    noise_aware : bool
        Whether :class:`shoal.NoiseAwareKMeans` knows the distribution of its reports.
    compared : bool
        Whether ``shoal compare`` runs it.
    shuffled : bool
        Whether ``shoal compare`` also runs it behind a shuffler, at the larger epsilon that each
        report may then have.
    label : str
        Text that stands for it in the keys of trials, from which their seeds come: it stays when
        the method or its class gets another name. Empty for methods that are not compared.
    """

    name: str
    location: str
    notion: Notion
    output: Output
    summary: str
    kwargs: Mapping[str, Any] = NOTHING
    min_columns: int = 1
    max_columns: int = MAX_COLUMNS
    noise_aware: bool = False
    compared: bool = True
    shuffled: bool = False
    label: str = ""

    @property
    def trust_model(self) -> TrustModel:
        """Who is trusted with raw records: a curator ("central") or nobody ("local").

        Reports of a local method may also be shuffled: see ``shuffled``.
        """
        return "central" if self.notion == "central" else "local"

    @property
    def class_name(self) -> str:
        """Name of its class."""
        return self.location.partition(":")[2]


def _kmeans(method: str, label: str, summary: str, max_columns: int = MAX_COLUMNS) -> Method:
    return Method(
        f"DPKMeans-{method}",
        "shoal.cluster:DPKMeans",
        "central",
        "centers",
        summary,
        {"method": method},
        max_columns=max_columns,
        label=label,
    )


def _wave(technique: str, label: str, summary: str) -> Method:
    return Method(
        f"DPWaveCluster-{technique}",
        "shoal.cluster:DPWaveCluster",
        "central",
        "cells",
        summary,
        {"technique": technique},
        max_columns=4,
        label=label,
    )


METHODS: tuple[Method, ...] = (
    _kmeans(
        "grid",
        "DPKMeans-grid",
        "clusters the noisy counts of a grid, then one noisy step; best up to 16 columns",
        32,
    ),
    _kmeans(
        "tree",
        "DPKMeans-tree",
        "as grid, or on a noisy tree with small cells where most records are; best up to 8 columns",
        8,
    ),
    _kmeans(
        "centered",
        "DPKMeans-centered",
        "a noisy grid around the noisy mean, then noisy rounds; for 5 columns or more",
    ),
    _kmeans(
        "ball",
        "DPKMeans-ball",
        "noisy rounds inside a ball that is learned first; for many columns",
    ),
    _kmeans(
        "mixed",
        "DPKMeans-mixed",
        "noisy rounds with noise that suits numbers and categories; for mixed tables",
    ),
    _kmeans(
        "lloyd",
        "DPKMeans-lloyd",
        "Lloyd's algorithm with noisy counts and sums",
    ),
    _kmeans(
        "kccm",
        "DPKMeans-kccm",
        "DP-KCCM, corrected: finds too many clusters, then merges them",
    ),
    _wave(
        "oneshot",
        "DPWaveCluster-oneshot",
        "WaveCluster with all of epsilon on the band, and a threshold from the known noise",
    ),
    _wave(
        "thr",
        "DPWaveCluster-thr",
        "PrivTHR, corrected: WaveCluster with a threshold from a noisy number of empty cells",
    ),
    _wave(
        "thr-em",
        "DPWaveCluster-thr-em",
        "PrivTHR_EM, corrected: WaveCluster with a threshold by the exponential mechanism",
    ),
    _wave(
        "qt",
        "DPWaveCluster-qt",
        "PrivQT, corrected: WaveCluster with a quantile of the noisy values as threshold",
    ),
    _wave(
        "baseline",
        "DPWaveCluster-baseline",
        "WaveCluster on synthetic records from a noisy adaptive grid",
    ),
    _wave(
        "density",
        "DPWaveCluster-density",
        "cells whose neighborhood holds enough records, as in DBSCAN",
    ),
    Method(
        "DPDensity",
        "shoal.cluster:DPDensity",
        "central",
        "cells",
        "clusters of any shape: the significant peaks of a noisy density; nothing to tune",
        max_columns=4,
        label="DPDensity",
    ),
    Method(
        "PrivateCopy",
        "shoal.cluster:PrivateCopy",
        "central",
        "records",
        "synthetic records, drawn from noisy histograms and cells or from a noisy tree",
        compared=False,
    ),
    Method(
        "Laplace",
        "shoal.mechanisms:Laplace",
        "metric",
        "reports",
        "n-dimensional Laplace noise on a public lattice",
        noise_aware=True,
        label="Laplace",
    ),
    Method(
        "PlanarLaplace",
        "shoal.mechanisms:PlanarLaplace",
        "metric",
        "reports",
        "planar Laplace noise by inverting its distribution function (geo-indistinguishability)",
        min_columns=2,
        max_columns=2,
        noise_aware=True,
        label="PlanarLaplace",
    ),
    Method(
        "SphericalLaplace",
        "shoal.mechanisms:SphericalLaplace",
        "metric",
        "reports",
        "three-dimensional Laplace noise by inverting its distribution function",
        min_columns=3,
        max_columns=3,
        noise_aware=True,
        label="SphericalLaplace",
    ),
    Method(
        "KdLaplace-grid",
        "shoal.mechanisms:KdLaplace",
        "metric",
        "reports",
        "Laplace noise; reports outside the bounds are moved to the nearest cell",
        {"remap": "grid"},
        label="KdLaplace-grid",
    ),
    Method(
        "KdLaplace-bayes",
        "shoal.mechanisms:KdLaplace",
        "metric",
        "reports",
        "Laplace noise; reports are remapped by the density of all reports",
        {"remap": "bayes"},
        label="KdLaplace-bayes",
    ),
    Method(
        "Piecewise",
        "shoal.mechanisms:Piecewise",
        "local",
        "reports",
        "the Piecewise mechanism, column by column",
        noise_aware=True,
        label="Piecewise",
    ),
    Method(
        "Hybrid",
        "shoal.mechanisms:Hybrid",
        "local",
        "reports",
        "the Piecewise or the Duchi mechanism, chosen by a public coin",
        noise_aware=True,
        label="Hybrid",
    ),
    Method(
        "Duchi",
        "shoal.mechanisms:Duchi",
        "local",
        "reports",
        "the two-valued mechanism of Duchi, Jordan and Wainwright",
        noise_aware=True,
        label="Duchi",
    ),
    Method(
        "SquareWave",
        "shoal.mechanisms:SquareWave",
        "local",
        "reports",
        "the Square Wave mechanism, column by column",
        noise_aware=True,
        label="SquareWave",
    ),
    Method(
        "PartitionResponse",
        "shoal.mechanisms:PartitionResponse",
        "local",
        "reports",
        "randomized response on the color of the record's cell in a public partition",
        noise_aware=True,
        shuffled=True,
        label="PartitionResponse",
    ),
    Method(
        "BayesRemap",
        "shoal.remap:BayesRemap",
        "metric",
        "remapped",
        "moves each report to the point with the least expected error",
        compared=False,
    ),
    Method(
        "GridRemap",
        "shoal.remap:GridRemap",
        "metric",
        "remapped",
        "moves reports outside the bounds to the nearest cell",
        compared=False,
    ),
    Method(
        "Clip",
        "shoal.remap:Clip",
        "metric",
        "remapped",
        "clips reports to the bounds",
        compared=False,
    ),
    Method(
        "NoiseAwareKMeans",
        "shoal.reports:NoiseAwareKMeans",
        "metric",
        "centers",
        "k-means on reports, corrected for their known noise",
        compared=False,
    ),
    Method(
        "NoiseAwareDensity",
        "shoal.reports:NoiseAwareDensity",
        "metric",
        "cells",
        "clusters of any shape from reports, corrected for their known noise",
        max_columns=3,
        compared=False,
    ),
)


def class_names(trust_model: TrustModel) -> tuple[str, ...]:
    """Return the names of the classes of a trust model that ``shoal compare`` runs.

    >>> class_names("central")
    ('DPKMeans', 'DPWaveCluster', 'DPDensity')
    """
    named = (one.class_name for one in METHODS if one.compared and one.trust_model == trust_model)
    return tuple(dict.fromkeys(named))


def choices(class_name: str, parameter: str) -> tuple[Any, ...]:
    """Return the values of a class's parameter that are methods of the registry.

    >>> choices("KdLaplace", "remap")
    ('grid', 'bayes')
    """
    mine = (one.kwargs for one in METHODS if one.class_name == class_name)
    return tuple(kwargs[parameter] for kwargs in mine if parameter in kwargs)
