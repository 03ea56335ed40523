"""A budget in named parts, as a ledger prints it."""

from collections.abc import Mapping

__all__ = ["shares_text"]


def shares_text(shares: Mapping[str, float]) -> str:
    """Say what part of a budget each purpose gets.

    Parameters
    ----------
    shares : mapping of str to float
        By purpose; those that cost nothing are left out.

    Returns
    -------
    text : str
        In per cent.

    Examples
    --------
    >>> from shoal.cluster._shares import shares_text
    >>> shares_text({"records": 0.02, "n_clusters": 0.0, "cells": 0.98})
    'records 2%, cells 98%'
    """
    total = sum(shares.values())
    named = ((name.replace("_", " "), share / total) for name, share in shares.items() if share)
    return ", ".join(f"{name} {part:.0%}" for name, part in named)
