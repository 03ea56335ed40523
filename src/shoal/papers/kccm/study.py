"""The study of DP-KCCM: its sizes, its experiments, its three claims, its report."""

import math
from dataclasses import dataclass

from shoal.experiments import Component, ExperimentSpec, Report
from shoal.papers.claims import Verdict
from shoal.papers.kccm.accounting import FORMULAS
from shoal.papers.kccm.blood import load_blood
from shoal.papers.kccm.claims import compare_all, judge_claims
from shoal.papers.kccm.cluster_pictures import render_clusters
from shoal.papers.kccm.experiments import (
    CLUSTERS,
    DATASET,
    PLAIN,
    SHOWN_EPSILON,
    SOURCE_EPSILON,
    TRIMMED,
    FindCenters,
    Load,
    MeasureCosts,
)
from shoal.papers.kccm.page import render_comparisons, render_costs
from shoal.papers.kccm.variants import AUTO, VARIANTS
from shoal.papers.measurements import Measurements
from shoal.papers.studies import Experiment, Study

__all__ = ["FULL", "QUICK", "KccmStudy", "Plan"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The sizes of a study of DP-KCCM: epsilons, numbers of clusters, starts and runs.

    Parameters
    ----------
    epsilons : tuple of float
        Values of epsilon at the k of the source; they must include 1 and 25.
    clusters : tuple of int
        Further numbers of clusters, at epsilon 1 and 25.
    starts : int
        Number of initial sets of centers, at least 2.
    runs : int
        Number of runs on each of them.

    Examples
    --------
    >>> [len(spec.trials()) for spec in FULL.specs(seed=0).values()]
    [1960, 1680, 3360, 16]
    """

    epsilons: tuple[float, ...]
    clusters: tuple[int, ...]
    starts: int
    runs: int

    def specs(self, *, seed: int) -> dict[str, ExperimentSpec]:
        """Return the experiments of the study by name; each repeat is one initial set of centers.

        Parameters
        ----------
        seed : int
            Seed of all experiments.

        Returns
        -------
        specs : dict of str to ExperimentSpec
            Corrected methods by epsilon and by k, published methods, and fits for pictures.
        """
        runs = {"runs": self.runs}
        corrected = [Component(name, k=CLUSTERS, **runs) for name in (*VARIANTS, AUTO)]
        other = [Component(name, k=k, **runs) for k in self.clusters for name in (*VARIANTS, AUTO)]
        published = [
            Component(name, k=k, formula=formula, **runs)
            for k in (CLUSTERS, *self.clusters)
            for formula in FORMULAS
            for name in VARIANTS
        ]
        return {
            "epsilon": self._spec("epsilon", corrected, self.epsilons, (DATASET, TRIMMED), seed),
            "k": self._spec("k", other, (SHOWN_EPSILON, SOURCE_EPSILON), (DATASET,), seed),
            # The published noise does not depend on epsilon: nothing bounds what is asked for.
            "published": self._spec("published", published, (math.inf,), (DATASET, TRIMMED), seed),
            "clusters": _picture_spec(seed),
        }

    def _spec(
        self,
        name: str,
        mechanisms: list[Component],
        epsilons: tuple[float, ...],
        datasets: tuple[str, ...],
        seed: int,
    ) -> ExperimentSpec:
        return ExperimentSpec(
            name=f"kccm {name}",
            datasets=datasets,
            mechanisms=tuple(mechanisms),
            epsilons=epsilons,
            repeats=self.starts,
            measures=("nicv",),
            seed=seed,
        )


def _picture_spec(seed: int) -> ExperimentSpec:
    merging = [name for name in VARIANTS if name.endswith(" nk")]
    mechanisms = [
        Component(PLAIN, k=CLUSTERS),
        *(Component(name, k=CLUSTERS) for name in (*merging, AUTO)),
        *(Component(name, k=CLUSTERS, formula=FORMULAS[0]) for name in merging),
    ]
    return ExperimentSpec(
        name="kccm clusters",
        datasets=(DATASET,),
        mechanisms=tuple(mechanisms),
        epsilons=(SHOWN_EPSILON, SOURCE_EPSILON),
        seed=seed,
    )


QUICK = Plan(epsilons=(0.1, 1.0, 5.0, 25.0), clusters=(2, 5), starts=10, runs=4)
# The source prints the last epsilon only, and has 20 starts with 50 runs each.
FULL = Plan(
    epsilons=(0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0),
    clusters=(2, 4, 5, 6, 7, 8),
    starts=20,
    runs=50,
)


class KccmStudy(Study):
    """The experiments of DP-KCCM on the table of blood donors, as published and corrected.

    Parameters
    ----------
    load : callable, default=load_blood
        Function that returns the table: n records of four columns, scaled to [-1, 1].
    quick, full : Plan
        Sizes of the small and the full study; the full one has the 20 starts and 50 runs of the
        source.

    Examples
    --------
    >>> KccmStudy().name
    'kccm'
    """

    name = "kccm"
    title = "DP-KCCM again: private k-means by cluster merging"
    source = (
        "S. Narne, N. Kankanala, M. R. Ravipati, Enhancing Privacy in K-Means Clustering Through "
        "Cluster Fusion"
    )

    def __init__(self, *, load: Load = load_blood, quick: Plan = QUICK, full: Plan = FULL) -> None:
        self.load = load
        self.plans = {False: quick, True: full}

    def experiments(self, *, full: bool, seed: int) -> tuple[Experiment, ...]:
        """Return the experiments: by epsilon, by k, as published, and fits for pictures."""
        self.load()  # a missing file is named before any work
        measure, find = MeasureCosts(self.load), FindCenters(self.load)
        return tuple(
            Experiment(name, spec, find if name == "clusters" else measure)
            for name, spec in self.plans[full].specs(seed=seed).items()
        )

    def judge(self, measurements: Measurements) -> tuple[Verdict, ...]:
        """Return verdicts on the three findings of the source's abstract, in its order."""
        return judge_claims(measurements)

    def render(self, report: Report, measurements: Measurements) -> None:
        """Add costs, the comparisons behind the verdicts, and clusters to the report."""
        render_costs(report, measurements)
        render_comparisons(report, compare_all(measurements))
        render_clusters(report, measurements["clusters"], self.load())
