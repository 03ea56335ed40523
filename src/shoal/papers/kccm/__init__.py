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

from shoal.papers.kccm.blood import load_blood, without_outliers
from shoal.papers.kccm.compare_variants import EPSILONS, compare_variants, plain_cost
from shoal.papers.kccm.judge_claims import CLAIMS, Claim, Verdict, judge_claims
from shoal.papers.kccm.measure_published import (
    measure_published,
    published_model,
    published_spend,
)
from shoal.papers.kccm.measurement import Measurement
from shoal.papers.kccm.published_kccm import PublishedKCCM
from shoal.papers.kccm.published_merge import published_merge
from shoal.papers.kccm.real_spend import FORMULAS, real_rho, real_spend
from shoal.papers.kccm.shared_start import SharedStart
from shoal.papers.kccm.variant_model import AUTO, VARIANTS, fit_on_start, variant_model

__all__ = [
    "AUTO",
    "CLAIMS",
    "EPSILONS",
    "FORMULAS",
    "VARIANTS",
    "Claim",
    "Measurement",
    "PublishedKCCM",
    "SharedStart",
    "Verdict",
    "compare_variants",
    "fit_on_start",
    "judge_claims",
    "load_blood",
    "measure_published",
    "plain_cost",
    "published_merge",
    "published_model",
    "published_spend",
    "real_rho",
    "real_spend",
    "variant_model",
    "without_outliers",
]
