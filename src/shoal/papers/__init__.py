"""The sources as published: for tables and audits, never for private records.

Each folder holds one source: its methods as the author wrote them, flaws included, the experiments
that reproduce its figures, its claims and the page that shows them. Every published method is
labeled "as published, no guarantee": a fitted object has ``guarantee_.notion == "none"`` and says
why. What the folders share is here: claims and verdicts, measurements, studies and how they are
run.
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
