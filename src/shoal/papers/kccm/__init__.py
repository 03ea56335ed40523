"""DP-KCCM as published, without any guarantee, and its experiments with a corrected method.

S. Narne, N. Kankanala, M. R. Ravipati, "Enhancing Privacy in K-Means Clustering Through Cluster
Fusion". The corrected method is :class:`shoal.cluster.DPKMeans` with ``method="kccm"``.

===========================  =======================================================================
here                         what it is
===========================  =======================================================================
:class:`PublishedKCCM`       the method as printed; its noise does not depend on epsilon
``real_spend``               what that noise costs: 3.10 for 12 rounds of the pseudo-code, 78 for
                             the text
``variant_model``            the six variants, corrected: average, allocation and gaussian noise,
                             without (k) and with merging (nk)
``published_model``          the same as published
``KccmStudy``                the source's experiments, run again, and which of its claims hold
===========================  =======================================================================
"""

from shoal.papers.kccm.accounting import FORMULAS, real_rho, real_spend
from shoal.papers.kccm.blood import load_blood, without_outliers
from shoal.papers.kccm.published import PublishedKCCM, published_merge
from shoal.papers.kccm.study import KccmStudy, Plan
from shoal.papers.kccm.variants import (
    AUTO,
    VARIANTS,
    SharedStart,
    fit_on_start,
    published_model,
    published_spend,
    variant_model,
)

__all__ = [
    "AUTO",
    "FORMULAS",
    "VARIANTS",
    "KccmStudy",
    "Plan",
    "PublishedKCCM",
    "SharedStart",
    "fit_on_start",
    "load_blood",
    "published_merge",
    "published_model",
    "published_spend",
    "real_rho",
    "real_spend",
    "variant_model",
    "without_outliers",
]
