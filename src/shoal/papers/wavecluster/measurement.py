"""What one run of a technique gave, and which techniques there are."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from shoal.papers.wavecluster.published_wavecluster import TECHNIQUES

__all__ = ["METHODS", "Measurement", "Method"]


class Method(NamedTuple):
    """A technique, and whether it is the source's or ours."""

    source: Literal["published", "corrected"]
    technique: str

    def __str__(self) -> str:
        return f"{self.source} {self.technique}"


METHODS = (
    *(Method("published", technique) for technique in TECHNIQUES),
    *(Method("corrected", technique) for technique in (*TECHNIQUES, "oneshot")),
)


@dataclass(frozen=True)
class Measurement:
    """What one seed gave; prints as one line.

    Parameters
    ----------
    dataset : str
        Name of the set.
    method : Method
        As published or corrected, and which technique.
    epsilon : float
        What is claimed, or promised.
    seed : int
        Seed of the fits.
    k : int
        Significant cells without privacy, (1 - p) |L| rounded up; ties may keep more.
    k_private : int
        The source's k': (1 - p) |L'| rounded up for PrivQT and Baseline; the rank, among true
        values, of the threshold that PrivTHR_EM draws; the number of significant cells otherwise.
    significant : int
        Number of significant cells.
    clusters : int
        Number of clusters.
    dsg, f_measure : float
        Clusters of cells, and of records, against those without privacy.
    ocm, two_ce : float
        Classes of the records left out; trees learn the significant cells, as in the source's text.
    ocm_with_noise : float
        OCM where all other cells are one more class, as in the source's programs.
    """

    dataset: str
    method: Method
    epsilon: float
    seed: int
    k: int
    k_private: int
    significant: int
    clusters: int
    dsg: float
    f_measure: float
    ocm: float
    two_ce: float
    ocm_with_noise: float

    def __str__(self) -> str:
        return (
            f"{self.dataset}, {self.method}, epsilon {self.epsilon:g}, seed {self.seed}: "
            f"k' {self.k_private} (k {self.k}), {self.clusters} clusters, DSG_C {self.dsg:.3f}, "
            f"F {self.f_measure:.3f}, OCM {self.ocm:.3f}, 2CE {self.two_ce:.3f}"
        )
