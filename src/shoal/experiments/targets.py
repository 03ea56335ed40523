"""What a command is about, from its name: an estimator, a mechanism, or an object of the user's."""

import ast
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import shoal
from shoal.exceptions import MissingBoundsError, ParameterError

__all__ = ["CENTRAL", "LOCAL", "build_target", "parse_words"]

CENTRAL = ("DPKMeans", "DPWaveCluster")
LOCAL = (
    "Duchi",
    "Hybrid",
    "KdLaplace",
    "Laplace",
    "Piecewise",
    "PlanarLaplace",
    "SphericalLaplace",
    "SquareWave",
)


def build_target(
    name: str,
    *,
    epsilon: float | None = None,
    bounds: Any = None,
    words: Mapping[str, Any] | None = None,
) -> Any:
    """Make what a name stands for.

    Parameters
    ----------
    name : str
        An estimator or mechanism of shoal, in any case, or ``"module:object"``: an estimator, or a
        class of them, from the user's own code.
    epsilon : float, optional
        Its epsilon; the class's own default, or 1.
    bounds : tuple (low, high), optional
        Its public bounds.
    words : mapping, optional
        Other parameters.

    Returns
    -------
    target : estimator or mechanism
        Not fitted.

    Raises
    ------
    ParameterError
        If there is no such thing, or it has no such parameter.

    Examples
    --------
    >>> build_target("dpkmeans", epsilon=0.5, bounds=(0, 1), words={"n_clusters": 3})
    DPKMeans(bounds=(0, 1), epsilon=0.5, n_clusters=3)
    """
    settings = {**(words or {})}
    if bounds is not None:
        settings["bounds"] = bounds
    if epsilon is not None:
        settings["epsilon"] = epsilon
    if ":" in name:
        return _with(_own(name), settings)
    known = {known.lower(): known for known in (*CENTRAL, *LOCAL)}
    if name.lower() not in known:
        raise ParameterError(
            f"the target must be one of {', '.join(known.values())}, or module:object, got {name!r}"
        )
    kind = getattr(shoal, known[name.lower()])
    if bounds is None:
        raise MissingBoundsError(f"{kind.__name__} needs public bounds: pass --bounds LOW,HIGH")
    first = {} if name.lower() in map(str.lower, CENTRAL) else {"epsilon": 1.0}
    return _with(kind, {**first, **settings})


def parse_words(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs; a value is a Python literal, or else a word.

    Parameters
    ----------
    pairs : sequence of str
        As given on the command line.

    Returns
    -------
    words : dict
        By name.

    Examples
    --------
    >>> parse_words(["n_clusters=3", "method=lloyd", "n_public=None"])
    {'n_clusters': 3, 'method': 'lloyd', 'n_public': None}
    """
    words: dict[str, Any] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise ParameterError(f"--set must be name=value, got {pair!r}")
        try:
            words[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            words[name] = value
    return words


def _own(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(
            f"the target must be module:object that can be imported, got {name!r}: {error}"
        ) from None
    return found


def _with(kind: Any, settings: dict[str, Any]) -> Any:
    """Make an object of a class, or set the parameters of one."""
    try:
        if isinstance(kind, type):
            return kind(**settings)
        return kind.set_params(**settings) if settings else kind
    except (TypeError, ValueError, AttributeError):
        name = kind.__name__ if isinstance(kind, type) else type(kind).__name__
        given = ", ".join(settings) or "none"
        raise ParameterError(
            f"{name} must take the parameters that were given, got {given}: see help({name})"
        ) from None
