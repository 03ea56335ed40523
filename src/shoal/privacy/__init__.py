"""Promises, what is spent on them, and what leaves the curator.

* :class:`Guarantee` says what is promised, in numbers and in a sentence.
* The events say what was done to the records; :func:`cost` and :func:`compose` price them.
* :func:`amplify` says what a shuffler adds to a local promise.
* :class:`Ledger` keeps a limit over everything that touches the same records.
* :class:`Release` is what leaves the curator.

Nothing here reads a record.
"""

from shoal.privacy._ledger_conversion import convert_ledger
from shoal.privacy.accounting import Cost, cost
from shoal.privacy.composition import compose, scale_to_fit
from shoal.privacy.conversions import (
    epsilon_to_zcdp,
    metric_to_local,
    pure_to_zcdp,
    zcdp_to_epsilon,
)
from shoal.privacy.distance_units import convert_epsilon, parse_unit
from shoal.privacy.entries import Entry, Limits, Receipt
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    Event,
    GaussianEvent,
    GDPEvent,
    MetricEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
    ZCDPEvent,
)
from shoal.privacy.gaussian_conversions import (
    epsilon_to_gdp,
    gdp_to_delta,
    gdp_to_epsilon,
    pure_to_gdp,
)
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.ledger import Ledger
from shoal.privacy.privacy_unit import Adjacency, PrivacyUnit
from shoal.privacy.release import Release, current_versions
from shoal.privacy.shuffling import LocalBudget, amplify, local_epsilon_for

__all__ = [
    "Adjacency",
    "ApproximateEvent",
    "Composed",
    "Cost",
    "DiscreteGaussianEvent",
    "Entry",
    "Event",
    "GDPEvent",
    "GaussianEvent",
    "Guarantee",
    "Ledger",
    "Limits",
    "LocalBudget",
    "MetricEvent",
    "Notion",
    "PrivacyUnit",
    "PureEvent",
    "Receipt",
    "Release",
    "Repeated",
    "ShuffledEvent",
    "ZCDPEvent",
    "amplify",
    "compose",
    "convert_epsilon",
    "convert_ledger",
    "cost",
    "current_versions",
    "epsilon_to_gdp",
    "epsilon_to_zcdp",
    "gdp_to_delta",
    "gdp_to_epsilon",
    "local_epsilon_for",
    "metric_to_local",
    "parse_unit",
    "pure_to_gdp",
    "pure_to_zcdp",
    "scale_to_fit",
    "zcdp_to_epsilon",
]
