"""Local randomisers: each device perturbs its own record, and only the report leaves it."""

from shoal.mechanisms.laplace import Laplace

__all__ = ["Laplace"]
