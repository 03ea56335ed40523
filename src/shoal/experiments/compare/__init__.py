"""All methods of both trust models on the user's own columns, at equal worst-case privacy."""

from shoal.experiments.compare.compare_methods import compare_methods
from shoal.experiments.compare.compare_report import compare_report
from shoal.experiments.compare.comparison import Comparison, MethodRow
from shoal.experiments.compare.contender import CONTENDERS, Chosen, Contender, choose_contenders
from shoal.experiments.compare.equal_privacy import own_epsilon, worst_case
from shoal.experiments.compare.frame import Baselines, Frame, open_frame
from shoal.experiments.compare.recommend import recommend

__all__ = [
    "CONTENDERS",
    "Baselines",
    "Chosen",
    "Comparison",
    "Contender",
    "Frame",
    "MethodRow",
    "choose_contenders",
    "compare_methods",
    "compare_report",
    "open_frame",
    "own_epsilon",
    "recommend",
    "worst_case",
]
