"""The public description of a table: its fields, the encoding that follows, and its file."""

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shoal import _numbers
from shoal._files import atomic_write
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.schema.columns import named_columns, raw_columns, refuse_missing_ids
from shoal.schema.descriptions import schema_html
from shoal.schema.fields import Field
from shoal.schema.keys import check_keys
from shoal.schema.space import EncodedSpace, Part
from shoal.schema.table_schema import (
    NO_SCHEMA,
    field_from_dict,
    field_to_dict,
    read_json,
    words_of,
)
from shoal.schema.values import Column

__all__ = ["Schema"]

USUAL_MISSING = ("",)


@dataclass(frozen=True)
class Schema:
    """Public description of a table: its columns, with the values that each may hold.

    Everything in a schema is public and becomes part of releases. Bounds and categories must be
    known without looking at the records (how old can a person be, which cities do we serve), or
    be learned at a cost in privacy (:func:`shoal.cluster.learn_schema`).

    Parameters
    ----------
    fields : sequence of Field
        Fields of the columns that are used (``Number``, ``Date``, ``Category``, ``Ordinal``,
        ``Flag``, ``Place``, ``Text`` or ``Field``); other columns are never read.
    missing_values : sequence of str, default=("",)
        Texts that mean missing in every field.
    title, description : str, default=""
        Texts for readers; the description should say where the bounds come from.
    seeded : bool, default=False
        Whether bounds or categories were learned from records with a seed. They show those records
        to anyone who knows it, so nothing that is made with the schema promises anything.

    Examples
    --------
    >>> from shoal.schema import Category, Number, Schema
    >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A", "B"])])
    >>> schema.encode({"age": [30, None], "city": ["B", "elsewhere"]}).round(2).tolist()
    [[0.25, 0.0, 0.0, 0.71, 0.0, 0.0], [0.5, 0.87, 0.0, 0.0, 0.71, 0.0]]
    >>> Schema.from_dict(schema.to_dict()) == schema
    True
    """

    fields: Sequence[Field]
    missing_values: Sequence[str] = USUAL_MISSING
    title: str = ""
    description: str = ""
    seeded: bool = False

    def __post_init__(self) -> None:
        """Check that fields are fields, and no column is in two."""
        _numbers.flag("seeded", self.seeded)
        fields = tuple(self.fields)
        if not fields or not all(isinstance(field, Field) for field in fields):
            raise ParameterError(
                "fields must be one or more fields such as Number or Category",
                parameter="fields",
                code="empty",
            )
        names = [field.name for field in fields]
        columns = [name for field in fields for name in field.columns]
        for each in (names, columns):
            twice = sorted({name for name in each if each.count(name) > 1})
            if twice:
                raise ParameterError(
                    f"fields must have different names, got {twice[0]!r} twice",
                    parameter="fields",
                    code="duplicate",
                )
        for role in ("user", "sample_weight"):
            several = [field.name for field in fields if field.role == role]
            if len(several) > 1:
                raise ParameterError(f"one field may have the role {role!r}, got {several}")
        words = self.missing_values
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise ParameterError(
                f"missing_values must be a list of text, got {words!r}",
                parameter="missing_values",
                code="type",
            )
        for word in words:
            _numbers.unicode_text("missing_values", word)
        _numbers.printable("title", self.title)
        _numbers.unicode_text("description", self.description)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "missing_values", tuple(words))

    @functools.cached_property
    def features(self) -> tuple[Field, ...]:
        """Fields that are used for clustering."""
        return tuple(field for field in self.fields if field.role == "feature")

    @property
    def described(self) -> tuple[Field, ...]:
        """Fields that a profile of clusters describes: those of role feature or describe."""
        return tuple(field for field in self.fields if field.role in ("feature", "describe"))

    @property
    def user(self) -> Field | None:
        """The field that identifies the user (person) of each row; None if there is none."""
        return self._with_role("user")

    @property
    def sample_weight(self) -> Field | None:
        """The field with the weight of each row; None if there is none."""
        return self._with_role("sample_weight")

    @functools.cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that hold the features."""
        return tuple(name for field in self.features for name in field.columns)

    @property
    def all_columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that hold all fields."""
        return tuple(name for field in self.fields for name in field.columns)

    @functools.cached_property
    def space(self) -> EncodedSpace:
        """The space of encoded records."""
        self.check_complete()
        parts: list[Part] = []
        names: list[str] = []
        for field in self.features:
            for shape in field.shapes:
                start = len(names)
                names.extend(shape.names)
                parts.append(Part(field.name, shape.kind, start, len(names), shape.width))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(
                f"fields must have names that differ when they are encoded, got {twice!r} twice",
                parameter="fields",
                code="duplicate",
            )
        return EncodedSpace(tuple(parts), tuple(names))

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def lacking(self) -> dict[str, str]:
        """Return what must still be declared for each field.

        Returns
        -------
        lacking : dict of str
            What each incomplete field needs, by name; empty if records can be encoded.

        Examples
        --------
        >>> from shoal.schema import Number, Schema
        >>> Schema([Number("age", minimum=0)]).lacking()
        {'age': 'a maximum'}
        """
        return {field.name: field.lacking for field in self.fields if field.lacking}

    def check_complete(self) -> None:
        """Raise an error if records cannot be encoded with this schema yet.

        Raises
        ------
        ParameterError
            If a field is incomplete, or no field is a feature.
        """
        if not self.features:
            raise ParameterError(
                "schema must have a field with the role 'feature', got none",
                parameter="schema",
                code="incomplete",
            )
        for name, lacking in self.lacking().items():
            if self[name].type == Field.type:  # nobody learns a type
                raise ParameterError(
                    f"field {name!r} of the schema must have {lacking}, known without the records: "
                    "declare it, or give the field the role 'ignore'",
                    parameter="schema",
                    code="incomplete",
                )
            raise ParameterError(
                f"field {name!r} of the schema must have {lacking}, known without the records",
                parameter="schema",
                code="incomplete",
                in_python="declare what anyone may enter, or learn it privately with "
                "shoal.cluster.learn_schema",
            )

    def read(self, X: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Parse fields of a table in memory; the result is as private as the records.

        Parameters
        ----------
        X : data frame, dict of columns, or rows in the order of the fields
            The table.
        names : sequence of str, default=None
            Names of the fields; None for the features.

        Returns
        -------
        values : dict of ndarray or list
            By field: numbers clipped to the bounds (NaN if missing), days since 1970, codes of
            levels, or text.

        Examples
        --------
        >>> from shoal.schema import Number, Schema
        >>> schema = Schema([Number("age", minimum=0, maximum=120)])
        >>> schema.read({"age": ["30", "", "150"]})["age"].tolist()
        [30.0, nan, 120.0]
        """
        fields = self.features if names is None else [self[name] for name in names]
        wanted = [name for field in fields for name in field.columns]
        # A row of the features alone does not hold what is no feature.
        whole = any(field.role != "feature" for field in fields)
        columns = named_columns(X, wanted, others=self.all_columns, whole=whole)
        return {field.name: self._read(field, columns) for field in fields}

    def read_users(self, X: Any) -> Any:
        """Return the user of each row, unchanged from the table; None without a user field.

        Parameters
        ----------
        X : data frame, dict of columns, or rows in the order of the fields
            The table.

        Returns
        -------
        ids : list, array or column
            One identifier for each row; none of them is missing.

        Raises
        ------
        DataError
            If an identifier is missing: such rows would all count as one user.

        Examples
        --------
        >>> from shoal.schema import Field, Number, Schema
        >>> schema = Schema([Number("age", minimum=0, maximum=120), Field("id", role="user")])
        >>> schema.read_users({"age": [30, 41], "id": ["a", "b"]})
        ['a', 'b']
        """
        field = self.user
        if field is None:
            return None
        ids = raw_columns(X, [field.name], others=self.all_columns, whole=True)[field.name]
        refuse_missing_ids(ids, field.name, (*self.missing_values, *field.missing_values))
        return ids

    def encode(self, X: Any) -> Floats:
        """Encode the features of a table in memory; the result is as private as the records.

        Parameters
        ----------
        X : data frame, dict of columns, or rows in the order of the fields
            The table; columns that are not features are ignored.

        Returns
        -------
        encoded : ndarray of float64, shape (n, space.columns)
            Encoded records; each row depends on its own record alone.
        """
        columns = named_columns(X, self.columns, others=self.all_columns)
        parts = self.encode_columns(columns)
        encoded = np.empty((len(parts[0]), len(parts)), order="F")
        for column, values in enumerate(parts):
            encoded[:, column] = values
        return encoded

    def encode_columns(self, columns: Mapping[str, Column]) -> list[Floats]:
        """Encode columns that are parsed already, one array for each encoded column.

        Parameters
        ----------
        columns : mapping of Column
            At least the columns of the features, as ``named_columns`` returns them.

        Returns
        -------
        encoded : list of ndarray of float64
            In the order of ``space.names``.
        """
        self.check_complete()
        encoded: list[Floats] = []
        for field in self.features:
            encoded.extend(field.encode(self._read(field, columns)))
        return encoded

    def decode(self, points: Any) -> dict[str, Any]:
        """Decode points of the encoded space, such as cluster centers, to the units of the table.

        Parameters
        ----------
        points : array-like of shape (n, space.columns)
            Points.

        Returns
        -------
        decoded : dict
            For each numeric feature, values in its unit and shares of missing values; for each
            categorical one, the share of every level at each point.

        Examples
        --------
        >>> from shoal.schema import Category, Number, Schema
        >>> schema = Schema([
        ...     Number("age", minimum=0, maximum=120, missing="refuse"),
        ...     Category("city", ["A"], missing="refuse"),
        ... ])
        >>> schema.decode(schema.encode({"age": [30], "city": ["A"]}))
        {'age': array([30.]), 'city': [{'A': 1.0, 'other': 0.0}]}
        """
        decoded: dict[str, Any] = {}
        for field, block in self.blocks(points):
            decoded |= field.decode(block)
        return decoded

    def restore(self, points: Any) -> npt.NDArray[np.object_]:
        """Return the record nearest to each point of the encoded space.

        Parameters
        ----------
        points : array-like of shape (n, space.columns)
            Points.

        Returns
        -------
        records : ndarray of object, shape (n, len(columns))
            Columns of the features as in a table; None for a missing value.

        Examples
        --------
        >>> from shoal.schema import Category, Number, Schema
        >>> schema = Schema([Number("age", minimum=0, maximum=120), Category("city", ["A"])])
        >>> schema.restore(schema.encode({"age": [30, None], "city": ["A", "B"]})).tolist()
        [[30.0, 'A'], [None, 'other']]
        """
        columns = [
            np.fromiter(values, dtype=object, count=len(values))
            for field, block in self.blocks(points)
            for values in field.restore(block)
        ]
        return np.stack(columns, axis=1)

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Self:
        """Return a template of a schema, made from the names of columns alone.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        schema : Schema
            A schema in which every field still needs a type.

        Examples
        --------
        >>> Schema.from_names(["age", "city"]).lacking()
        {'age': 'a type', 'city': 'a type'}
        """
        return cls([Field(name) for name in names])

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain data in the Table Schema format of Frictionless."""
        plain: dict[str, Any] = {"fields": [field_to_dict(field) for field in self.fields]}
        for key in ("title", "description"):
            if getattr(self, key):
                plain[key] = getattr(self, key)
        if tuple(self.missing_values) != USUAL_MISSING:
            plain["missingValues"] = list(self.missing_values)
        if self.seeded:
            plain["shoal"] = {"seeded": True}
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Return the schema that a Table Schema describes.

        Parameters
        ----------
        plain : dict
            A Table Schema of Frictionless, in which fields may have an additional ``shoal`` key.

        Returns
        -------
        schema : Schema
            The schema, which may still be incomplete.

        Raises
        ------
        ParameterError
            If a field has an unknown type, key or invalid value.
        """
        if not isinstance(plain, Mapping) or not isinstance(plain.get("fields"), list | tuple):
            raise ParameterError(NO_SCHEMA, parameter="schema", code="format")
        check_keys(plain, "schema", "the schema")
        ours = plain.get("shoal", {})
        if not isinstance(ours, Mapping):
            raise ParameterError(
                f"shoal of the schema must be an object, got {_numbers.shown(ours)}",
                parameter="shoal",
                code="type",
            )
        check_keys(ours, "the schema's shoal", "shoal of the schema", ("seeded",))
        return cls(
            [field_from_dict(field) for field in plain["fields"]],
            words_of("missingValues", plain, "the schema", USUAL_MISSING),
            title=plain.get("title", ""),
            description=plain.get("description", ""),
            **ours,
        )

    def to_bytes(self) -> bytes:
        """Return the content of the file that :meth:`save` writes.

        Returns
        -------
        content : bytes
            JSON text in UTF-8.

        Examples
        --------
        >>> from shoal.schema import Field, Schema
        >>> Schema([Field("id", role="user")]).to_bytes().splitlines()[2:4]
        [b'    {', b'      "name": "id",']
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        return text.encode("utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema to a JSON file, completely or not at all.

        Parameters
        ----------
        path : str or path-like
            Where to write; an existing file is replaced.
        """
        try:
            with atomic_write(Path(path)) as part:
                part.write_bytes(self.to_bytes())
        except OSError as failure:
            raise ParameterError(f"{path} cannot be written: {failure.strerror}") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a schema from a JSON file.

        Parameters
        ----------
        path : str or path-like
            A Table Schema of Frictionless.

        Returns
        -------
        schema : Schema
            Equal to the one that was saved.

        Raises
        ------
        ParameterError
            If the file cannot be read, or is not a schema.
        """
        return cls.from_dict(read_json(path))

    def blocks(self, points: Any) -> Iterator[tuple[Field, Floats]]:
        """Yield each feature with its columns of the points."""
        whole = np.asarray(points, dtype=np.float64)
        if whole.shape[1:] != (self.space.columns,):
            raise ParameterError(
                f"points must have the {self.space.columns} columns of the encoded space, got "
                f"shape {whole.shape}",
                parameter="points",
                code="columns",
            )
        start = 0
        for field in self.features:
            stop = start + sum(len(shape.names) for shape in field.shapes)
            yield field, whole[:, start:stop]
            start = stop

    def _repr_html_(self) -> str:
        return schema_html(self)

    def _read(self, field: Field, columns: Mapping[str, Column]) -> Any:
        return field.read(columns, self.missing_values)

    def _with_role(self, role: str) -> Field | None:
        return next((field for field in self.fields if field.role == role), None)
