"""The part of scikit-learn's estimators that a device needs, for where scikit-learn is missing.

Parameters are those of the constructor; names, messages and ``repr`` are as in scikit-learn. What
needs more of it (tags, ``set_output``, metadata routing, diagrams) is not here.
"""

import copy
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from shoal.exceptions import ParameterError

__all__ = [
    "BaseEstimator",
    "NotFittedError",
    "OneToOneFeatureMixin",
    "TransformerMixin",
    "check_is_fitted",
    "clone",
    "validate_data",
]

TABLE = 2  # dimensions of one


class NotFittedError(ValueError, AttributeError):
    """An estimator is used before it was fitted."""


class BaseEstimator:
    """Parameters that are read, set, shown and copied."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, in the order of the alphabet.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add parameters of parameters, as ``name__parameter``.

        Returns
        -------
        params : dict
            Names and values.
        """
        params: dict[str, Any] = {}
        for name in sorted(_defaults(type(self))):
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params.update({f"{name}__{key}": v for key, v in value.get_params().items()})
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name__parameter`` sets that of a parameter.

        Parameters
        ----------
        **params : object
            Names and values.

        Returns
        -------
        self : BaseEstimator
            The same.
        """
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, inner, parameter = key.partition("__")
            if name not in _defaults(type(self)):
                raise ParameterError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: "
                    f"{sorted(_defaults(type(self)))!r}.",
                    parameter=name,
                    code="unknown",
                )
            if inner:
                nested.setdefault(name, {})[parameter] = value
            else:
                setattr(self, name, value)
        for name, inside in nested.items():
            getattr(self, name).set_params(**inside)
        return self

    def __repr__(self) -> str:
        defaults = _defaults(type(self))
        values = self.get_params(deep=False)
        # By their text: arrays have no single answer to whether they are equal.
        changed = [
            f"{name}={values[name]!r}"
            for name in values
            if repr(values[name]) != repr(defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __sklearn_clone__(self) -> Self:
        params = {name: clone(value) for name, value in self.get_params(deep=False).items()}
        return type(self)(**params)


class TransformerMixin:
    """``fit`` and ``transform`` in one call."""

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to a table, then transform it.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Records.
        y : None
            Ignored.
        **fit_params : object
            For ``fit``.

        Returns
        -------
        Z : object
            What ``transform`` returns.
        """
        fitted: Any = self
        return fitted.fit(X, y, **fit_params).transform(X)


class OneToOneFeatureMixin:
    """Columns that come out have the names of those that went in."""

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names, if there are any; they must be those of ``fit``.

        Returns
        -------
        names : ndarray of object
            Those of ``fit``, or x0, x1, ...
        """
        check_is_fitted(self, "n_features_in_")
        columns, known = (
            getattr(self, "n_features_in_", 0),
            getattr(self, "feature_names_in_", None),
        )
        if input_features is None:
            generated = np.array([f"x{index}" for index in range(columns)], dtype=object)
            return generated if known is None else known
        names = np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(known, names):
            raise ParameterError(
                "input_features is not equal to feature_names_in_",
                parameter="input_features",
                code="columns",
            )
        if len(names) != columns:
            raise ParameterError(
                "input_features should have length equal to number of features "
                f"({columns}), got {len(names)}",
                parameter="input_features",
                code="columns",
            )
        return names


def clone(estimator: Any) -> Any:
    """Return an unfitted copy with the same parameters; of what is no estimator, a deep copy."""
    if hasattr(estimator, "__sklearn_clone__") and not isinstance(estimator, type):
        return estimator.__sklearn_clone__()
    return copy.deepcopy(estimator)


def check_is_fitted(estimator: Any, attributes: str) -> None:
    """Refuse an estimator without an attribute that ``fit`` sets."""
    if not hasattr(estimator, attributes):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )


def validate_data(estimator: Any, X: Any, *, reset: bool, dtype: Sequence[type]) -> Any:
    """Return a table of finite numbers as an array, and note or compare its columns.

    Messages begin as those of scikit-learn, by which the caller knows them.
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("Sparse data was passed for X, but dense data is required")
    names = _names(X)
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype not in dtype:
        array = array.astype(dtype[0])
    if array.ndim < TABLE:
        raise ValueError("Expected 2D array. Reshape your data")
    if array.ndim > TABLE:
        raise ValueError(
            f"Found array with dim {array.ndim}, while dim <= 2 is required by "
            f"{type(estimator).__name__}."
        )
    if not len(array):
        raise ValueError("Found array with 0 sample(s)")
    if not array.shape[1]:
        raise ValueError("Found array with 0 feature(s)")
    if not np.isfinite(array).all():
        raise ValueError("Input X contains NaN or infinity")
    columns = array.shape[1]
    if reset:
        estimator.n_features_in_ = columns
        vars(estimator).pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
        return array
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted is not None and not np.array_equal(fitted, names):
        raise ValueError("The feature names should match those that were passed during fit.")
    if columns != getattr(estimator, "n_features_in_", columns):
        raise ValueError(
            f"X has {columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    return array


def _names(X: Any) -> Any:
    """Return the names of a frame's columns; None for arrays, and for names that are not text."""
    if isinstance(X, list | tuple | np.ndarray):
        return None
    named = getattr(X, "column_names", getattr(X, "columns", None))
    names = [] if named is None else list(named)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)


def _defaults(kind: type) -> Mapping[str, Any]:
    """Return the parameters of a constructor and their defaults."""
    return {name: one.default for name, one in inspect.signature(kind).parameters.items()}
