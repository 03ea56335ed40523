"""Where the gain of the published remaps comes from, beside what an honest method can do.

At low epsilon the published remaps raise the agreement of noisy labels a lot, because they move
reports to where the raw records are. Each row holds that gain, the leak it is paid with (an audit
of two tables that differ in one record), the corrected remaps, which see reports only, and the
agreement of labels that holders find for their true records among the released centers.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from shoal import _numbers
from shoal.papers.kd_laplace.agreement import agreement, cluster, on_device_labels
from shoal.papers.kd_laplace.figures import Figure, load_figures
from shoal.papers.kd_laplace.leak import Leak, measure_leak
from shoal.papers.kd_laplace.methods import Table, corrected_reports, load_table, published_method

__all__ = ["RemapGain", "leak_at_the_rim", "remap_gains"]

REMAPS = ("grid-nd-Laplace", "density-nd-Laplace")
RIM = 10  # the audited record is nearer to a side of the raw box than all but one in so many


@dataclass(frozen=True)
class RemapGain:
    """One published remap at one epsilon; prints as one line.

    Parameters
    ----------
    dataset, mechanism : str
        As the source names them.
    columns : int
        How many of the first columns.
    epsilon : float
        The published epsilon.
    published : float
        Published agreement (adjusted mutual information).
    as_published : float
        The same run again, no guarantee.
    leak : Leak
        Measured privacy loss of that method when one record moves by a standard deviation of the
        first column, beside its claim.
    plain : float
        Agreement of labels of plain Laplace reports.
    corrected : float
        Agreement of labels of reports after the corrected remap.
    on_device : float
        Agreement of labels that holders find for their true records among the centers of plain
        Laplace reports.
    runs : int
        Number of runs, each with fresh noise.
    """

    dataset: str
    mechanism: str
    columns: int
    epsilon: float
    published: float
    as_published: float
    leak: Leak
    plain: float
    corrected: float
    on_device: float
    runs: int

    def __str__(self) -> str:
        return (
            f"{self.dataset} d={self.columns} {self.mechanism:<18} epsilon {self.epsilon:<4g} "
            f"published {self.published:.3f}   as published, no guarantee {self.as_published:.3f} "
            f"(loss >= {self.leak.bound:.2f}, claim {self.leak.claim:.4f})   plain "
            f"{self.plain:.3f}   corrected {self.corrected:.3f}   on device {self.on_device:.3f}"
        )


def remap_gains(
    *,
    datasets: Iterable[str] = ("seeds", "line"),
    columns: Iterable[int] = (2,),
    epsilons: Iterable[float] = (0.5, 1.0, 2.0),
    runs: int = 10,
    samples: int = 10_000,
    random_state: int = 0,
    data_dir: str | os.PathLike[str] | None = None,
    targets: str | os.PathLike[str] | None = None,
) -> tuple[RemapGain, ...]:
    """Measure gain and leak of the published remaps.

    Parameters
    ----------
    datasets, columns, epsilons
        Which published figures, for k-means.
    runs : int, default=10
        Runs for each, with fresh noise.
    samples : int, default=10_000
        Reports for each table in the audit; no bound can pass about ``ln(samples / 15)``, so
        larger claims, at larger epsilons, cannot be refuted with these.
    random_state : int, default=0
        Seed of the first run.
    data_dir, targets : path-like, default=None
        As in :func:`shoal.papers.kd_laplace.reproduce_utility`.

    Returns
    -------
    gains : tuple of RemapGain
        One a dataset, number of columns, epsilon and remap.
    """
    runs = _numbers.count("runs", runs)
    wanted = set(datasets), set(columns), {float(epsilon) for epsilon in epsilons}
    chosen = [
        figure
        for figure in load_figures("ami", targets=targets)
        if figure.clusterer == "KMeans"
        and figure.mechanism in REMAPS
        and figure.dataset in wanted[0]
        and figure.columns in wanted[1]
        and figure.epsilon in wanted[2]
    ]
    gains = []
    for figure in chosen:
        table = load_table(figure.dataset, figure.columns, data_dir=data_dir)
        gains.append(_gain(figure, table, runs, samples, random_state))
    return tuple(gains)


def _gain(figure: Figure, table: Table, runs: int, samples: int, random_state: int) -> RemapGain:
    X, clusters = table.X, figure.parameter
    scores = np.empty((runs, 4))
    for run in range(runs):
        seed = random_state + run
        truth = cluster(X, "KMeans", clusters, random_state=seed)
        leaky = published_method(figure.mechanism, figure.epsilon, seed).fit_transform(X)
        plain = corrected_reports("nd-Laplace", figure.epsilon, table, seed)
        right = corrected_reports(figure.mechanism, figure.epsilon, table, seed)
        labels = [cluster(Z, "KMeans", clusters, random_state=seed) for Z in (leaky, plain, right)]
        labels.append(on_device_labels(X, plain, clusters, random_state=seed))
        scores[run] = [agreement(truth, found) for found in labels]
    as_published, plain_score, right_score, device = scores.mean(axis=0)
    return RemapGain(
        dataset=figure.dataset,
        mechanism=figure.mechanism,
        columns=figure.columns,
        epsilon=figure.epsilon,
        published=figure.value,
        as_published=float(as_published),
        leak=leak_at_the_rim(
            figure.mechanism, figure.epsilon, table, samples=samples, random_state=random_state
        ),
        plain=float(plain_score),
        corrected=float(right_score),
        on_device=float(device),
        runs=runs,
    )


def leak_at_the_rim(
    mechanism: str, epsilon: float, table: Table, *, samples: int, random_state: int
) -> Leak:
    """Audit a published method on a record near a side of the raw table's box.

    The remaps move most reports there.

    Parameters
    ----------
    mechanism : str
        Name in the figures.
    epsilon : float
        The published epsilon.
    table : Table
        Raw records.
    samples : int
        Reports drawn under each of two tables.
    random_state : int
        Seed of the noise.

    Returns
    -------
    leak : Leak
        For a move of that record by a standard deviation of the first column, inwards.
    """
    X = table.X
    to_side = np.minimum(X - X.min(axis=0), X.max(axis=0) - X).min(axis=1)
    row = int(np.argsort(to_side)[len(X) // RIM])
    shift = np.zeros(X.shape[1])
    inwards = np.sign(np.median(X[:, 0]) - X[row, 0])
    shift[0] = inwards * float(X[:, 0].std())
    return measure_leak(
        published_method(mechanism, epsilon),
        X,
        row=row,
        shift=shift,
        samples=samples,
        random_state=random_state,
    )
