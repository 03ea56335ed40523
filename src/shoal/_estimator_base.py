"""What mechanisms are made from: scikit-learn's base classes where it is installed, else ours.

With scikit-learn a mechanism is an estimator like any other (pipelines, ``clone``, ``set_output``,
``check_estimator``). A device has no need of it: there, the few methods that draw a report come
from ``shoal._plain_estimator``. Reports are the same bits with both.
"""

from collections.abc import Sequence
from typing import Any

from shoal import _plain_estimator
from shoal._optional import require
from shoal.exceptions import MissingPackageError

__all__ = [
    "UNUSED",
    "BaseEstimator",
    "NotFittedError",
    "OneToOneFeatureMixin",
    "TransformerMixin",
    "check_is_fitted",
    "clone",
    "transform_output",
    "validate_data",
]


def _installed(module: str) -> Any:
    """Return a module of scikit-learn, or None; by name, since light packages do not import it."""
    try:
        return require(module, extra="")
    except MissingPackageError:
        return None


_base = _installed("sklearn.base")
# Before 1.6 it had no validate_data: a device may have such a one for other reasons.
if _base is not None and hasattr(require("sklearn.utils.validation", extra=""), "validate_data"):
    _validation = require("sklearn.utils.validation", extra="")
    _sklearn = require("sklearn", extra="")
    _config: Any = _sklearn.get_config
    BaseEstimator: Any = _base.BaseEstimator
    TransformerMixin: Any = _base.TransformerMixin
    OneToOneFeatureMixin: Any = _base.OneToOneFeatureMixin
    NotFittedError: Any = require("sklearn.exceptions", extra="").NotFittedError
    clone: Any = _base.clone
    check_is_fitted: Any = _validation.check_is_fitted
    # In metadata routing: no metadata of this name is asked for.
    UNUSED: Any = require("sklearn.utils.metadata_routing", extra="").UNUSED

    def validate_data(estimator: Any, X: Any, *, reset: bool, dtype: Sequence[type]) -> Any:
        """Return a table of finite numbers, whatever is switched off for estimators of others.

        A value that is missing or infinite would be found after the spend, or never.
        """
        with _sklearn.config_context(assume_finite=False, array_api_dispatch=False):
            return _validation.validate_data(estimator, X, reset=reset, dtype=dtype)
else:
    _config = dict
    BaseEstimator = _plain_estimator.BaseEstimator
    TransformerMixin = _plain_estimator.TransformerMixin
    OneToOneFeatureMixin = _plain_estimator.OneToOneFeatureMixin
    NotFittedError = _plain_estimator.NotFittedError
    clone = _plain_estimator.clone
    check_is_fitted = _plain_estimator.check_is_fitted
    validate_data = _plain_estimator.validate_data
    UNUSED = None


def transform_output() -> str:
    """Return what ``transform`` of all estimators returns, by the configuration."""
    return str(_config().get("transform_output", "default"))
