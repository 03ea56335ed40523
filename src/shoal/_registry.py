"""Every method that shoal offers, declared once, as plain data.

The command line, ``shoal compare``, charts, tests and reference pages read this table; nothing is
imported by it, so that ``import shoal`` loads no numpy and charts know no estimator. A new
mechanism or method is one entry of :data:`METHODS` (and of :data:`PUBLIC`, if users import it from
``shoal`` itself).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

__all__ = ["METHODS", "PUBLIC", "SERIES", "Look", "Method", "choices", "class_names"]

TrustModel = Literal["central", "shuffled", "local"]
Notion = Literal["central", "local", "metric"]
Output = Literal["centers", "cells", "records", "reports", "remapped"]

MAX_COLUMNS = 8192  # of any engine
NOTHING: Mapping[str, Any] = MappingProxyType({})

FULL: tuple[float, ...] = ()
DASH, DOTS, MIXED, LONG = (4.0, 2.0), (1.0, 1.3), (5.0, 1.5, 1.0, 1.5), (8.0, 2.0)


class Look(NamedTuple):
    """Color, marker and dash of a series in charts, chosen to differ in gray too.

    A marker is a shape of Vega-Lite, or x, pentagon, hexagon, hourglass or star of
    :mod:`shoal.plotting`.
    """

    color: str
    marker: str
    dash: tuple[float, ...] = FULL


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
    look : Look
        Look of its line, point or bar in charts.
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
    """

    name: str
    location: str
    notion: Notion
    output: Output
    summary: str
    look: Look
    kwargs: Mapping[str, Any] = NOTHING
    min_columns: int = 1
    max_columns: int = MAX_COLUMNS
    noise_aware: bool = False
    compared: bool = True
    shuffled: bool = False

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


def _kmeans(method: str, summary: str, look: Look, max_columns: int = MAX_COLUMNS) -> Method:
    return Method(
        f"DPKMeans-{method}",
        "shoal.cluster:DPKMeans",
        "central",
        "centers",
        summary,
        look,
        {"method": method},
        max_columns=max_columns,
    )


def _wave(technique: str, summary: str, look: Look) -> Method:
    return Method(
        f"DPWaveCluster-{technique}",
        "shoal.cluster:DPWaveCluster",
        "central",
        "cells",
        summary,
        look,
        {"technique": technique},
        max_columns=4,
    )


