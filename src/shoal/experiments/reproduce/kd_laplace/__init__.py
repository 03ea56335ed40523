"""The kd-Laplace thesis and its drafts, run again."""

from shoal.experiments.reproduce.kd_laplace.study import KdLaplaceStudy

__all__ = ["KdLaplaceStudy"]
