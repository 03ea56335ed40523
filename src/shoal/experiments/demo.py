"""The first comparison a newcomer sees: what privacy costs, in both trust models.

Both models cluster the same generated records. Costs are measured on the true records, which only a
demonstration on invented data may do in public.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from shoal._numbers import rounded_up
from shoal._typing import Floats
from shoal.cluster import DPKMeans
from shoal.datasets import Dataset, make_gaussians
from shoal.experiments.report import Report
from shoal.mechanisms import Laplace
from shoal.metrics import cost_ratio
from shoal.plotting import Picture
from shoal.privacy import Guarantee
from shoal.reports import NoiseAwareKMeans

__all__ = [
    "CENTRAL_EPSILONS",
    "METRIC_EPSILONS",
    "DemoRow",
    "Example",
    "demo_report",
    "demo_rows",
    "example",
]


#: Values of epsilon that the demo compares in the central model.
CENTRAL_EPSILONS = (0.003, 0.01, 0.1, 1.0)
#: Values of the metric epsilon, per unit of distance, that the demo compares.
METRIC_EPSILONS = (2.0, 4.0, 8.0, 16.0)
N_CLUSTERS = 5
HEADINGS = ("model", "method", "epsilon", "worst case", "cost", "agreement")


@dataclass(frozen=True)
class DemoRow:
    """Utility of one method at one epsilon, over repeated runs.

    Parameters
    ----------
    model : str
        The trust model, "central" or "local".
    method : str
        Name of the method.
    epsilon : float
        Epsilon of the method; for reports, a metric epsilon.
    worst_case : float
        The same guarantee as an epsilon between any two records within the bounds.
    costs : tuple of float
        Cost of the centers divided by that of k-means without privacy, for each run; 1 is no loss.
    agreements : tuple of float
        Adjusted Rand index between the true clusters and those of the nearest centers, for each
        run.
    guarantee : Guarantee
        The guarantee of the method.

    Examples
    --------
    >>> from shoal.experiments import DemoRow
    >>> from shoal.privacy import Guarantee
    >>> promise = Guarantee("central", epsilon=1.0)
    >>> row = DemoRow("central", "DPKMeans", 1.0, 1.0, (1.1, 1.2), (0.9, 0.8), promise)
    >>> sum(row.costs) / len(row.costs)
    1.15
    """

    model: str
    method: str
    epsilon: float
    worst_case: float
    costs: tuple[float, ...]
    agreements: tuple[float, ...]
    guarantee: Guarantee

    @property
    def cost_text(self) -> str:
        """Median and range of the costs, as text."""
        return _median_and_range(self.costs)

    @property
    def agreement_text(self) -> str:
        """Median and range of the agreements, as text."""
        return _median_and_range(self.agreements)


@dataclass(frozen=True, eq=False)
class Example:
    """Records, reports and centers of one run of both trust models, for a chart.

    Parameters
    ----------
    records, reports : ndarray of shape (n, 2)
        Records, and the noisy reports of the local model.
    central, local : ndarray of shape (k, 2)
        Centers of the two models.
    epsilon, metric_epsilon : float
        Epsilons of the central and of the local model.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.experiments import Example
    >>> points = np.zeros((3, 2))
    >>> drawn = Example(points, points, points[:1], points[:1], epsilon=1.0, metric_epsilon=0.5)
    >>> len(drawn.records)
    3
    """

    records: Floats
    reports: Floats
    central: Floats
    local: Floats
    epsilon: float
    metric_epsilon: float


def _demo_data(n_samples: int) -> Dataset:
    """Generate five round clusters in [-1, 1]^2, the same for every run."""
    return make_gaussians(n_samples, n_clusters=N_CLUSTERS, spread=0.04, random_state=5)


def demo_rows(
    *, n_samples: int = 20_000, repeats: int = 5, seed: int | None = None
) -> Iterator[DemoRow]:
    """Measure clusters of both trust models at several epsilons, on generated records.

    Parameters
    ----------
    n_samples : int, default=20000
        Number of generated records.
    repeats : int, default=5
        Number of runs of each method at each epsilon.
    seed : int, default=None
        None draws secure noise; a seed makes the table repeatable and voids the guarantees.

    Yields
    ------
    row : DemoRow
        The results of one method at one epsilon; central methods come first.

    Examples
    --------
    >>> from shoal.experiments import demo_rows
    >>> row = next(demo_rows(n_samples=1000, repeats=1, seed=0))
    >>> row.model, len(row.costs)
    ('central', 1)
    """
    data = _demo_data(n_samples)
    plain = KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(data.X).cluster_centers_
    for epsilon in CENTRAL_EPSILONS:
        model = DPKMeans(N_CLUSTERS, epsilon=epsilon, bounds=data.bounds)

        def central(state: int | None, model: DPKMeans = model) -> Floats:
            model.set_params(random_state=state).fit(data.X)
            centers: Floats = model.cluster_centers_
            return centers

        costs, agreements = _repeat(central, data, plain, repeats, seed)
        promise = model.guarantee_
        worst = promise.to_substitute().epsilon
        yield DemoRow("central", "DPKMeans", epsilon, worst, costs, agreements, promise)
    for epsilon in METRIC_EPSILONS:
        mechanism = Laplace(epsilon, bounds=data.bounds)

        def local(state: int | None, mechanism: Laplace = mechanism) -> Floats:
            mechanism.set_params(random_state=state)
            return _centers_of_reports(mechanism.fit_transform(data.X), mechanism)

        costs, agreements = _repeat(local, data, plain, repeats, seed)
        promise = mechanism.guarantee_
        worst = mechanism.local_guarantee_.epsilon
        yield DemoRow("local", "Laplace", epsilon, worst, costs, agreements, promise)


def example(*, n_samples: int = 20_000, seed: int | None = None) -> Example:
    """Run both trust models once, for a chart.

    Parameters
    ----------
    n_samples : int, default=20000
        Number of generated records.
    seed : int, default=None
        As for :func:`demo_rows`.

    Returns
    -------
    example : Example
        Records, reports and centers.

    Examples
    --------
    >>> from shoal.experiments import example
    >>> drawn = example(n_samples=1000, seed=0)
    >>> drawn.records.shape == drawn.reports.shape, drawn.central.shape[1]
    (True, 2)
    """
    data = _demo_data(n_samples)
    epsilon, metric_epsilon = 1.0, 4.0
    model = DPKMeans(N_CLUSTERS, epsilon=epsilon, bounds=data.bounds, random_state=seed)
    mechanism = Laplace(metric_epsilon, bounds=data.bounds, random_state=seed)
    reports = mechanism.fit_transform(data.X)
    return Example(
        records=data.X,
        reports=reports,
        central=model.fit(data.X).cluster_centers_,
        local=_centers_of_reports(reports, mechanism),
        epsilon=epsilon,
        metric_epsilon=metric_epsilon,
    )


def demo_report(path: Path, rows: Sequence[DemoRow], *, picture: Picture, n_samples: int) -> Path:
    """Write the results of the demo as an HTML report.

    Parameters
    ----------
    path : Path
        File to write.
    rows : sequence of DemoRow
        The results.
    picture : Picture
        Chart from :func:`shoal.plotting.draw_demo`.
    n_samples : int
        Number of records that the rows were measured on.

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shoal.experiments import demo_report, demo_rows, example
    >>> from shoal.plotting import draw_demo
    >>> rows = list(demo_rows(n_samples=500, repeats=1, seed=0))
    >>> picture = draw_demo(example(n_samples=500, seed=0), rows)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     demo_report(Path(folder) / "report.html", rows, picture=picture, n_samples=500).name
    'report.html'
    """
    report = Report("What privacy costs")
    report.lead(
        f"Five clusters in {n_samples:,} generated records; median and range of "
        f"{len(rows[0].costs)} runs. Cost 1: as good as k-means without privacy. Agreement 1: "
        "every record finds its cluster."
    )
    report.picture(picture, says="Records, reports and private centers, and cost against epsilon")
    report.section("Utility against epsilon")
    report.table(HEADINGS, [_cells(row) for row in rows], text=2)
    report.text(
        "Worst case is the same promise as an epsilon for exchanging a record for any other of the "
        "box. Reports promise epsilon per unit of distance, the central model for adding or "
        "removing a record: equal numbers in the epsilon column are not equal privacy."
    )
    report.text(
        "In the local model each device reports its record once and k-means that knows the noise "
        "runs on the reports."
    )
    report.text(
        "A wide range of costs at a large epsilon is not noise: k-means from a poor start ends in "
        "a poor place, and starting again would cost privacy."
    )
    report.section("What was promised")
    report.points(
        f"{row.method}, epsilon {rounded_up(row.epsilon)}: {row.guarantee}." for row in rows
    )
    return report.write(path)


def _centers_of_reports(reports: Floats, mechanism: Laplace) -> Floats:
    centers: Floats = (
        NoiseAwareKMeans(N_CLUSTERS, mechanism=mechanism, random_state=0)
        .fit(reports)
        .cluster_centers_
    )
    return centers


def _median_and_range(values: tuple[float, ...]) -> str:
    low, middle, high = (f"{value:#.3g}" for value in (min(values), np.median(values), max(values)))
    return f"{middle} ({low}-{high})"


def _repeat(
    run: Callable[[int | None], Floats],
    data: Dataset,
    plain: Floats,
    repeats: int,
    seed: int | None,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    costs, agreements = [], []
    for turn in range(repeats):
        centers = run(None if seed is None else seed + turn)
        costs.append(cost_ratio(data.X, centers, reference=plain))
        nearest: Any = ((data.X[:, None, :] - centers) ** 2).sum(axis=2).argmin(axis=1)
        agreements.append(float(adjusted_rand_score(data.y, nearest)))
    return tuple(costs), tuple(agreements)


def _cells(row: DemoRow) -> list[str]:
    return [
        row.model,
        row.method,
        rounded_up(row.epsilon),
        rounded_up(row.worst_case, 3),
        row.cost_text,
        row.agreement_text,
    ]
