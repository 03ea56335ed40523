"""The source's experiment again, as published: no guarantee, and no epsilon either."""

from collections.abc import Iterable
from typing import Any

from shoal._records import validate_records
from shoal.cluster.kmeans._kccm import KCCM_NOISE, ROUNDS
from shoal.exceptions import ParameterError
from shoal.papers.kccm.compare_variants import RUNS, STARTS, plain_cost
from shoal.papers.kccm.measurement import Measurement
from shoal.papers.kccm.published_kccm import LABEL, PublishedKCCM
from shoal.papers.kccm.real_spend import FORMULAS, Formula, real_rho, real_spend
from shoal.papers.kccm.variant_model import OVERCLUSTER, VARIANTS, run_costs, spare_delta
from shoal.privacy import zcdp_to_epsilon

__all__ = ["measure_published", "published_model", "published_spend"]


def measure_published(
    X: Any,
    *,
    k: int = 3,
    starts: Iterable[int] = range(STARTS),
    runs: int = RUNS,
    seed: int = 0,
    overcluster: int = OVERCLUSTER,
    rounds: int = ROUNDS,
    variants: Iterable[str] = VARIANTS,
    formulas: Iterable[Formula] = FORMULAS,
    reference: float | None = None,
) -> tuple[Measurement, ...]:
    """Measure the six variants as published, by both formulas: no guarantee.

    Parameters
    ----------
    X, k, starts, runs, seed, overcluster, rounds, variants, reference
        As in :func:`compare_variants`.
    formulas : iterable of {"pseudo-code", "text"}
        Whose scale of the noise; both by default.

    Returns
    -------
    measurements : tuple of Measurement
        ``epsilon`` is what the noise really spends, for Gaussian noise with delta = 1 / (n ln n).
    """
    records = validate_records(X)
    chosen, wanted = list(starts), list(variants)
    plain = plain_cost(records, k) if reference is None else reference
    sizes = {"k": k, "overcluster": overcluster, "rounds": rounds}
    models = [
        (variant, published_model(variant, formula=formula, **sizes))
        for formula in formulas
        for variant in wanted
    ]
    found = []
    for variant, model in models:
        epsilon, delta = published_spend(model, n=len(records), columns=records.shape[1])
        found += [
            Measurement.of(
                run_costs(model, records, start=start, runs=runs, seed=seed),
                variant=f"{model.formula}: {variant}, {LABEL}",
                k=k,
                epsilon=epsilon,
                delta=delta,
                start=start,
                reference=plain,
            )
            for start in chosen
        ]
    return tuple(found)


def published_model(
    variant: str,
    *,
    formula: Formula,
    k: int,
    overcluster: int = OVERCLUSTER,
    rounds: int = ROUNDS,
) -> PublishedKCCM:
    """Make a variant as published.

    Parameters
    ----------
    variant : str
        One of the six.
    formula : {"pseudo-code", "text"}
        Whose scale of the noise.
    k, overcluster, rounds : int
        As in :func:`compare_variants`.

    Returns
    -------
    model : PublishedKCCM
        For records in [-1, 1].

    Examples
    --------
    >>> published_model("average k", formula="text", k=3).overcluster
    1
    """
    if variant not in VARIANTS:
        raise ParameterError(f"variants must be of {VARIANTS}, got {variant!r}")
    noise = next(noise for noise in KCCM_NOISE if variant.startswith(noise))
    start = overcluster if variant.endswith(" nk") else 1
    return PublishedKCCM(k, formula=formula, noise=noise, overcluster=start, max_iter=rounds)


def published_spend(model: PublishedKCCM, *, n: int, columns: int) -> tuple[float, float]:
    """Return what a variant as published would really spend if its noise were exact.

    Parameters
    ----------
    model : PublishedKCCM
        The variant.
    n, columns : int
        Size of the table.

    Returns
    -------
    epsilon, delta : float
        Delta is 0 but for Gaussian noise.

    Examples
    --------
    >>> published_spend(PublishedKCCM(formula="text"), n=748, columns=4)
    (78.0, 0.0)
    """
    if model.noise != "gaussian":
        return real_spend(model.formula, model.max_iter), 0.0
    delta = spare_delta(n)
    rho = real_rho(model.formula, model.max_iter, columns=columns)
    return zcdp_to_epsilon(rho, delta), delta
