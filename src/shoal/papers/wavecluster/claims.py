"""What the source says of its figures, sentence by sentence (section 7)."""

import math
from dataclasses import dataclass, field
from typing import Literal

from shoal.papers.claims import Claim
from shoal.papers.wavecluster.figure_sets import FIGURE_SETS, FOURTH

__all__ = ["CLAIMS", "FINDINGS", "PUBLISHED_K", "FindingClaim", "MeanClaim", "Measure"]

Measure = Literal["k_error", "clusters", "dsg", "f_measure", "ocm", "two_ce", "ocm_with_noise"]

# Mean k' on ds2, where k is 144, by epsilon (section 7.2).
PUBLISHED_K = {
    1.0: {"thr": 141.0, "thr-em": 142.8, "qt": 249.2, "baseline": 284.0},
    0.1: {"thr": 131.2, "thr-em": 82.8},
}
ALL = (*FIGURE_SETS, FOURTH)


@dataclass(frozen=True)
class MeanClaim(Claim):
    """A published sentence, as limits of means.

    Parameters
    ----------
    name, text : str
        As in :class:`shoal.papers.claims.Claim`.
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
    main : bool, default=False
        Whether the finding that it is part of stands and falls with it.
    """

    measure: Measure
    techniques: tuple[str, ...]
    datasets: tuple[str, ...] = ALL
    lowest: float = 0.0
    highest: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    rivals: tuple[str, ...] = ()
    averaged: bool = False
    main: bool = False


@dataclass(frozen=True)
class FindingClaim(Claim):
    """A finding, and the sentences that it is made of.

    Parameters
    ----------
    name, text : str
        As in :class:`shoal.papers.claims.Claim`.
    measure : str
        What shows it.
    unit : str
        How the measure is called.
    lowest : float
        Least epsilon of which the finding speaks.
    sentences : tuple of MeanClaim
        Of these it stands and falls with the main ones.
    """

    measure: Measure = field(kw_only=True)
    unit: str = field(kw_only=True)
    lowest: float = field(default=0.0, kw_only=True)
    sentences: tuple[MeanClaim, ...] = field(kw_only=True)


GOOD, BAD = ("thr", "thr-em"), ("qt", "baseline")
OVER = math.nextafter(0.5, 1.0)  # "greater than 0.5"

FINDINGS = (
    FindingClaim(  # section 7.2
        "finding 1",
        "with PrivTHR and PrivTHR_EM (thr, thr-em) the number of significant cells k' is nearly "
        "right, with PrivQT and Baseline (qt, baseline) it is far off",
        measure="k_error",
        unit="Relative error of k' of a single run",
        lowest=0.5,
        sentences=(
            MeanClaim(
                "1a",
                "k' is off by less than 4.7% on average, from epsilon 0.5 on",
                "k_error",
                GOOD,
                lowest=0.5,
                below=0.047,
                averaged=True,
                main=True,
            ),
            MeanClaim(
                "1b",
                "k' is off by more than 32%, from epsilon 0.5 on",
                "k_error",
                BAD,
                lowest=0.5,
                above=0.32,
                main=True,
            ),
            MeanClaim(
                "1c",
                "k' is nearer to k than that of thr-em at epsilon 0.1",
                "k_error",
                ("thr",),
                highest=0.1,
                rivals=("thr-em",),
            ),
        ),
    ),
    FindingClaim(  # section 7.3
        "finding 2",
        "clusters of cells are nearer to the true ones with thr and thr-em than with qt and "
        "baseline on all sets at all epsilons, which DSG_C shows and the F-measure does not",
        measure="dsg",
        unit="DSG_C",
        sentences=(
            MeanClaim(
                "2a",
                "DSG_C is smaller than that of qt and baseline at all epsilons",
                "dsg",
                GOOD,
                rivals=BAD,
                main=True,
            ),
            MeanClaim(
                "2b",
                "the F-measure is above 0.8 for almost all epsilons",
                "f_measure",
                BAD,
                ("ds1",),
                above=0.8,
            ),
            MeanClaim(
                "2c",
                "there are more than 30 clusters at epsilon 0.1, where the true ones are 15",
                "clusters",
                BAD,
                ("ds1",),
                highest=0.1,
                above=30.0,
            ),
        ),
    ),
    FindingClaim(  # section 7.4
        "finding 3",
        "a classifier that learns the cells is nearer to the true one with thr and thr-em than "
        "with qt and baseline on all sets from epsilon 0.5 on, by OCM",
        measure="ocm",
        unit="OCM",
        lowest=0.5,
        sentences=(
            MeanClaim(
                "3a",
                "OCM is smaller than that of qt and baseline, from epsilon 0.5 on",
                "ocm",
                GOOD,
                lowest=0.5,
                rivals=BAD,
                main=True,
            ),
            MeanClaim(
                "3b",
                "OCM is below 0.15 above epsilon 0.5",
                "ocm",
                GOOD,
                ("ds1", "ds3", FOURTH),
                lowest=OVER,
                below=0.15,
            ),
            MeanClaim(
                "3c",
                "OCM is below 0.1 above epsilon 0.5",
                "ocm",
                ("thr-em",),
                ("ds2",),
                lowest=OVER,
                below=0.1,
            ),
            MeanClaim(
                "3d",
                "OCM is from 0.1 to 0.2 above epsilon 0.5",
                "ocm",
                ("thr",),
                ("ds2",),
                lowest=OVER,
                above=0.1,
                below=0.2,
            ),
        ),
    ),
    FindingClaim(  # section 7.4
        "finding 4",
        "the same holds for pairs of records, by 2CE",
        measure="two_ce",
        unit="2CE",
        lowest=0.5,
        sentences=(
            MeanClaim(
                "4a",
                "2CE is smaller than that of qt and baseline, from epsilon 0.5 on",
                "two_ce",
                GOOD,
                lowest=0.5,
                rivals=BAD,
                main=True,
            ),
            MeanClaim(
                "4b",
                "2CE is below 0.1 at all epsilons",
                "two_ce",
                (*GOOD, *BAD),
                ("ds1",),
                below=0.1,
            ),
        ),
    ),
)
CLAIMS = tuple(sentence for finding in FINDINGS for sentence in finding.sentences)
