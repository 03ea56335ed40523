"""Methods of three papers as published, without any guarantee: never use them on private records.

Each subpackage holds one paper or thesis (*the source*): its methods as the authors wrote them,
flaws included, the experiments that reproduce its figures, its claims, and a report. Every
published method is labeled "as published, no guarantee": a fitted object has
``guarantee_.notion == "none"`` and says why. Claims, verdicts, measurements, and studies with the
code that runs them are shared by all, and are in this package.
"""

from shoal.papers.claims import Claim, Verdict
from shoal.papers.measurements import Measurement
from shoal.papers.studies import (
    STUDIES,
    Experiment,
    Reproduction,
    Study,
    load_study,
    run_study,
)

__all__ = [
    "STUDIES",
    "Claim",
    "Experiment",
    "Measurement",
    "Reproduction",
    "Study",
    "Verdict",
    "load_study",
    "run_study",
]