METHODS: tuple[Method, ...] = (
    _kmeans(
        "grid",
        "clusters the noisy counts of a grid, then one noisy step; best up to 16 columns",
        Look("#0b3c5d", "circle"),
        32,
    ),
    _kmeans(
        "tree",
        "as grid, or on a noisy tree with small cells where most records are; best up to 8 columns",
        Look("#6f7d1c", "triangle-left", LONG),
        8,
    ),
    _kmeans(
        "centered",
        "a noisy grid around the noisy mean, then noisy rounds; for 5 columns or more",
        Look("#c8643c", "square", LONG),
    ),
    _kmeans(
        "ball",
        "noisy rounds inside a ball that is learned first; for many columns",
        Look("#d1495b", "triangle-right", MIXED),
    ),
    _kmeans(
        "mixed",
        "noisy rounds with noise that suits numbers and categories; for mixed tables",
        Look("#3d6b8f", "hourglass", DASH),
    ),
    _kmeans(
        "lloyd",
        "Lloyd's algorithm with noisy counts and sums",
        Look("#2e8b57", "triangle-up", MIXED),
    ),
    _kmeans(
        "kccm",
        "DP-KCCM, corrected: finds too many clusters, then merges them",
        Look("#8e5aa8", "diamond", DOTS),
    ),
    _wave(
        "oneshot",
        "WaveCluster with all of epsilon on the band, and a threshold from the known noise",
        Look("#b3202c", "triangle-down", LONG),
    ),
    _wave(
        "thr",
        "PrivTHR, corrected: WaveCluster with a threshold from a noisy number of empty cells",
        Look("#1b4965", "cross", LONG),
    ),
    _wave(
        "thr-em",
        "PrivTHR_EM, corrected: WaveCluster with a threshold by the exponential mechanism",
        Look("#2a9d8f", "pentagon", DASH),
    ),
    _wave(
        "qt",
        "PrivQT, corrected: WaveCluster with a quantile of the noisy values as threshold",
        Look("#e9a23b", "x", MIXED),
    ),
    _wave(
        "baseline",
        "WaveCluster on synthetic records from a noisy adaptive grid",
        Look("#b9b9b9", "hexagon", DOTS),
    ),
    _wave(
        "density",
        "cells whose neighborhood holds enough records, as in DBSCAN",
        Look("#5b2a4e", "star"),
    ),
    Method(
        "DPDensity",
        "shoal.cluster:DPDensity",
        "central",
        "cells",
        "clusters of any shape: the significant peaks of a noisy density; nothing to tune",
        Look("#3d5a80", "hexagon", LONG),
        max_columns=4,
    ),
    Method(
        "PrivateCopy",
        "shoal.cluster:PrivateCopy",
        "central",
        "records",
        "synthetic records, drawn from noisy histograms and cells or from a noisy tree",
        Look("#7a7a7a", "square", DOTS),
        compared=False,
    ),
    Method(
        "Laplace",
        "shoal.mechanisms:Laplace",
        "metric",
        "reports",
        "n-dimensional Laplace noise on a public lattice",
        Look("#6b7280", "cross", MIXED),
        noise_aware=True,
    ),
    Method(
        "PlanarLaplace",
        "shoal.mechanisms:PlanarLaplace",
        "metric",
        "reports",
        "planar Laplace noise by inverting its distribution function (geo-indistinguishability)",
        Look("#6a4c93", "x", DASH),
        min_columns=2,
        max_columns=2,
        noise_aware=True,
    ),
    Method(
        "SphericalLaplace",
        "shoal.mechanisms:SphericalLaplace",
        "metric",
        "reports",
        "three-dimensional Laplace noise by inverting its distribution function",
        Look("#1a5490", "square", DASH),
        min_columns=3,
        max_columns=3,
        noise_aware=True,
    ),
    Method(
        "KdLaplace-grid",
        "shoal.mechanisms:KdLaplace",
        "metric",
        "reports",
        "Laplace noise; reports outside the bounds are moved to the nearest cell",
        Look("#38b2a3", "triangle-up", MIXED),
        {"remap": "grid"},
    ),
    Method(
        "KdLaplace-bayes",
        "shoal.mechanisms:KdLaplace",
        "metric",
        "reports",
        "Laplace noise; reports are remapped by the density of all reports",
        Look("#a9cc3f", "diamond", DOTS),
        {"remap": "bayes"},
    ),
    Method(
        "Piecewise",
        "shoal.mechanisms:Piecewise",
        "local",
        "reports",
        "the Piecewise mechanism, column by column",
        Look("#c1443c", "triangle-down", LONG),
        noise_aware=True,
    ),
    Method(
        "Hybrid",
        "shoal.mechanisms:Hybrid",
        "local",
        "reports",
        "the Piecewise or the Duchi mechanism, chosen by a public coin",
        Look("#d9b310", "triangle-right"),
        noise_aware=True,
    ),
    Method(
        "Duchi",
        "shoal.mechanisms:Duchi",
        "local",
        "reports",
        "the two-valued mechanism of Duchi, Jordan and Wainwright",
        Look("#d98cc4", "triangle-left", DOTS),
        noise_aware=True,
    ),
    Method(
        "SquareWave",
        "shoal.mechanisms:SquareWave",
        "local",
        "reports",
        "the Square Wave mechanism, column by column",
        Look("#7a4e2d", "pentagon", DOTS),
        noise_aware=True,
    ),
    Method(
        "PartitionResponse",
        "shoal.mechanisms:PartitionResponse",
        "local",
        "reports",
        "randomized response on the color of the record's cell in a public partition",
        Look("#0f7173", "star", DASH),
        noise_aware=True,
        shuffled=True,
    ),
    Method(
        "BayesRemap",
        "shoal.remap:BayesRemap",
        "metric",
        "remapped",
        "moves each report to the point with the least expected error",
        Look("#a9cc3f", "diamond", DOTS),
        compared=False,
    ),
    Method(
        "GridRemap",
        "shoal.remap:GridRemap",
        "metric",
        "remapped",
        "moves reports outside the bounds to the nearest cell",
        Look("#38b2a3", "triangle-up", MIXED),
        compared=False,
    ),
    Method(
        "Clip",
        "shoal.remap:Clip",
        "metric",
        "remapped",
        "clips reports to the bounds",
        Look("#7fb8a4", "square", LONG),
        compared=False,
    ),
    Method(
        "NoiseAwareKMeans",
        "shoal.reports:NoiseAwareKMeans",
        "metric",
        "centers",
        "k-means on reports, corrected for their known noise",
        Look("#204e4a", "circle", LONG),
        compared=False,
    ),
    Method(
        "NoiseAwareDensity",
        "shoal.reports:NoiseAwareDensity",
        "metric",
        "cells",
        "clusters of any shape from reports, corrected for their known noise",
        Look("#4f6d7a", "hexagon", DASH),
        max_columns=3,
        compared=False,
    ),
)

