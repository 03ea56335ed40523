"""The source's experiment again: each technique as published and corrected, on the same cells."""

from collections.abc import Iterable

from shoal.papers.wavecluster.figure_set import FigureSet
from shoal.papers.wavecluster.measurement import METHODS, Measurement, Method
from shoal.papers.wavecluster.technique_comparison import TechniqueComparison

__all__ = ["EPSILONS", "compare_techniques"]

# The source prints 0.1, 0.5, 1 and 2 in its text, as parts of a range from 0.1 to 2.
EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)


def compare_techniques(
    figure_set: FigureSet,
    *,
    epsilons: Iterable[float] = EPSILONS,
    seeds: Iterable[int] = range(10),
    methods: Iterable[Method] = METHODS,
) -> tuple[Measurement, ...]:
    """Measure techniques on one set.

    Parameters
    ----------
    figure_set : FigureSet
        Records, grid and threshold; its box and number of records are taken as public.
    epsilons : iterable of float, default=(0.1, 0.25, 0.5, 1, 1.5, 2)
        Budgets.
    seeds : iterable of int, default=range(10)
        One measurement each; ten in a row classify each tenth of the records once.
    methods : iterable of Method
        Which ones; all by default.

    Returns
    -------
    measurements : tuple of Measurement
        One an epsilon, method and seed.

    Raises
    ------
    ParameterError
        If a method is not one of ``METHODS``.

    Examples
    --------
    >>> from shoal.datasets import make_spirals
    >>> spirals = FigureSet("spirals", make_spirals(20_000, random_state=0).X, 40, 0.1)
    >>> found = compare_techniques(
    ...     spirals, epsilons=[1.0], seeds=[0], methods=[Method("corrected", "oneshot")]
    ... )
    >>> len(found), found[0].dsg < 0.2, found[0].ocm < 0.2
    (1, True, True)
    """
    wanted, chosen = list(methods), list(seeds)
    comparison = TechniqueComparison(figure_set)
    return tuple(
        comparison.measure(method, float(epsilon), seed=seed)
        for epsilon in epsilons
        for method in wanted
        for seed in chosen
    )
