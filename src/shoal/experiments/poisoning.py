"""What devices that lie do to clusters of reports, and what a robust analysis saves.

A share of the devices sends what it likes. Every report is one that the mechanism could have drawn,
so that no check of single reports refuses it; the liars know the mechanism, the analysis and where
the clusters are, and act together. In theory a share f of them moves the estimate of any share of
records by about f / epsilon (Cheu, Smith & Ullman 2021); for colors of cells it is f / lam, where
lam is the probability that a color is kept.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from shoal import _numbers
from shoal._bounds import public_box
from shoal._report_channel import PartitionChannel, channel_bounds
from shoal._typing import Bools, Floats
from shoal.exceptions import ParameterError
from shoal.mechanisms import Mechanism
from shoal.metrics import nicv
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans, label_on_device

__all__ = ["LIES", "PoisonRow", "Scene", "lying_reports", "measure_poisoning"]

DRAWS = 20  # honest reports of a record, of which a liar sends the most or the least probable
PLACES = 60  # of the box in each column that a target is chosen from
NEAR = 0.5  # typical distances between clusters from the target: what is planted lies within
LIAR_SEED = 1_000_000  # added to the seed of the honest devices


class Scene(NamedTuple):
    """The true clusters, and the places that lying devices aim at.

    Parameters
    ----------
    centers : ndarray of shape (k, d)
        Centers of k-means on the true records.
    cost : float
        Mean squared distance of the records from these centers.
    typical : float
        Median distance of a center from the nearest other one.
    diagonal : float
        Length of the diagonal of the public bounds.
    empty : ndarray of shape (d,)
        Point within the bounds that is farthest from all centers.
    victim : ndarray of shape (d,)
        Center of the smallest cluster.
    border : ndarray of shape (d,)
        Point farthest from the victim among those nearest to it.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.experiments import Scene
    >>> from shoal.mechanisms import PartitionResponse
    >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 50, axis=0)
    >>> mechanism = PartitionResponse(2.0, bounds=([0.0, 0.0], [1.0, 1.0])).fit(X)
    >>> scene = Scene.of(X, mechanism, 2)
    >>> round(scene.typical, 2)
    0.85
    """

    centers: Floats
    cost: float
    typical: float
    diagonal: float
    empty: Floats
    victim: Floats
    border: Floats

    @classmethod
    def of(cls, X: Floats, mechanism: Any, n_clusters: int) -> "Scene":
        """Cluster the true records, and choose the places to aim at."""
        box = public_box(channel_bounds(mechanism), X.shape[1])
        model = KMeans(n_clusters, n_init=10, random_state=0).fit(X)
        centers: Floats = model.cluster_centers_
        apart = np.linalg.norm(centers[:, None] - centers, axis=2)
        sides = [np.linspace(*ends, PLACES) for ends in zip(box.low, box.high, strict=True)]
        places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, X.shape[1])
        distances = np.linalg.norm(places[:, None] - centers, axis=2)
        smallest = int(np.bincount(model.labels_).argmin())
        own = np.where(distances.argmin(axis=1) == smallest, distances[:, smallest], -1.0)
        np.fill_diagonal(apart, np.inf)
        return cls(
            centers,
            nicv(X, centers),
            float(np.median(apart.min(axis=1))),
            float(np.linalg.norm(box.high - box.low)),
            places[distances.min(axis=1).argmax()],
            centers[smallest],
            places[own.argmax()],
        )


def _fake(mechanism: Mechanism, scene: Scene, n: int) -> Floats:
    return _draws(mechanism, scene.empty, n)


def _plant(mechanism: Mechanism, scene: Scene, n: int) -> Floats:
    return _chosen(mechanism, scene.empty, n, most=True)


def _move(mechanism: Mechanism, scene: Scene, n: int) -> Floats:
    return _chosen(mechanism, scene.border, n, most=True)


def _erase(mechanism: Mechanism, scene: Scene, n: int) -> Floats:
    return _chosen(mechanism, scene.victim, n, most=False)


def _crude(mechanism: Mechanism, scene: Scene, n: int) -> Floats:
    if isinstance(mechanism, PartitionChannel):
        return np.tile(_chosen(mechanism, scene.empty, 1, most=True), (n, 1))
    toward = scene.empty > scene.centers.mean(axis=0)
    columns = mechanism.report_format().columns
    indices = [
        column.first + column.stride * (column.levels - 1) * bool(up)
        for column, up in zip(columns, toward, strict=True)
    ]
    corner = [c.origin + c.step * index for c, index in zip(columns, indices, strict=True)]
    return np.tile(np.array(corner), (n, 1))


#: The lies that devices can tell, by name: functions of the mechanism, the scene and the number of
#: liars that return their reports.
LIES: dict[str, Callable[[Mechanism, Scene, int], Floats]] = {
    "fake": _fake,  # a made-up record in an empty place, reported as the mechanism says
    "plant": _plant,  # the most probable reports of that record
    "move": _move,  # the most probable reports of a record at the border of the smallest cluster
    "erase": _erase,  # the least probable reports of a record in the smallest cluster
    "crude": _crude,  # all the same: one color of one partition, or the farthest corner
}


def lying_reports(
    lie: str, mechanism: Mechanism, scene: Scene, n: int, *, random_state: int
) -> Floats:
    """Return reports of lying devices; the mechanism could have drawn each of them.

    Parameters
    ----------
    lie : {"fake", "plant", "move", "erase", "crude"}
        The lie, a name from ``LIES``. ``"fake"``: honest reports of a false record in an empty
        place; ``"plant"``: the most probable reports of that record; ``"move"``: those of a record
        at the border of the smallest cluster; ``"erase"``: the least probable reports of a record
        in that cluster; ``"crude"``: all the same report.
    mechanism : Mechanism
        Fitted mechanism of the campaign.
    scene : Scene
        Places that the liars aim at.
    n : int
        Number of liars.
    random_state : int
        Seed of their reports.

    Returns
    -------
    reports : ndarray of shape (n, columns of a report)
        Their reports.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.experiments import Scene, lying_reports
    >>> from shoal.mechanisms import PartitionResponse
    >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 50, axis=0)
    >>> mechanism = PartitionResponse(2.0, bounds=([0.0, 0.0], [1.0, 1.0])).fit(X)
    >>> scene = Scene.of(X, mechanism, 2)
    >>> lies = lying_reports("plant", mechanism, scene, 3, random_state=0)
    >>> mechanism.report_format().check(lies).shape
    (3, 2)
    """
    if lie not in LIES:
        raise ParameterError(f"lie must be one of {', '.join(LIES)}, got {lie!r}")
    own = clone(mechanism).set_params(random_state=random_state)
    own.fit(scene.centers)
    return LIES[lie](own, scene, n)


@dataclass(frozen=True)
class PoisonRow:
    """The effect of lying devices on one analysis of the reports.

    Parameters
    ----------
    lie : str
        Name of the lie; ``"none"`` without liars.
    share : float
        Share of the devices that lie.
    analysis : str
        ``"trusting"`` or ``"contamination 0.01"`` (:class:`shoal.NoiseAwareKMeans` without and with
        that ``contamination``), ``"density"``, or ``"plain"``, k-means on clipped reports.
    seed : int
        Seed of devices, liars and analysis.
    shift : float
        Largest distance from a center of the true records to the nearest estimated one, divided by
        the diagonal of the bounds.
    shift_typical : float
        The same, divided by the typical distance between clusters.
    cost : float
        Mean squared distance of the true records from the estimated centers, divided by that from
        their true ones.
    planted : float
        Estimated share of the records in clusters near the empty place.
    left_out : float
        Share of the reports that the analysis left out.

    Examples
    --------
    >>> from shoal.experiments import PoisonRow
    >>> row = PoisonRow("plant", 0.05, "trusting", 0, 0.4, 2.0, 1.3, planted=0.1, left_out=0.0)
    >>> row.lie, row.share
    ('plant', 0.05)
    """

    lie: str
    share: float
    analysis: str
    seed: int
    shift: float
    shift_typical: float
    cost: float
    planted: float
    left_out: float


def measure_poisoning(
    X: Any,
    mechanism: Mechanism,
    n_clusters: int,
    *,
    lies: Iterable[str] = tuple(LIES),
    shares: Iterable[float] = (0.0, 0.01, 0.05),
    contaminations: Iterable[float | None] = (None, 0.0, 0.01),
    others: Iterable[str] = (),
    seed: int = 0,
) -> Iterator[PoisonRow]:
    """Measure the effect of lying devices on the clusters of a campaign.

    Parameters
    ----------
    X : array-like of shape (n, d)
        True records, one per device.
    mechanism : Mechanism
        Mechanism of the campaign; it needs bounds, and no ledger is charged.
    n_clusters : int
        Number of clusters.
    lies : iterable of str
        Names from ``LIES``, see ``lying_reports``.
    shares : iterable of float, default=(0.0, 0.01, 0.05)
        Shares of the devices that lie. A share of 0 gives the same result for every lie, as a
        single row.
    contaminations : iterable of float or None, default=(None, 0.0, 0.01)
        Values of ``contamination`` of :class:`shoal.NoiseAwareKMeans` to try.
    others : iterable of {"plain", "density"}
        Other analyses: k-means on clipped reports, and :class:`shoal.NoiseAwareDensity`.
    seed : int, default=0
        Seed of devices, liars and analysis.

    Yields
    ------
    row : PoisonRow
        The result of one lie, share and analysis. Compare rows of the same seed: in all of them the
        honest devices send the same reports.

    Examples
    --------
    >>> from shoal.datasets import make_gaussians
    >>> from shoal.experiments import measure_poisoning
    >>> from shoal.mechanisms import PartitionResponse
    >>> people = make_gaussians(2_000, n_clusters=2, random_state=3)
    >>> mechanism = PartitionResponse(4.0, bounds=people.bounds, n_clusters=2)
    >>> rows = list(measure_poisoning(
    ...     people.X, mechanism, 2, lies=["plant"], shares=[0.05], contaminations=[None, 0.05]))
    >>> [row.analysis for row in rows]
    ['trusting', 'contamination 0.05']
    """
    records = np.asarray(X, dtype=np.float64)
    devices = clone(mechanism).set_params(random_state=seed, ledger=None)
    honest = devices.fit_transform(records)
    scene = Scene.of(records, devices, n_clusters)
    campaign = _Campaign(records, devices, n_clusters, scene, seed)
    order = np.random.default_rng(seed).permutation(len(records))
    analyses: list[float | str | None] = [*contaminations, *others]
    for share in shares:
        n_liars = round(_numbers.probability("share", share) * len(records))
        for lie in lies if n_liars else ("none",):
            reports = honest.copy()
            if n_liars:
                reports[order[:n_liars]] = lying_reports(
                    lie, devices, scene, n_liars, random_state=LIAR_SEED + seed
                )
            for analysis in analyses:
                yield _row(campaign, _found(campaign, reports, analysis), lie, float(share))


class _Campaign(NamedTuple):
    """Records on devices, how they report, and what is asked."""

    records: Floats
    mechanism: Mechanism
    n_clusters: int
    scene: Scene
    seed: int


class _Found(NamedTuple):
    """Result of an analysis: centers (none of a density), what is planted, what was left out."""

    analysis: str
    centers: Floats | None
    planted: float
    left_out: float = 0.0


def _found(campaign: _Campaign, reports: Floats, analysis: float | str | None) -> _Found:
    if analysis == "plain":
        return _plain(campaign, reports)
    if analysis == "density":
        return _density(campaign, reports)
    if isinstance(analysis, str):
        raise ParameterError(f"others must be of 'plain' and 'density', got {analysis!r}")
    return _noise_aware(campaign, reports, analysis)


def _noise_aware(campaign: _Campaign, reports: Floats, contamination: float | None) -> _Found:
    model = NoiseAwareKMeans(
        campaign.n_clusters,
        mechanism=campaign.mechanism,
        contamination=contamination,
        random_state=campaign.seed,
    ).fit(reports)
    near = _is_near(model.cluster_centers_, campaign.scene)
    return _Found(
        "trusting" if contamination is None else f"contamination {contamination:g}",
        model.cluster_centers_,
        float(model.weights_[near].sum()),
        model.left_out_ / len(reports),
    )


def _plain(campaign: _Campaign, reports: Floats) -> _Found:
    if isinstance(campaign.mechanism, PartitionChannel):
        raise ParameterError(
            "others must not hold 'plain' for PartitionResponse, whose reports are no places: "
            "leave it out"
        )
    box = public_box(channel_bounds(campaign.mechanism), reports.shape[1])
    model = KMeans(campaign.n_clusters, n_init=10, random_state=campaign.seed)
    labels = model.fit_predict(np.clip(reports, box.low, box.high))
    near = _is_near(model.cluster_centers_, campaign.scene)
    return _Found("plain", model.cluster_centers_, float(near[labels].mean()))


def _density(campaign: _Campaign, reports: Floats) -> _Found:
    model = NoiseAwareDensity(mechanism=campaign.mechanism, random_state=campaign.seed)
    model.fit(reports)
    own = int(label_on_device(model.release_, campaign.scene.empty))
    size = float(model.cluster_sizes_[own]) if own >= 0 else 0.0
    return _Found("density", None, size / len(reports))


def _is_near(centers: Floats, scene: Scene) -> Bools:
    near: Bools = np.linalg.norm(centers - scene.empty, axis=1) < NEAR * scene.typical
    return near


def _row(campaign: _Campaign, found: _Found, lie: str, share: float) -> PoisonRow:
    scene = campaign.scene
    moved = cost = math.nan
    if found.centers is not None:
        gaps = np.linalg.norm(scene.centers[:, None] - found.centers, axis=2)
        moved = float(gaps.min(axis=1).max())
        cost = nicv(campaign.records, found.centers) / scene.cost
    return PoisonRow(
        lie=lie,
        share=share,
        analysis=found.analysis,
        seed=campaign.seed,
        shift=moved / scene.diagonal,
        shift_typical=moved / scene.typical,
        cost=cost,
        planted=found.planted,
        left_out=found.left_out,
    )


def _draws(mechanism: Mechanism, record: Floats, n: int) -> Floats:
    """Draw honest reports of one record."""
    return np.asarray(mechanism.transform(np.tile(record, (n, 1))), dtype=np.float64)


def _chosen(mechanism: Mechanism, record: Floats, n: int, *, most: bool) -> Floats:
    """Return the most or the least probable of some honest reports of a record, n times."""
    reports = _draws(mechanism, record, n * DRAWS)
    densities = np.asarray(mechanism.log_density(reports, record)).reshape(n, DRAWS)
    best = densities.argmax(axis=1) if most else densities.argmin(axis=1)
    chosen: Floats = reports.reshape(n, DRAWS, -1)[np.arange(n), best]
    return chosen
