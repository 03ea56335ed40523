"""The kd-Laplace thesis and its drafts, run again."""

from dataclasses import replace

from shoal.audit.attacks._art import load_toolbox
from shoal.experiments.book import Book
from shoal.experiments.choice import Choice
from shoal.experiments.spec import ExperimentSpec
from shoal.papers.finding import Finding
from shoal.papers.kd_laplace.attack_work import attack_work
from shoal.papers.kd_laplace.claims import judge
from shoal.papers.kd_laplace.draft_work import (
    DRAFT_LEVELS,
    DRAFT_WIDTH,
    draft_work,
)
from shoal.papers.kd_laplace.leak_work import LEAK_EPSILONS, leak_work
from shoal.papers.kd_laplace.pages import tell_all
from shoal.papers.kd_laplace.search_work import (
    POINTS,
    SEARCH_WIDTHS,
    search_work,
)
from shoal.papers.kd_laplace.settings import (
    EPSILONS,
    MECHANISMS,
    REAL,
    SHAPES,
    WIDTHS,
)
from shoal.papers.kd_laplace.unit_work import UNIT_EPSILONS, unit_work
from shoal.papers.kd_laplace.utility_work import table_of, utility_work
from shoal.papers.study import Part, Records, Study

__all__ = ["KdLaplaceStudy"]

REPEATS = 10
FEW = 3  # repeats of a quick run


class KdLaplaceStudy(Study):
    """Utility, attacks and distances of the thesis, its drafts and leaks, and two controls."""

    name = "kd-laplace"
    title = "The kd-Laplace thesis, run again"
    source = (
        "T. van der Ende, Using kd-Laplace to train privacy-preserving clustering algorithms on "
        "distributed k-dimensional data (Open University), and two drafts of it"
    )

    def parts(self, *, full: bool, seed: int) -> tuple[Part, ...]:
        """List the experiments; what they need is loaded here, so that a lack is found at once."""
        load_toolbox()
        for dataset in (*REAL, *SHAPES):
            table_of(dataset, 2)
        mechanisms = tuple(Choice(name) for name in MECHANISMS)
        parts = []
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
            parts.append(Part(f"utility-{label}", spec, utility_work))
            attack = replace(spec, name=f"attack {label}")
            parts.append(Part(f"attack-{label}", attack, attack_work))
        if not full:
            parts = [replace(part, spec=_quick(part)) for part in parts]
        return (*parts, *_controls(full, seed))

    def findings(self, records: Records) -> tuple[Finding, ...]:
        """Judge the hypotheses, research questions and discussion questions."""
        return judge(records)

    def tell(self, book: Book, records: Records) -> None:
        """Put chapter 6, the drafts and the controls into the report."""
        tell_all(book, records)


def _quick(part: Part) -> ExperimentSpec:
    """Keep three epsilons, three repeats and three numbers of columns (two for the slow attack)."""
    first, second, *_, last = (*part.spec.dimensions, part.spec.dimensions[-1])
    widths = (first, last) if part.work is attack_work else (first, second, last)
    few = tuple(dict.fromkeys(widths))
    return replace(part.spec.quick(), dimensions=few, repeats=FEW)


def _controls(full: bool, seed: int) -> tuple[Part, ...]:
    """List what the thesis does not have in its last form: drafts, leaks, controls."""
    repeats = REPEATS if full else FEW
    unit = ExperimentSpec(
        name="unit",
        datasets=(*REAL, *SHAPES),
        mechanisms=(Choice("nd-Laplace"),),
        epsilons=UNIT_EPSILONS,
        dimensions=(2,),
        repeats=repeats,
        seed=seed,
    )
    search = ExperimentSpec(
        name="search",
        datasets=("uniform",),
        mechanisms=tuple(Choice("kd-tree", points=points) for points in POINTS),
        epsilons=(float("inf"),),
        dimensions=SEARCH_WIDTHS,
        repeats=repeats,
        seed=seed,
    )
    drafts = ExperimentSpec(
        name="drafts",
        datasets=("blobs",),
        mechanisms=(Choice("draft Laplace"),),
        epsilons=DRAFT_LEVELS if full else DRAFT_LEVELS[2::3],
        dimensions=(DRAFT_WIDTH,),
        repeats=repeats,
        seed=seed,
    )
    leak = ExperimentSpec(
        name="leak",
        datasets=("seeds",),
        mechanisms=tuple(Choice(name) for name in MECHANISMS if name != "piecewise"),
        epsilons=LEAK_EPSILONS if full else LEAK_EPSILONS[1:2],
        dimensions=(2, 3),
        seed=seed,
    )
    return (
        Part("leak", leak, leak_work),
        Part("unit", unit, unit_work),
        Part("search", search, search_work),
        Part("drafts", drafts, draft_work),
    )
