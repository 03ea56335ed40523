"""A set with all that is true of it, once in each process."""

from collections.abc import Callable
from functools import cache

from shoal.papers.wavecluster import FigureSet, TechniqueComparison

__all__ = ["Load", "figure_comparison"]

Load = Callable[[str], FigureSet]


@cache
def figure_comparison(load: Load, name: str) -> TechniqueComparison:
    """Load a set, or give the one that was loaded before.

    Parameters
    ----------
    load : callable
        From a name to a set, always the same one.
    name : str
        Name of the set.

    Returns
    -------
    comparison : TechniqueComparison
        It keeps what WaveCluster finds without privacy.
    """
    return TechniqueComparison(load(name))
