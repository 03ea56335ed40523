"""What is audited or attacked: a copy that spends on nobody's account and shares no seed."""

from typing import Any

from sklearn.base import clone

from shoal.exceptions import ParameterError

__all__ = ["detached", "released"]


def detached(target: Any, *, seed: int | None = None) -> Any:
    """Clone an estimator or mechanism without its ledgers, with this seed wherever it takes one.

    Parameters
    ----------
    target : estimator or mechanism
        Left as it is. Steps of a pipeline and mechanisms inside a remap have ledgers and seeds of
        their own, which are taken as well.
    seed : int or None
        Seed; None for secure randomness.

    Returns
    -------
    copy : estimator or mechanism
        Not fitted.

    Raises
    ------
    ParameterError
        If it is no estimator, or takes no seed and one is given.

    Examples
    --------
    >>> from shoal.cluster import DPKMeans
    >>> detached(DPKMeans(3, random_state=5), seed=1)
    DPKMeans(n_clusters=3, random_state=1)
    """
    if not (hasattr(target, "fit") and hasattr(target, "get_params")):
        raise ParameterError(f"estimator must have fit and get_params, got {type(target).__name__}")
    values = {"ledger": None, "random_state": seed}
    last = {name: name.rpartition("__")[2] for name in target.get_params()}
    words = {name: values[end] for name, end in last.items() if end in values}
    if seed is not None and "random_state" not in last.values():
        raise ParameterError(
            "random_state must be None for an estimator without random_state, "
            f"got a seed for {type(target).__name__}"
        )
    return clone(target).set_params(**words)


def released(model: Any) -> Any:
    """Return the values that a fitted estimator releases.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    values : mapping
        Of its ``release_``.

    Raises
    ------
    ParameterError
        If it has none.
    """
    if not hasattr(getattr(model, "release_", None), "values"):
        raise ParameterError(
            f"estimator must have release_.values after fit, got {type(model).__name__} without",
            parameter="estimator",
            in_python="audit a function with epsilon_lower_bound",
        )
    return model.release_.values
