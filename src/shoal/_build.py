"""Estimators and mechanisms from their names, as the command line has them, and copies of them.

A name is a class of the registry, or ``module:object`` from the user's own code. No estimator is
imported before it is built.
"""

import ast
import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal._registry import METHODS, class_names
from shoal.exceptions import MissingBoundsError, ParameterError

if TYPE_CHECKING:
    from shoal._bounds import Ball
    from shoal._typing import Bounds

__all__ = [
    "CENTRAL",
    "LOCAL",
    "build_estimator",
    "detached",
    "import_object",
    "load_class",
    "parameter_names",
    "parse_settings",
]

CENTRAL = tuple(sorted(class_names("central")))
LOCAL = tuple(sorted(class_names("local")))
LOCATIONS = {method.class_name: method.location for method in METHODS}

# Parameters that have an option of their own, and what is no parameter but is asked for as one.
LEFT_TO_OPTIONS = {"ledger": "--ledger", "random_state": "--seed", "schema": "--schema"}
OPTIONS = {"bounds": "--bounds", "epsilon": "--epsilon", **LEFT_TO_OPTIONS}
NO_PARAMETERS = {
    "user_ids": "the column of users is named by --user-column of shoal cluster",
    "sample_weight": "rows have no weights on the command line",
}
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def build_estimator(
    name: str,
    *,
    epsilon: float | None = None,
    bounds: "Bounds | Ball | str | None" = None,
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Build the estimator or mechanism of a name, not fitted.

    Parameters
    ----------
    name : str
        A class of shoal, in any case, or ``"module:object"``: an estimator, or a class of them,
        from the user's own code.
    epsilon : float, optional
        Its epsilon; the class's own default, or 1.
    bounds : tuple (low, high), optional
        Its public bounds.
    kwargs : mapping, optional
        Other parameters.

    Raises
    ------
    ParameterError
        If there is no such thing, or it has no such parameter.

    Examples
    --------
    >>> build_estimator("dpkmeans", epsilon=0.5, bounds=(0, 1), kwargs={"n_clusters": 3})
    DPKMeans(bounds=(0, 1), epsilon=0.5, n_clusters=3)
    """
    settings = {**(kwargs or {})}
    if bounds is not None:
        settings["bounds"] = bounds
    if epsilon is not None:
        settings["epsilon"] = epsilon
    if ":" in name:
        return _with_settings(import_object(name), settings, label=name)
    known = {known.lower(): known for known in (*CENTRAL, *LOCAL)}
    if name.lower() not in known:
        raise ParameterError(
            f"the target must be one of {', '.join(known.values())}, or module:object, got "
            f"{name!r}",
            parameter="name",
            code="unknown",
        )
    label = known[name.lower()]
    if bounds is None and "schema" not in settings and settings.get("metric") != "cosine":
        raise MissingBoundsError(
            f"{label} needs public bounds: pass --bounds LOW,HIGH, or --schema FILE for a table "
            "with text, dates or gaps"
        )
    first = {} if label in CENTRAL else {"epsilon": 1.0}
    return _with_settings(load_class(LOCATIONS[label]), {**first, **settings}, label=label)


def detached(target: Any, *, seed: int | None = None) -> Any:
    """Clone an estimator or mechanism without its ledgers, with this seed wherever it takes one.

    What is audited, attacked or compared is such a copy: it spends on nobody's account and shares
    no seed. Steps of a pipeline and mechanisms inside a remap have ledgers and seeds of their own,
    which are replaced as well; the target stays as it is.

    Parameters
    ----------
    target : estimator or mechanism
        With ``fit`` and ``get_params``.
    seed : int or None
        Seed; None for secure randomness.

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
    from sklearn.base import clone  # noqa: PLC0415 - names and settings are parsed without it

    if not (hasattr(target, "fit") and hasattr(target, "get_params")):
        raise ParameterError(
            f"estimator must have fit and get_params, got {type(target).__name__}",
            parameter="estimator",
            code="type",
        )
    values = {"ledger": None, "random_state": seed}
    last = {name: name.rpartition("__")[2] for name in target.get_params()}
    kwargs = {name: values[end] for name, end in last.items() if end in values}
    if seed is not None and "random_state" not in last.values():
        raise ParameterError(
            "random_state must be None for an estimator without random_state, "
            f"got a seed for {type(target).__name__}",
            parameter="random_state",
            code="unexpected",
        )
    return clone(target).set_params(**kwargs)


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse ``name=value`` pairs of ``--set``; a value is a Python literal, or else text.

    >>> parse_settings(["n_clusters=3", "method=lloyd", "n_public=None"])
    {'n_clusters': 3, 'method': 'lloyd', 'n_public': None}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise ParameterError(f"--set must be name=value, got {pair!r}")
        if name in LEFT_TO_OPTIONS:
            option = LEFT_TO_OPTIONS[name]
            raise ParameterError(f"--set must not name {name}, got it: use {option}")
        try:
            settings[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            settings[name] = value
    return settings


def load_class(location: str) -> Any:
    """Import a class of shoal from its ``"module:Class"`` in the registry."""
    module, _, name = location.partition(":")
    return getattr(importlib.import_module(module), name)


def import_object(location: str) -> Any:
    """Import ``"module:object"`` of the user's own, from the current folder as well."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # a console script begins with the folder of the script
    try:
        return load_class(location)
    except Exception as error:  # noqa: BLE001 - the user's module may fail in any way
        why = " ".join(str(error).split())
        raise ParameterError(
            f"{location!r} must be module:object that can be imported from here: {why}",
            parameter="name",
            code="unknown",
        ) from None


def parameter_names(estimator: Any) -> tuple[str, ...]:
    """List the parameters of an estimator or of its class, in order; none for anything else."""
    if not isinstance(estimator, type):
        if not hasattr(estimator, "get_params"):
            return ()
        return tuple(sorted(estimator.get_params(deep=False)))
    given = inspect.signature(estimator).parameters.values()
    return tuple(sorted(one.name for one in given if one.kind not in STARRED))


def _with_settings(source: Any, settings: dict[str, Any], *, label: str) -> Any:
    """Build an object of a class, or a copy of an object, with these parameters."""
    from sklearn.base import clone  # noqa: PLC0415 - names and settings are parsed without it

    names = parameter_names(source)
    if not hasattr(source, "get_params"):
        raise ParameterError(
            f"{label} must be an estimator, got one without parameters to set",
            parameter="name",
            code="type",
        )
    for name in settings:
        if name not in names:
            raise ParameterError(_refusal(name, label, names), parameter=name, code="unknown")
    try:
        if isinstance(source, type):
            return source(**settings)
        return clone(source).set_params(**settings)
    except (TypeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise ParameterError(f"{label} must be made with what was given: {why}") from None


def _refusal(name: str, label: str, names: Sequence[str]) -> str:
    free = ", ".join(one for one in names if one not in OPTIONS) or "nothing"
    if name in ("bounds", "epsilon"):
        return f"{label} must have a parameter {name} for {OPTIONS[name]}, got one that has none"
    instead = f"; {NO_PARAMETERS[name]}" if name in NO_PARAMETERS else ""
    return f"--set must name a parameter of {label}, got {name!r}: it can set {free}{instead}"
