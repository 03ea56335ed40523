"""Iterative Bayesian update: where the records lie, estimated from reports alone.

pi(x) <- (1/n) sum_i pi(x) K(z_i | x) / sum_x' pi(x') K(z_i | x'), the EM iteration for the
distribution of records behind noisy reports (Agrawal & Aggarwal 2001; ElSalamouny & Palamidessi
2020). Where K depends on z - x only and z is counted in cells, an iteration is a division between
two convolutions, so its cost does not depend on the number of reports (this is Richardson-Lucy
deconvolution). Post-processing of reports: free (proofs/remap.md).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal import _numbers
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.remap.geometry import CellChannel, Convolution

__all__ = ["Update", "iterative_bayesian_update"]


SMALLEST = 1e-12  # of the largest density: below lies rounding of the transforms


class Update(NamedTuple):
    """Result of the iterative Bayesian update."""

    prior: Floats
    log_likelihood: Floats

    @property
    def n_iter(self) -> int:
        """Number of updates."""
        return len(self.log_likelihood)


def iterative_bayesian_update(
    counts: Any,
    kernel: Any,
    cells: Sequence[int] | None = None,
    *,
    start: Any = None,
    max_iter: int = 50,
    tol: float = 1.0,
) -> Update:
    """Estimate the distribution of records on a regular grid from counts of reports.

    Parameters
    ----------
    counts : array-like of shape (e_1, ..., e_d)
        Number of reports in each cell of a grid that extends beyond the box of the records.
    kernel : array-like or CellChannel
        Probability, up to a factor, of a report for each offset in cells from the record. Odd
        number of values in each column, the middle one for offset 0; it is zero at all other
        offsets. If the noise depends on the record: a channel, with ``forward`` and ``backward``.
    cells : sequence of int, default=None
        Number of cells of the box in each column, in the middle of the counts; None for all. With
        a channel: the shape of its input.
    start : array-like of shape ``cells``, default=None
        Initial distribution; entries that are zero stay zero. None takes the uniform distribution.
    max_iter : int, default=50
        Largest number of updates.
    tol : float, default=1.0
        Stop when an update raises the log-likelihood of all reports together by less than this,
        in nats. A gain below one nat is no evidence; further updates fit the noise.

    Returns
    -------
    update : Update
        ``prior`` of shape ``cells``, which sums to 1; ``log_likelihood`` before each update, up to
        a constant.

    Examples
    --------
    Half of the reports of records in cell 0 or 2 fall on a neighbor:

    >>> counts = [0, 50, 100, 100, 100, 50, 0]
    >>> update = iterative_bayesian_update(counts, [0.25, 0.5, 0.25], [3], tol=1e-6)
    >>> update.prior.round(1).tolist()
    [0.5, 0.0, 0.5]
    """
    counts = _table("counts", counts)
    max_iter = _numbers.count("max_iter", max_iter)
    tol = _numbers.non_negative("tol", tol)
    cells = counts.shape if cells is None else cells
    if hasattr(kernel, "backward"):
        cells = tuple(_numbers.count("cells", side) for side in cells)
        begin = _start(start, cells)
        return update_prior(kernel, counts, begin, max_iter=max_iter, tol=tol)
    cells = _inner(cells, counts.shape)
    kernel = _table("kernel", kernel)
    if kernel.ndim != counts.ndim or any(side % 2 == 0 for side in kernel.shape):
        raise ParameterError(
            f"kernel must have an odd number of values in each of {counts.ndim} columns, "
            f"got shape {kernel.shape}",
            parameter="kernel",
            code="shape",
        )
    channel = Convolution(kernel, cells, counts.shape)
    return update_prior(channel, counts, _start(start, cells), max_iter=max_iter, tol=tol)


def update_prior(
    channel: CellChannel, counts: Floats, start: Floats, *, max_iter: int, tol: float
) -> Update:
    """Run the update with checked arguments."""
    seen = counts > 0
    seen_counts = counts[seen]
    total = counts.sum()
    weights = np.zeros(counts.shape)

    def log_likelihood(prior: Floats) -> tuple[float, Floats]:
        densities = channel.forward(prior)
        at_reports = np.maximum(densities[seen], SMALLEST * densities.max())
        return float(seen_counts @ np.log(at_reports)), at_reports

    def update(prior: Floats, at_reports: Floats) -> Floats:
        weights[seen] = seen_counts / (total * at_reports)
        updated = np.maximum(prior * channel.backward(weights), 0.0)
        # Reports that no record explains say nothing, and the prior stays.
        return updated / updated.sum() if updated.any() else prior

    return climb(log_likelihood, update, start, max_iter, tol)


def climb(
    log_likelihood: Callable[[Floats], tuple[float, Floats]],
    update: Callable[[Floats, Floats], Floats],
    prior: Floats,
    max_iter: int,
    tol: float,
) -> Update:
    """Repeat an update, each time from a point ahead of the last (Biggs & Andrews 1997).

    The point ahead continues the last step by as much as steps have been alike. Where it is no
    better than the last prior, it is given up for that prior, so the likelihood never falls.
    """
    here = ahead = prior
    stride = last_stride = np.zeros_like(prior)
    gains: list[float] = []
    for _ in range(max_iter):
        value, state = log_likelihood(ahead)
        if gains and value < gains[-1]:
            ahead = here
            last_stride = np.zeros_like(prior)
            value, state = log_likelihood(ahead)
        gains.append(value)
        if len(gains) > 1 and gains[-1] - gains[-2] < tol:
            break
        updated = update(ahead, state)
        stride = updated - ahead
        alike = float((stride * last_stride).sum())
        size = float((last_stride**2).sum())
        share = min(max(alike / size, 0.0), 1.0) if size > 0 else 0.0
        # Never below a tenth: an update cannot bring back what has become zero.
        ahead = np.maximum(updated + share * (updated - here), 0.1 * updated)
        ahead /= ahead.sum()
        here, last_stride = updated, stride
    return Update(here, np.array(gains))


def _start(start: Any, cells: Sequence[int]) -> Floats:
    if start is None:
        return np.full(cells, 1.0 / np.prod(cells))
    prior = _table("start", start)
    if prior.shape != tuple(cells):
        raise ParameterError(
            f"start must have shape {tuple(cells)}, got {prior.shape}",
            parameter="start",
            code="shape",
        )
    prior /= prior.sum()
    return prior


def _table(name: str, values: Any) -> Floats:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} must be an array of numbers, got {values!r}", parameter=name, code="type"
        ) from None
    if table.ndim == 0 or not (np.isfinite(table).all() and (table >= 0).all() and table.any()):
        raise ParameterError(
            f"{name} must be an array of numbers >= 0, not all zero, got shape {table.shape}",
            parameter=name,
            code="shape",
        )
    return table


def _inner(cells: Sequence[int], outer: tuple[int, ...]) -> tuple[int, ...]:
    inner = tuple(_numbers.count("cells", side) for side in cells)
    fits = len(inner) == len(outer) and all(
        c <= side and (side - c) % 2 == 0 for c, side in zip(inner, outer, strict=True)
    )
    if not fits:
        raise ParameterError(
            f"cells must lie in the middle of counts of shape {outer}, as many on each side, "
            f"got {tuple(cells)!r}",
            parameter="cells",
            code="shape",
        )
    return inner
