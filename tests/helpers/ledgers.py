"""Ledgers for tests, and what they have recorded."""

import math

from shoal.privacy import Ledger, cost, gdp_to_epsilon
from shoal.privacy.accounting import metric_cost


def roomy_ledger(**limits):
    """Return a ledger whose limits nothing in a test reaches."""
    return Ledger(**{"epsilon": 1e6, "metric_epsilon": 1e6, "metric_unit": "m", **limits})


def spent(ledger):
    """All that a ledger has recorded, whichever the account, as one schedule fixed in advance."""
    total = 0.0
    for event in (entry.event for entry in ledger.entries):
        metric = metric_cost(event)
        if metric is not None:
            total += metric[1]
            continue
        price = cost(event)
        pure = math.isfinite(price.epsilon)
        mu = math.sqrt(price.mu_squared)
        total += price.epsilon if pure else gdp_to_epsilon(mu, ledger.limits.delta)
    return total
