"""How large the study is, and the specs of its parts."""

import math
from dataclasses import dataclass

from shoal.experiments.choice import Choice
from shoal.experiments.spec import ExperimentSpec
from shoal.papers.kccm import AUTO, EPSILONS, FORMULAS, VARIANTS

__all__ = [
    "CLUSTERS",
    "DATASET",
    "FULL",
    "PLAIN",
    "QUICK",
    "SHOWN_EPSILON",
    "SOURCE_EPSILON",
    "TRIMMED",
    "Plan",
]

DATASET, TRIMMED = "transfusion", "transfusion without outliers"
CLUSTERS = 3  # k of the source, by its elbow
SOURCE_EPSILON = 25.0  # the only epsilon that the source prints
SHOWN_EPSILON = 1.0  # one at which privacy means something
PLAIN = "k-means without privacy"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Sizes of the study.

    Parameters
    ----------
    epsilons : tuple of float
        Budgets at the source's k; 1 and 25 among them.
    clusters : tuple of int
        Numbers of clusters at epsilon 1 and 25, beside the source's k.
    starts : int
        Initial sets of centers, at least 2.
    runs : int
        Runs on each.

    Examples
    --------
    >>> [len(spec.cells()) for spec in FULL.specs(seed=0).values()]
    [1960, 1680, 3360, 16]
    """

    epsilons: tuple[float, ...]
    clusters: tuple[int, ...]
    starts: int
    runs: int

    def specs(self, *, seed: int) -> dict[str, ExperimentSpec]:
        """Return the specs of the parts, by their names.

        Parameters
        ----------
        seed : int
            Seed of everything.

        Returns
        -------
        specs : dict of str to ExperimentSpec
            A repeat is a start: all of its runs are one cell.
        """
        runs = {"runs": self.runs}
        corrected = [Choice(name, k=CLUSTERS, **runs) for name in (*VARIANTS, AUTO)]
        other = [Choice(name, k=k, **runs) for k in self.clusters for name in (*VARIANTS, AUTO)]
        published = [
            Choice(name, k=k, formula=formula, **runs)
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
        mechanisms: list[Choice],
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
        Choice(PLAIN, k=CLUSTERS),
        *(Choice(name, k=CLUSTERS) for name in (*merging, AUTO)),
        *(Choice(name, k=CLUSTERS, formula=FORMULAS[0]) for name in merging),
    ]
    return ExperimentSpec(
        name="kccm clusters",
        datasets=(DATASET,),
        mechanisms=tuple(mechanisms),
        epsilons=(SHOWN_EPSILON, SOURCE_EPSILON),
        seed=seed,
    )


QUICK = Plan(epsilons=(0.1, 1.0, 5.0, 25.0), clusters=(2, 5), starts=10, runs=4)
FULL = Plan(epsilons=EPSILONS, clusters=(2, 4, 5, 6, 7, 8), starts=20, runs=50)
