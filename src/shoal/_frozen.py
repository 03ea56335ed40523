"""Parameters are read once: what draws works on a copy of the estimator that nobody else has.

Between the check of the parameters and the last random word other code may run: the ledger's own, a
hook, another thread. What ``set_params`` changes meanwhile counts for the next call. The event that
is charged, the promise and the noise all come from the parameters that were checked.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

__all__ = ["fitted_copy", "frozen_copy", "leaves_last_fit"]

Estimator = TypeVar("Estimator")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def frozen_copy(estimator: Estimator) -> Estimator:
    """Return an estimator with the parameters as they are now, whatever happens to the original.

    Parameters
    ----------
    estimator : estimator
        Its fitted attributes, its ledger and its source of random words are shared with the copy.

    Returns
    -------
    own : estimator
        Of the same class.
    """
    state = dict(vars(estimator))
    for name in _parameters(type(estimator)):
        if name in state:
            state[name] = _own(state[name])
    # Not by copy.copy, which leaves out what must not travel: the copy lives as long as the call.
    own = object.__new__(type(estimator))
    vars(own).update(state)
    return own


def leaves_last_fit(
    fit: Callable[Concatenate[Estimator, Arguments], Result],
) -> Callable[Concatenate[Estimator, Arguments], Result]:
    """Make a fit read its parameters once, and change the estimator when it has a release.

    A fit that fails before leaves the estimator as it was. The columns are noted first and the
    budget may be refused after that: without this, an estimator would have the columns of the table
    that was refused, the centers of the one before, and ``predict`` would take the ones for the
    others.

    Parameters
    ----------
    fit : callable
        The method; it sets ``release_``, and runs on a copy of the estimator.

    Returns
    -------
    fit : callable
        The same, which returns the estimator with all that was fitted.
    """

    @functools.wraps(fit)
    def whole(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with fitted_copy(self) as own:
            fit(own, *args, **kwargs)
        return cast("Result", self)  # a fit returns its estimator

    return whole


@contextmanager
def fitted_copy(estimator: Estimator) -> Iterator[Estimator]:
    """Let a ``with`` block fit a frozen copy, and give the estimator what that was fitted with.

    Parameters
    ----------
    estimator : estimator
        Is left as it was where the block raises before it has set ``release_``.

    Yields
    ------
    own : estimator
        The copy.
    """
    own = frozen_copy(estimator)
    before = dict(vars(own))
    try:
        yield own
    except BaseException:
        if vars(own).get("release_") is not before.get("release_"):
            _hand_over(own, estimator, before.keys())
        raise
    _hand_over(own, estimator, before.keys())


def _hand_over(own: Any, estimator: Any, before: Set[str]) -> None:
    """Give an estimator what its copy was fitted with; its parameters stay its own."""
    state, fitted = vars(estimator), vars(own)
    for name in before - fitted.keys():
        state.pop(name, None)
    parameters = _parameters(type(estimator))
    state.update({name: value for name, value in fitted.items() if name not in parameters})
    if hasattr(estimator, "_take_labels"):  # they are kept beside the estimator
        estimator._take_labels(own)


def _own(value: Any) -> Any:
    """Copy what bounds and weights may be given in, which can change in place; leave the rest."""
    if isinstance(value, str | bytes | np.generic):
        return value
    if hasattr(value, "__array__"):  # of pandas and others, too
        return np.array(value)
    if isinstance(value, Mapping):  # bounds by column
        return {name: _own(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return getattr(value, "_make", tuple)(map(_own, value))  # a Box stays one
    return list(map(_own, value)) if isinstance(value, Sequence) else value


def _parameters(kind: type) -> frozenset[str]:
    """Return the names that constructors take: found once, since devices draw one by one.

    Those of all base classes, as that of a subclass may pass others on by ``**kwargs``.
    """
    if kind not in _NAMES:
        makers = [vars(base)["__init__"] for base in kind.__mro__ if "__init__" in vars(base)]
        _NAMES[kind] = frozenset().union(*(inspect.signature(one).parameters for one in makers))
    return _NAMES[kind]


_NAMES: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()
