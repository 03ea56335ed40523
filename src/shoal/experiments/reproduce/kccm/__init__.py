"""The experiments of DP-KCCM again: as published, and with the promise kept."""

from shoal.experiments.reproduce.kccm.kccm_study import KccmStudy
from shoal.experiments.reproduce.kccm.plan import Plan

__all__ = ["KccmStudy", "Plan"]
