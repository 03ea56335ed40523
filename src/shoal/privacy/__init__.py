"""Privacy guarantees, the accounting of budgets, and releases.

* :class:`Guarantee` states what is guaranteed, in numbers and in a sentence.
* Events describe what was done to the records; :func:`cost` computes what they cost together.
* :func:`amplify` returns the guarantee that local reports have once they are shuffled, and
  :func:`amplify_drawn` the one before it is drawn which batch each report joins.
* :class:`Ledger` enforces a limit on everything that is spent on the same records.
* :class:`Release` holds what leaves the curator, with its guarantee.

Nothing here reads a record.
"""

from shoal.privacy.accounting import Cost, cost
from shoal.privacy.advisories import Advisory
from shoal.privacy.conversions import metric_to_local
from shoal.privacy.distance_units import convert_epsilon, parse_unit
from shoal.privacy.entries import Entry, LimitChange, Receipt
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    Event,
    GDPEvent,
    MetricEvent,
    PureEvent,
    Repeated,
    ShuffledEvent,
)
from shoal.privacy.gaussian_conversions import (
    epsilon_to_gdp,
    gdp_to_delta,
    gdp_to_epsilon,
    pure_to_gdp,
)
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.ledger import Ledger
from shoal.privacy.limits import Limits
from shoal.privacy.privacy_unit import Adjacency, PrivacyUnit
from shoal.privacy.release import Release, current_versions
from shoal.privacy.shuffling import LocalBudget, amplify, amplify_drawn, local_epsilon_for

__all__ = [
    "Adjacency",
    "Advisory",
    "ApproximateEvent",
    "Composed",
    "Cost",
    "Entry",
    "Event",
    "GDPEvent",
    "Guarantee",
    "Ledger",
    "LimitChange",
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
    "amplify",
    "amplify_drawn",
    "convert_epsilon",
    "cost",
    "current_versions",
    "epsilon_to_gdp",
    "gdp_to_delta",
    "gdp_to_epsilon",
    "local_epsilon_for",
    "metric_to_local",
    "parse_unit",
    "pure_to_gdp",
]
