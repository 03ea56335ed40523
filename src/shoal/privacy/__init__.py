"""Promises, what is spent on them, and what leaves the curator.

* :class:`Guarantee` says what is promised, in numbers and in a sentence.
* The events say what was done to the records; :func:`cost` and :func:`compose` price them.
* :class:`Ledger` keeps a limit over everything that touches the same records.
* :class:`Release` is what leaves the curator.

Nothing here reads a record.
"""

from shoal.privacy.accounting import Cost, cost, pure_epsilon, zcdp_rho
from shoal.privacy.adjacency import Adjacency
from shoal.privacy.calibration import scale_to_fit
from shoal.privacy.composition import compose
from shoal.privacy.conversions import (
    epsilon_to_zcdp,
    laplace_to_zcdp,
    metric_to_local,
    pure_to_zcdp,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from shoal.privacy.distance_units import DistanceUnit, convert_epsilon, parse_unit
from shoal.privacy.entry import Entry, Receipt
from shoal.privacy.event_dict import event_from_dict, event_to_dict
from shoal.privacy.events import (
    ApproximateEvent,
    Composed,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    KNormEvent,
    LaplaceEvent,
    MetricEvent,
    Parallel,
    PureEvent,
    Repeated,
    ZCDPEvent,
)
from shoal.privacy.groups import Loss, group, group_zcdp, substitute, substitute_zcdp
from shoal.privacy.guarantee import Guarantee, Notion
from shoal.privacy.ledger import Ledger
from shoal.privacy.ledger_convert import convert_ledger
from shoal.privacy.limits import Limits
from shoal.privacy.metric import metric_cost
from shoal.privacy.privacy_unit import PrivacyUnit, group_size
from shoal.privacy.release import Release, current_versions

__all__ = [
    "Adjacency",
    "ApproximateEvent",
    "Composed",
    "Cost",
    "DiscreteGaussianEvent",
    "DiscreteLaplaceEvent",
    "DistanceUnit",
    "Entry",
    "Event",
    "GaussianEvent",
    "Guarantee",
    "KNormEvent",
    "LaplaceEvent",
    "Ledger",
    "Limits",
    "Loss",
    "MetricEvent",
    "Notion",
    "Parallel",
    "PrivacyUnit",
    "PureEvent",
    "Receipt",
    "Release",
    "Repeated",
    "ZCDPEvent",
    "compose",
    "convert_epsilon",
    "convert_ledger",
    "cost",
    "current_versions",
    "epsilon_to_zcdp",
    "event_from_dict",
    "event_to_dict",
    "group",
    "group_size",
    "group_zcdp",
    "laplace_to_zcdp",
    "metric_cost",
    "metric_to_local",
    "parse_unit",
    "pure_epsilon",
    "pure_to_zcdp",
    "scale_to_fit",
    "substitute",
    "substitute_zcdp",
    "zcdp_rho",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
