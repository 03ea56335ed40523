"""What a command is about, from its name: an estimator, a mechanism, or an object of the user's."""

import ast
import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.base import clone

import shoal
from shoal.exceptions import MissingBoundsError, ParameterError

__all__ = ["CENTRAL", "LOCAL", "build_target", "import_object", "parameter_names", "parse_words"]

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
# Parameters that have an option of their own, and what is no parameter but is asked for as one.
LEFT_TO_OPTIONS = {"ledger": "--ledger", "random_state": "--seed"}
OPTIONS = {"bounds": "--bounds", "epsilon": "--epsilon", **LEFT_TO_OPTIONS}
NO_PARAMETERS = {
    "user_ids": "the column of users is named by --user-column of shoal cluster",
    "sample_weight": "rows have no weights on the command line",
}
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


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
        return _with(import_object(name), settings, label=name)
    known = {known.lower(): known for known in (*CENTRAL, *LOCAL)}
    if name.lower() not in known:
        raise ParameterError(
            f"the target must be one of {', '.join(known.values())}, or module:object, got {name!r}"
        )
    kind = getattr(shoal, known[name.lower()])
    if bounds is None:
        raise MissingBoundsError(f"{kind.__name__} needs public bounds: pass --bounds LOW,HIGH")
    first = {} if name.lower() in map(str.lower, CENTRAL) else {"epsilon": 1.0}
    return _with(kind, {**first, **settings}, label=kind.__name__)


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
        if name in LEFT_TO_OPTIONS:
            option = LEFT_TO_OPTIONS[name]
            raise ParameterError(f"--set must leave {name} to {option}, got {name} in it")
        try:
            words[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            words[name] = value
    return words


def import_object(name: str) -> Any:
    """Import an object of the user's own, from the current folder as well.

    Parameters
    ----------
    name : str
        ``"module:object"``.

    Returns
    -------
    found : object
        A class or an object.

    Raises
    ------
    ParameterError
        If it cannot be imported.
    """
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # a console script begins with the folder of the script
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - the user's module may fail in any way
        why = " ".join(str(error).split())
        raise ParameterError(
            f"{name!r} must be module:object that can be imported from here: {why}"
        ) from None


def parameter_names(kind: Any) -> tuple[str, ...]:
    """List the parameters of an estimator, or of a class of them.

    Parameters
    ----------
    kind : class or estimator
        With a constructor as scikit-learn wants it.

    Returns
    -------
    names : tuple of str
        In alphabetical order; none for what is no estimator.
    """
    if not isinstance(kind, type):
        return tuple(sorted(kind.get_params(deep=False))) if hasattr(kind, "get_params") else ()
    given = inspect.signature(kind).parameters.values()
    return tuple(sorted(one.name for one in given if one.kind not in STARRED))


def _with(kind: Any, settings: dict[str, Any], *, label: str) -> Any:
    """Make an object of a class, or set the parameters of one."""
    names = parameter_names(kind)
    if not hasattr(kind, "get_params"):
        raise ParameterError(f"{label} must be an estimator, got one without parameters to set")
    for word in settings:
        if word not in names:
            raise ParameterError(_refusal(word, label, names))
    try:
        return kind(**settings) if isinstance(kind, type) else clone(kind).set_params(**settings)
    except (TypeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise ParameterError(f"{label} must be made with what was given: {why}") from None


def _refusal(word: str, label: str, names: Sequence[str]) -> str:
    free = ", ".join(name for name in names if name not in OPTIONS) or "nothing"
    if word in ("bounds", "epsilon"):
        return f"{label} must have a parameter {word} for {OPTIONS[word]}, got one that has none"
    instead = f"; {NO_PARAMETERS[word]}" if word in NO_PARAMETERS else ""
    return f"--set must name a parameter of {label}, got {word!r}: it can set {free}{instead}"
