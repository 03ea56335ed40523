"""The verdict on one step of a pipeline, and the private way in its place."""

from typing import Any

import numpy as np

from shoal._registry import METHODS, Method
from shoal.audit.pipelines._probe import probe_step
from shoal.audit.pipelines.report import Verdict
from shoal.schema import SchemaEncoder

__all__ = ["PUBLIC_WAY", "is_of_sklearn", "judge", "private_method"]

PRIVATE_PACKAGES = ("shoal.cluster", "shoal.mechanisms")
SCALES = "schema= with Number(minimum=, maximum=), or bounds=: columns are scaled by public bounds"
GAPS = 'SchemaEncoder: missing="category", or missing="fill" with a public fill='
LEVELS = "SchemaEncoder: Category(categories=[...]) or Ordinal, from public lists"
FEWER = 'leave it out: DPKMeans(method="ball") finds main directions privately'
CHOOSE = "choose the fields by what is publicly known of them"
VOCABULARY = "HashingVectorizer, or a public vocabulary= without idf; Text fields for keywords"
PUBLIC_WAY = (
    "compute it from public values, or leave it out; a promise of its own adds up with this one"
)

# The private way, by the name of a class of scikit-learn, and else by its package.
REMEDIES = {
    "StandardScaler": SCALES,
    "MinMaxScaler": SCALES,
    "MaxAbsScaler": SCALES,
    "RobustScaler": SCALES,
    "QuantileTransformer": f'{SCALES}; heavy tails: scale="log"',
    "PowerTransformer": f'{SCALES}; heavy tails: scale="log"',
    "FunctionTransformer": f"vouch= for it if it works on one record at a time, or {PUBLIC_WAY}",
    "KBinsDiscretizer": "SchemaEncoder: Number with public bounds, or Ordinal with public steps",
    "SplineTransformer": "knots= with public positions",
    "OneHotEncoder": LEVELS,
    "OrdinalEncoder": LEVELS,
    "TargetEncoder": LEVELS,
    "LabelEncoder": LEVELS,
    "LabelBinarizer": LEVELS,
    "MultiLabelBinarizer": LEVELS,
    "DictVectorizer": LEVELS,
    "sklearn.impute": GAPS,
    "sklearn.decomposition": FEWER,
    "sklearn.manifold": FEWER,
    "sklearn.cluster": FEWER,
    "sklearn.random_projection": 'n_components= as a number: "auto" counts the records',
    "sklearn.feature_selection": CHOOSE,
    "sklearn.feature_extraction.text": VOCABULARY,
    "sklearn.feature_extraction._dict_vectorizer": LEVELS,
}


def judge(step: Any) -> tuple[Verdict, str, str]:
    """Return the verdict on a step that sees records, its reason and the private way."""
    if step is None or isinstance(step, str):
        return "one record at a time", "records pass as they are", ""
    if type(step) is SchemaEncoder:  # what a class derived from it adds is not known
        if getattr(step.schema, "seeded", False):
            return "reads records", "its schema was learned with a seed", "learn_schema without one"
        return "one record at a time", "encoded by the public schema alone", ""
    probe = probe_step(step)
    if probe.evidence:
        return "reads records", probe.evidence, _remedy(step)
    doubt = _doubt(step) or ("" if probe.tried else "it took none of the made-up tables")
    if doubt:
        return "may read records", doubt, _remedy(step)
    return "one record at a time", "fits on made-up tables are the same", ""


def _doubt(step: Any) -> str:
    """Return why a step that showed nothing may still read records."""
    if not is_of_sklearn(step):
        return "not a class of scikit-learn, so what it does is not known"
    if type(step).__name__ == "FrozenEstimator":
        return "fitted before, on records that cannot be seen from here"
    functions = [one for one in step.get_params(deep=False).values() if _is_function(one)]
    if functions:
        return "what a function does with a table cannot be known"
    return ""


def is_of_sklearn(step: Any) -> bool:
    """Return whether the class of a step is one of scikit-learn's own."""
    return type(step).__module__.startswith("sklearn.")


def _is_function(value: Any) -> bool:
    """Return whether a setting is a function, other than numpy's that work number by number."""
    return callable(value) and not isinstance(value, type | np.ufunc)


def _remedy(step: Any) -> str:
    kind = type(step)
    if not is_of_sklearn(step):
        return PUBLIC_WAY
    if kind.__name__ in REMEDIES:
        return REMEDIES[kind.__name__]
    packages = (way for package, way in REMEDIES.items() if kind.__module__.startswith(package))
    return next(packages, PUBLIC_WAY)


def private_method(step: Any) -> Method | None:
    """Return the registered method that a step is of, if it adds noise to what it is given."""
    for kind in type(step).__mro__:
        for method in METHODS:
            package = method.location.partition(":")[0]
            if (
                package in PRIVATE_PACKAGES
                and kind.__name__ == method.class_name
                and kind.__module__.startswith(package)
            ):
                return method
    return None
