"""Chen, Yu and Chirkova's experiments again: four techniques as published, corrected, and ours."""

from shoal.experiments import Component, ExperimentSpec, Report
from shoal.papers.claims import Verdict
from shoal.papers.measurements import Measurements
from shoal.papers.studies import Experiment, Study
from shoal.papers.wavecluster.experiments import NONE, KeepCells, Load, MeasureTechnique, compare_on
from shoal.papers.wavecluster.figure_sets import FIGURE_SETS, FOURTH, load_figure_set
from shoal.papers.wavecluster.page import render_figures
from shoal.papers.wavecluster.published import TECHNIQUES
from shoal.papers.wavecluster.verdicts import judge_findings

__all__ = ["WaveClusterStudy"]

MECHANISMS = tuple(Component(technique) for technique in (*TECHNIQUES, "oneshot"))
MEASURES = ("k_private", "dsg", "f_measure", "ocm", "two_ce")
# The source has 10 runs. Noise that joins two spirals is rare and costs much where it happens, so
# that means over 10 runs fall on either side of two of its limits.
RUNS, FOURTH_RUNS = 40, 10
QUICK_RUNS, QUICK_FOURTH_RUNS = 6, 3
# The source prints 0.1, 0.5, 1 and 2 in its text, as parts of a range from 0.1 to 2.
EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
QUICK_EPSILONS = (0.1, 0.5, 1.0, 2.0)
PICTURED = 1.0  # the epsilon of most of the numbers that the source prints


class WaveClusterStudy(Study):
    """The experiments of the WaveCluster paper: five measures against epsilon, and its claims.

    The measures are k', DSG_C, F-measure, OCM and 2CE, see :meth:`TechniqueComparison.measure`.

    Parameters
    ----------
    load : callable, default=load_figure_set
        Function that returns a set by its name. With several processes it must be picklable.

    Examples
    --------
    >>> from shoal.datasets import make_spirals
    >>> from shoal.papers.wavecluster import FigureSet
    >>> def spirals(name):
    ...     return FigureSet(name, make_spirals(2_000, random_state=0).X, 16, 0.1)
    >>> study = WaveClusterStudy(spirals)
    >>> [(one.name, len(one.spec.trials())) for one in study.experiments(full=True, seed=0)]
    [('techniques', 3600), ('gowalla', 300), ('clusters', 24)]
    """

    name = "wavecluster"
    title = "WaveCluster with differential privacy, as published and corrected"
    source = (
        'L. Chen, T. Yu, R. Chirkova, "WaveCluster with Differential Privacy" (2015), section 7'
    )

    def __init__(self, load: Load = load_figure_set) -> None:
        self.load = load

    def experiments(self, *, full: bool, seed: int) -> tuple[Experiment, ...]:
        """Return the experiments: the source's three sets, the fourth, and fits for pictures."""
        for name in (*FIGURE_SETS, FOURTH):
            compare_on(self.load, name)  # a missing file is named before any work
        epsilons = EPSILONS if full else QUICK_EPSILONS
        measure = MeasureTechnique(self.load)
        own = ExperimentSpec(
            name="wavecluster techniques",
            datasets=tuple(FIGURE_SETS),
            mechanisms=MECHANISMS,
            epsilons=epsilons,
            repeats=RUNS if full else QUICK_RUNS,
            measures=MEASURES,
            seed=seed,
        )
        fourth = ExperimentSpec(
            name="wavecluster gowalla",
            datasets=(FOURTH,),
            mechanisms=MECHANISMS,
            epsilons=epsilons,
            repeats=FOURTH_RUNS if full else QUICK_FOURTH_RUNS,
            measures=MEASURES,
            seed=seed,
        )
        pictures = ExperimentSpec(
            name="wavecluster clusters",
            datasets=(*FIGURE_SETS, FOURTH),
            mechanisms=(Component(NONE), *MECHANISMS),
            epsilons=(PICTURED,),
            measures=("cells",),
            seed=seed,
        )
        return (
            Experiment("techniques", own, measure),
            Experiment("gowalla", fourth, measure),
            Experiment("clusters", pictures, KeepCells(self.load)),
        )

    def judge(self, measurements: Measurements) -> tuple[Verdict, ...]:
        """Return verdicts on the four findings of section 7, and on the sentences in them."""
        return judge_findings(measurements["techniques"])

    def render(self, report: Report, measurements: Measurements) -> None:
        """Add the measures, the published figures beside ours, and the clusters to the report."""
        render_figures(report, measurements)
