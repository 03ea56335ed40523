"""The kd-Laplace thesis and its drafts, run again."""

from dataclasses import replace

from shoal.audit import load_toolbox
from shoal.experiments import Component, ExperimentSpec, Report
from shoal.papers.claims import Verdict
from shoal.papers.kd_laplace.attacks import measure_attack
from shoal.papers.kd_laplace.claims import judge_claims
from shoal.papers.kd_laplace.controls import (
    POINTS,
    SEARCH_WIDTHS,
    UNIT_EPSILONS,
    measure_in_own_unit,
    measure_search,
)
from shoal.papers.kd_laplace.drafts import DRAFT_LEVELS, DRAFT_WIDTH, measure_drafts
from shoal.papers.kd_laplace.leaks import LEAK_EPSILONS, measure_table_leak
from shoal.papers.kd_laplace.page import render_page
from shoal.papers.kd_laplace.settings import (
    EPSILONS,
    MECHANISMS,
    PIECEWISE,
    PLAIN,
    REAL,
    SHAPES,
    WIDTHS,
    load_table,
)
from shoal.papers.kd_laplace.utility import measure_utility
from shoal.papers.measurements import Measurements
from shoal.papers.studies import Experiment, Study

__all__ = ["KdLaplaceStudy"]

REPEATS = 10
QUICK_REPEATS = 3


class KdLaplaceStudy(Study):
    """Utility, attacks and distances of the thesis, its drafts and leaks, and two controls."""

    name = "kd-laplace"
    title = "The kd-Laplace thesis, run again"
    source = (
        "T. van der Ende, Using kd-Laplace to train privacy-preserving clustering algorithms on "
        "distributed k-dimensional data (Open University), and two drafts of it"
    )

    def experiments(self, *, full: bool, seed: int) -> tuple[Experiment, ...]:
        """Return the experiments; what they need is loaded first, before any work."""
        load_toolbox()
        for dataset in (*REAL, *SHAPES):
            load_table(dataset, 2)
        mechanisms = tuple(Component(name) for name in MECHANISMS)
        experiments = []
        for names in (("heart",), ("seeds",), SHAPES):
            label = names[0] if len(names) == 1 else "shapes"
            spec = ExperimentSpec(
                name=f"utility {label}",
                datasets=names,
                mechanisms=mechanisms,
                epsilons=EPSILONS,
                dimensions=WIDTHS[names[0]],
                repeats=REPEATS,
                seed=seed,
            )
            experiments.append(Experiment(f"utility-{label}", spec, measure_utility))
            attack = replace(spec, name=f"attack {label}")
            experiments.append(Experiment(f"attack-{label}", attack, measure_attack))
        if not full:
            experiments = [
                replace(experiment, spec=_quick(experiment)) for experiment in experiments
            ]
        return (*experiments, *_controls(full, seed))

    def judge(self, measurements: Measurements) -> tuple[Verdict, ...]:
        """Judge the hypotheses, research questions and discussion questions."""
        return judge_claims(measurements)

    def render(self, report: Report, measurements: Measurements) -> None:
        """Put chapter 6, the drafts and the controls into the report."""
        render_page(report, measurements)


def _quick(experiment: Experiment) -> ExperimentSpec:
    """Keep three epsilons, three repeats and three numbers of columns (two for the slow attack)."""
    first, second, *_, last = (*experiment.spec.dimensions, experiment.spec.dimensions[-1])
    widths = (first, last) if experiment.work is measure_attack else (first, second, last)
    few = tuple(dict.fromkeys(widths))
    return replace(experiment.spec.quick(), dimensions=few, repeats=QUICK_REPEATS)


def _controls(full: bool, seed: int) -> tuple[Experiment, ...]:
    """Return what the thesis does not have in its last form: drafts, leaks, controls."""
    repeats = REPEATS if full else QUICK_REPEATS
    unit = ExperimentSpec(
        name="unit",
        datasets=(*REAL, *SHAPES),
        mechanisms=(Component(PLAIN),),
        epsilons=UNIT_EPSILONS,
        dimensions=(2,),
        repeats=repeats,
        seed=seed,
    )
    search = ExperimentSpec(
        name="search",
        datasets=("uniform",),
        mechanisms=tuple(Component("kd-tree", points=points) for points in POINTS),
        epsilons=(float("inf"),),
        dimensions=SEARCH_WIDTHS,
        repeats=repeats,
        seed=seed,
    )
    drafts = ExperimentSpec(
        name="drafts",
        datasets=("blobs",),
        mechanisms=(Component("draft Laplace"),),
        epsilons=DRAFT_LEVELS if full else DRAFT_LEVELS[2::3],
        dimensions=(DRAFT_WIDTH,),
        repeats=repeats,
        seed=seed,
    )
    leak = ExperimentSpec(
        name="leak",
        datasets=("seeds",),
        mechanisms=tuple(Component(name) for name in MECHANISMS if name != PIECEWISE),
        epsilons=LEAK_EPSILONS if full else LEAK_EPSILONS[1:2],
        dimensions=(2, 3),
        seed=seed,
    )
    return (
        Experiment("leak", leak, measure_table_leak),
        Experiment("unit", unit, measure_in_own_unit),
        Experiment("search", search, measure_search),
        Experiment("drafts", drafts, measure_drafts),
    )
