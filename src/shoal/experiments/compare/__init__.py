"""Compare methods of all trust models on your own columns, at equal worst-case privacy."""

from shoal.experiments.compare.baseline import Baseline, ComparedTable, TrivialCosts
from shoal.experiments.compare.comparison import Comparison, MethodRow, compare_methods
from shoal.experiments.compare.contender import CONTENDERS, Chosen, Contender, choose_contenders
from shoal.experiments.compare.curves import draw_costs, shown_rows
from shoal.experiments.compare.equal_privacy import (
    Batch,
    amplified,
    checked_delta,
    own_epsilon,
    worst_case,
)
from shoal.experiments.compare.recommendation import recommend
from shoal.experiments.compare.report import compare_report

__all__ = [
    "CONTENDERS",
    "Baseline",
    "Batch",
    "Chosen",
    "ComparedTable",
    "Comparison",
    "Contender",
    "MethodRow",
    "TrivialCosts",
    "amplified",
    "checked_delta",
    "choose_contenders",
    "compare_methods",
    "compare_report",
    "draw_costs",
    "own_epsilon",
    "recommend",
    "shown_rows",
    "worst_case",
]
