"""Which steps of a scikit-learn pipeline read the records before the noise.

An estimator promises something about the table that its ``fit`` was given. A scaler, an imputer or
an encoder that was fitted on the same records before has read them without noise, and what it
learned goes into everything after it: the promise does not cover that (docs/pipelines.md).

Each step is fitted on made-up tables (``_probe.py``), so a setting that makes a
step harmless counts, such as ``OneHotEncoder(categories=[...])``. What shows nothing is believed
only of scikit-learn's own classes; code of others "may read records".
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from shoal import _numbers
from shoal._registry import Method
from shoal.audit.pipelines._verdicts import PUBLIC_WAY, is_of_sklearn, judge, private_method
from shoal.audit.pipelines.report import PipelineReport, StepReport, Verdict
from shoal.exceptions import ParameterError

__all__ = ["check_pipeline"]

COMPOSITES = (Pipeline, ColumnTransformer, FeatureUnion)


def check_pipeline(pipeline: Any, *, vouch: Collection[str] = ()) -> PipelineReport:
    """Report which steps of a pipeline read the records before the noise, and what to use instead.

    A scaler that was fitted on the records, for example, weakens the guarantee of everything after
    it. Copies of the steps are fitted on synthetic tables: no record of yours is read, and nothing
    is spent.

    Parameters
    ----------
    pipeline : estimator
        A ``Pipeline``, ``ColumnTransformer``, ``FeatureUnion`` or parameter search, nested in any
        way, around an estimator or mechanism of shoal; or one of these alone.
    vouch : collection of str, default=()
        Names of steps, as in the report, of which you know that they work on one record at a time
        with public settings, such as a ``FunctionTransformer`` of your own. A step that was seen to
        read records cannot be vouched for.

    Returns
    -------
    report : PipelineReport
        The steps; ``report.ok`` says whether the guarantee covers the whole pipeline.

    Raises
    ------
    ParameterError
        If `pipeline` is not an estimator, or `vouch` names an unknown step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from shoal import DPKMeans
    >>> print(check_pipeline(make_pipeline(StandardScaler(), DPKMeans(3, bounds=(-3.0, 3.0)))))
    ... # doctest: +NORMALIZE_WHITESPACE
    not ok: the promise does not cover standardscaler
    step            class           verdict
    standardscaler  StandardScaler  reads records
    dpkmeans        DPKMeans        private
    standardscaler: fits on two made-up tables differ in mean_, n_samples_seen_, scale_, ...;
    instead: schema= with Number(minimum=, maximum=), or bounds=: columns are scaled by public
    bounds
    What was done to the table before this pipeline cannot be seen from here.
    """
    if isinstance(pipeline, type) or not hasattr(pipeline, "fit"):
        got = pipeline.__name__ if isinstance(pipeline, type) else type(pipeline).__name__
        raise ParameterError(f"pipeline must be an estimator with fit, got {got}")
    names = {
        _numbers.text("vouch", name) for name in ([vouch] if isinstance(vouch, str) else vouch)
    }
    walk = _Walk(names)
    walk.visit("", pipeline, raw=True)
    unknown = names - {step.step for step in walk.steps}
    if unknown:
        raise ParameterError(
            f"vouch must name steps, got {sorted(unknown)[0]!r}: the steps are "
            f"{', '.join(step.step for step in walk.steps)}"
        )
    return PipelineReport(tuple(walk.steps))


class _Walk:
    """A walk through a pipeline, in the order in which records pass its steps."""

    def __init__(self, vouched: Collection[str]) -> None:
        self.vouched = vouched
        self.steps: list[StepReport] = []

    def visit(self, path: str, step: Any, *, raw: bool) -> bool:
        """Note a step and what is inside it; return whether records leave it without noise."""
        if isinstance(step, COMPOSITES) and raw and not is_of_sklearn(step):
            base = next(kind.__name__ for kind in COMPOSITES if isinstance(step, kind))
            self._note_derived(path, step, base)
        if isinstance(step, Pipeline):
            for name, inner in step.steps:
                raw = self.visit(_join(path, name), inner, raw=raw)
            return raw
        if isinstance(step, ColumnTransformer | FeatureUnion):
            return self._side_by_side(path, step, raw=raw)
        method = private_method(step)
        if method is not None and raw:
            return self._private(path, step, method)
        if not raw:
            self._note(path, step, "after the noise", "its input is reports")
            return False
        inner = _wrapped(step)
        if inner:
            self._note_wrapper(path, step)
            for name, one in inner:
                raw = self.visit(_join(path, name), one, raw=raw)
            return raw
        self._note(path, step, *judge(step))
        return True

    def _private(self, path: str, step: Any, method: Method) -> bool:
        """Note a step that promises something; what central ones pass on is still records."""
        if not type(step).__module__.startswith("shoal."):
            self._note_derived(path, step, method.class_name)
        if getattr(step, "epsilon", None) == math.inf:
            self._note(path, step, "reads records", "epsilon is infinite", "a finite epsilon=")
            return True
        self._note(path, step, "private", method.summary)
        return method.trust_model == "central"

    def _side_by_side(self, path: str, step: Any, *, raw: bool) -> bool:
        """Visit branches that the same records enter; one without noise gives all of them away."""
        leaks, noisy = [], False
        for name, inner, columns in _branches(step):
            if raw and callable(columns):
                self._note(
                    _join(path, name),
                    columns,
                    "may read records",
                    "a function chooses its columns when it sees the table",
                    "name the columns",
                )
            if isinstance(inner, str) and inner == "drop":
                continue
            if self.visit(_join(path, name), inner, raw=raw):
                leaks.append(len(self.steps) - 1)
            else:
                noisy = True
        for last in leaks if noisy else ():
            if self.steps[last].ok:
                self.steps[last] = replace(
                    self.steps[last],
                    verdict="lets records through",
                    reason="its columns leave beside the reports, without noise",
                    remedy="drop these columns, or give them to the mechanism",
                )
        return bool(leaks)

    def _note(self, path: str, step: Any, verdict: Verdict, reason: str, remedy: str = "") -> None:
        kind = step if isinstance(step, str) else _class_name(step)
        if verdict == "may read records" and (path or kind) in self.vouched:
            verdict, reason, remedy = "vouched for", "by the caller", ""
        self.steps.append(StepReport(path or kind, kind, verdict, reason, remedy))

    def _note_derived(self, path: str, step: Any, base: str) -> None:
        reason = f"derived from {base}, and what it adds is not known"
        self._note(path, step, "may read records", reason, PUBLIC_WAY)

    def _note_wrapper(self, path: str, step: Any) -> None:
        if {"cv", "scoring"} <= step.get_params(deep=False).keys():
            self._note(
                path,
                step,
                "reads records",
                "chooses by exact scores of records, and each of its fits spends",
                'shoal plan, DPKMeans.advise, or n_clusters="private"',
            )
        else:
            self._note(
                path,
                step,
                "may read records",
                "what it does around its estimator is not known",
                PUBLIC_WAY,
            )


def _branches(step: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, step and columns of each branch, the remainder of the columns last."""
    if isinstance(step, FeatureUnion):
        for name, inner in step.transformer_list:
            yield name, inner, None
        return
    yield from step.transformers
    yield "remainder", step.remainder, None


def _wrapped(step: Any) -> list[tuple[str, Any]]:
    """Return the estimators inside a step, if any of them is private."""
    if step is None or isinstance(step, str) or not hasattr(step, "get_params"):
        return []
    nested = [
        (name, inner)
        for name, inner in step.get_params(deep=False).items()
        if hasattr(inner, "fit") and not isinstance(inner, type)
    ]
    return nested if any(_holds_private(inner) for _, inner in nested) else []


def _holds_private(step: Any) -> bool:
    nested = step.get_params().values() if hasattr(step, "get_params") else ()
    return any(private_method(one) is not None for one in (step, *nested))


def _join(path: str, name: str) -> str:
    return f"{path}__{name}" if path else name


def _class_name(step: Any) -> str:
    return "passthrough" if step is None else type(step).__name__
