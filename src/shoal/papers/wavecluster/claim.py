"""What the source says of its figures, sentence by sentence (section 7)."""

import math
from dataclasses import dataclass

from shoal.papers.wavecluster.figure_set import FIGURE_SETS, FOURTH
from shoal.papers.wavecluster.mean_measure import Measure

__all__ = ["CLAIMS", "PUBLISHED_K", "Claim"]

# Mean k' on ds2, where k is 144, by epsilon (section 7.2).
PUBLISHED_K = {
    1.0: {"thr": 141.0, "thr-em": 142.8, "qt": 249.2, "baseline": 284.0},
    0.1: {"thr": 131.2, "thr-em": 82.8},
}
ALL = (*FIGURE_SETS, FOURTH)


@dataclass(frozen=True)
class Claim:
    """A published sentence, as limits of means.

    Parameters
    ----------
    text : str
        What the source says.
    measure : str
        Of which measure; ``"k_error"`` is the relative error of the mean k'.
    techniques : tuple of str
        Of which techniques.
    datasets : tuple of str, default=("ds1", "ds2", "ds3", "gowalla")
        On which sets.
    lowest, highest : float
        For which epsilons, both included.
    above, below : float
        What a mean has to exceed, and what it has to stay below.
    rivals : tuple of str, default=()
        Techniques whose means have to be larger.
    averaged : bool, default=False
        Whether the claim is about the average over the epsilons.
    finding : int, default=0
        Number of the finding that it is part of: 1 for k' (section 7.2), 2 for DSG_C and the
        F-measure (7.3), 3 for OCM and 4 for 2CE (7.4).
    main : bool, default=False
        Whether that finding stands and falls with it.
    """

    text: str
    measure: Measure
    techniques: tuple[str, ...]
    datasets: tuple[str, ...] = ALL
    lowest: float = 0.0
    highest: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    rivals: tuple[str, ...] = ()
    averaged: bool = False
    finding: int = 0
    main: bool = False


GOOD, BAD = ("thr", "thr-em"), ("qt", "baseline")
OVER = math.nextafter(0.5, 1.0)  # "greater than 0.5"

CLAIMS = (
    Claim(
        "k' is off by less than 4.7% on average, from epsilon 0.5 on",
        "k_error",
        GOOD,
        lowest=0.5,
        below=0.047,
        averaged=True,
        finding=1,
        main=True,
    ),
    Claim(
        "k' is off by more than 32%, from epsilon 0.5 on",
        "k_error",
        BAD,
        lowest=0.5,
        above=0.32,
        finding=1,
        main=True,
    ),
    Claim(
        "k' is nearer to k than that of thr-em at epsilon 0.1",
        "k_error",
        ("thr",),
        highest=0.1,
        rivals=("thr-em",),
        finding=1,
    ),
    Claim(
        "DSG_C is smaller than that of qt and baseline at all epsilons",
        "dsg",
        GOOD,
        rivals=BAD,
        finding=2,
        main=True,
    ),
    Claim(
        "the F-measure is above 0.8 for almost all epsilons",
        "f_measure",
        BAD,
        ("ds1",),
        above=0.8,
        finding=2,
    ),
    Claim(
        "there are more than 30 clusters at epsilon 0.1, where the true ones are 15",
        "clusters",
        BAD,
        ("ds1",),
        highest=0.1,
        above=30.0,
        finding=2,
    ),
    Claim(
        "OCM is smaller than that of qt and baseline, from epsilon 0.5 on",
        "ocm",
        GOOD,
        lowest=0.5,
        rivals=BAD,
        finding=3,
        main=True,
    ),
    Claim(
        "OCM is below 0.15 above epsilon 0.5",
        "ocm",
        GOOD,
        ("ds1", "ds3", FOURTH),
        lowest=OVER,
        below=0.15,
        finding=3,
    ),
    Claim(
        "OCM is below 0.1 above epsilon 0.5",
        "ocm",
        ("thr-em",),
        ("ds2",),
        lowest=OVER,
        below=0.1,
        finding=3,
    ),
    Claim(
        "OCM is from 0.1 to 0.2 above epsilon 0.5",
        "ocm",
        ("thr",),
        ("ds2",),
        lowest=OVER,
        above=0.1,
        below=0.2,
        finding=3,
    ),
    Claim(
        "2CE is smaller than that of qt and baseline, from epsilon 0.5 on",
        "two_ce",
        GOOD,
        lowest=0.5,
        rivals=BAD,
        finding=4,
        main=True,
    ),
    Claim(
        "2CE is below 0.1 at all epsilons",
        "two_ce",
        (*GOOD, *BAD),
        ("ds1",),
        below=0.1,
        finding=4,
    ),
)
