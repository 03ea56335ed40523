"""DP-KCCM as published, no guarantee, and its experiment with the promise kept.

S. Narne, N. Kankanala, M. R. Ravipati, "Enhancing Privacy in K-Means Clustering Through Cluster
Fusion". The corrected method is :class:`shoal.cluster.DPKMeans` with ``method="kccm"``.

===========================  =======================================================================
here                         what it is
===========================  =======================================================================
:class:`PublishedKCCM`       the method as printed; its noise does not depend on epsilon
:func:`real_spend`           what that noise costs: 3.10 for 12 rounds of the pseudo-code, 78 for
                             the text
:func:`compare_variants`     the six variants again, corrected: average, allocation and gaussian
                             noise, without (k) and with merging (nk)
:func:`measure_published`    the same as published
:func:`judge_claims`         which of the source's claims hold
===========================  =======================================================================
"""

from shoal.papers.kccm.blood import load_blood
from shoal.papers.kccm.compare_variants import (
    VARIANTS,
    Measurement,
    compare_variants,
    measure_published,
)
from shoal.papers.kccm.judge_claims import CLAIMS, Claim, Verdict, judge_claims
from shoal.papers.kccm.published_kccm import PublishedKCCM
from shoal.papers.kccm.published_merge import published_merge
from shoal.papers.kccm.real_spend import real_rho, real_spend

__all__ = [
    "CLAIMS",
    "VARIANTS",
    "Claim",
    "Measurement",
    "PublishedKCCM",
    "Verdict",
    "compare_variants",
    "judge_claims",
    "load_blood",
    "measure_published",
    "published_merge",
    "real_rho",
    "real_spend",
]