# What charts draw beside methods: trust models, the sources' own names, baselines.
SERIES: Mapping[str, Look] = MappingProxyType(
    {
        "central": Look("#0b3c5d", "circle"),
        "local": Look("#e07a1f", "square", DASH),
        "shuffled": Look("#2e8b57", "diamond", DOTS),
        "dpkmeans": Look("#0b3c5d", "circle"),
        "dpwavecluster": Look("#5b2a4e", "cross", LONG),
        "nd-laplace": Look("#1a5490", "square", DASH),
        "grid-nd-laplace": Look("#38b2a3", "triangle-up", MIXED),
        "density-nd-laplace": Look("#a9cc3f", "diamond", DOTS),
        "thr": Look("#0b3c5d", "circle"),
        "thr-em": Look("#2a9d8f", "square", DASH),
        "qt": Look("#e9a23b", "triangle-up", MIXED),
        "baseline": Look("#b9b9b9", "diamond", DOTS),
        "oneshot": Look("#b3202c", "triangle-down", LONG),
        "average k": Look("#8fb8de", "circle"),
        "average nk": Look("#1a5490", "square", DASH),
        "allocation k": Look("#f0b27a", "triangle-up", MIXED),
        "allocation nk": Look("#b9770e", "diamond", DOTS),
        "gaussian k": Look("#8fd0bd", "triangle-down", LONG),
        "gaussian nk": Look("#1e7b63", "cross", DASH),
        "auto": Look("#b3202c", "triangle-left"),
        "k-means without privacy": Look("#4a4a4a", "triangle-right", DOTS),
    }
)

# Names that can be imported from `shoal` itself, and their packages.
PUBLIC: Mapping[str, str] = MappingProxyType(
    {
        "Adjacency": "privacy",
        "Ball": "cluster",
        "Category": "schema",
        "ClusterProfile": "cluster",
        "DPDensity": "cluster",
        "DPKMeans": "cluster",
        "DPWaveCluster": "cluster",
        "Date": "schema",
        "Duchi": "mechanisms",
        "Flag": "schema",
        "Guarantee": "privacy",
        "Hybrid": "mechanisms",
        "KdLaplace": "mechanisms",
        "Laplace": "mechanisms",
        "Ledger": "privacy",
        "NoiseAwareDensity": "reports",
        "NoiseAwareKMeans": "reports",
        "Number": "schema",
        "Ordinal": "schema",
        "PartitionResponse": "mechanisms",
        "Piecewise": "mechanisms",
        "Place": "schema",
        "PlanarLaplace": "mechanisms",
        "PrivateCopy": "cluster",
        "Release": "privacy",
        "Schema": "schema",
        "SchemaEncoder": "schema",
        "SphericalLaplace": "mechanisms",
        "SquareWave": "mechanisms",
        "attack_centers": "audit",
        "audit_estimator": "audit",
        "audit_mechanism": "audit",
        "check_pipeline": "audit",
        "epsilon_lower_bound": "audit",
        "label_on_device": "labels",
        "load_release": "reports",
        "membership_inference": "audit",
        "metric_epsilon_lower_bound": "audit",
        "replay_estimator": "audit",
        "score_clustering": "metrics",
    }
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
