"""The encoder as a scikit-learn transformer: the first step of a private pipeline."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shoal._estimator_base import BaseEstimator, TransformerMixin
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.schema.schema import Schema

__all__ = ["SchemaEncoder"]


class SchemaEncoder(TransformerMixin, BaseEstimator):
    """Encode mixed records by a public schema, without learning anything from them.

    Other encoders and scalers learn from the records in ``fit``, before any noise, so a pipeline
    with them has no privacy guarantee. This one needs no fit.

    Parameters
    ----------
    schema : Schema
        Public description of the table.

    See Also
    --------
    shoal.DPKMeans : Takes ``schema=`` itself, and then also knows which encoded columns belong
        together.

    Examples
    --------
    >>> from shoal.schema import Category, Number, Schema, SchemaEncoder
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    >>> encoder = SchemaEncoder(schema)
    >>> table = {"age": [30, None], "city": ["B", "A"]}
    >>> encoder.inverse_transform(encoder.transform(table)).tolist()
    [[30.0, 'B'], [None, 'A']]
    """

    def __init__(self, schema: Schema | None = None) -> None:
        self.schema = schema

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the schema; records are ignored.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : None
            Ignored.

        Returns
        -------
        self : SchemaEncoder
            The encoder.
        """
        self._checked()
        return self

    def transform(self, X: Any) -> Floats:
        """Encode records.

        Parameters
        ----------
        X : data frame, dict of columns, or rows in the order of the fields
            The table.

        Returns
        -------
        encoded : ndarray of float64, shape (n, d)
            Encoded records, as private as the records.
        """
        return self._checked().encode(X)

    def inverse_transform(self, X: Any) -> npt.NDArray[np.object_]:
        """Return the record nearest to each point of the encoded space.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Encoded records, or centers.

        Returns
        -------
        records : ndarray of object, shape (n, columns of the features)
            Columns in the order of the schema; None for a missing value.
        """
        return self._checked().restore(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the encoded columns.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        names : ndarray of object
            Names such as ``age`` and ``city=A``.
        """
        return np.array(self._checked().space.names, dtype=object)

    def _checked(self) -> Schema:
        if not isinstance(self.schema, Schema):
            raise ParameterError(
                f"schema must be a Schema, got {type(self.schema).__name__}",
                parameter="schema",
                code="type",
                in_python="pass SchemaEncoder(Schema([...])), or Schema.load(path)",
            )
        self.schema.check_complete()
        return self.schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
