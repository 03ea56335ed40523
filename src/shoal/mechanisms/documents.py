"""A mechanism as a public document: all that a server needs to read reports, and nothing secret.

It holds the parameters, the columns of the records and the promise. A key, a seed or a ledger is
not in it; that reports came from a seed is, since then nothing is promised. Nor is any sentence of
ours: documents are compared and digested, and a sentence may be improved.
"""

import copy
import importlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import _numbers
from shoal._bounds import given_bounds, public_box
from shoal._files import atomic_write
from shoal._records import fitted_names
from shoal._registry import METHODS
from shoal.exceptions import ParameterError, ReleaseError, ShoalError
from shoal.partitions import Partitions
from shoal.privacy import Guarantee
from shoal.schema import Schema

if TYPE_CHECKING:
    from shoal.mechanisms._base import Mechanism

__all__ = [
    "document_beside",
    "load_mechanism",
    "mechanism_from_dict",
    "mechanism_to_dict",
    "promise_to_dict",
    "save_beside",
    "save_mechanism",
]

VERSION = 1
FIELDS = {
    "schema_version",
    "mechanism",
    "parameters",
    "columns",
    "names",
    "guarantee",
}
PRIVATE = ("ledger", "random_state")  # of the device
MADE_FROM: dict[str, Any] = {"schema": Schema, "partitions": Partitions}
PLAIN = (bool, int, float, str, type(None))
PACKAGE = "shoal.mechanisms"
ENDING = ".mechanism.json"
KINDS = {
    method.class_name
    for method in METHODS
    if method.location.startswith(f"{PACKAGE}:") and method.class_name != "KdLaplace"
}
MAX_COLUMNS = 2**16  # arbitrary: far more than a person is asked for
UNSAID = "the reports were drawn with parameters that have no guarantee in common"
RULE = "a mechanism's document must be a JSON file that shoal wrote"


def load_mechanism(source: "str | os.PathLike[str] | Mapping[str, Any]") -> "Mechanism":
    """Load the public description of a mechanism, to read its reports on a server.

    Parameters
    ----------
    source : path-like, or mapping
        A file that ``save`` or ``shoal perturb`` wrote, or what ``to_dict`` returned.

    Returns
    -------
    mechanism : Mechanism
        With the same parameters, columns and guarantee, and without a ledger.

    Raises
    ------
    ParameterError
        If the source does not describe a mechanism.

    Examples
    --------
    >>> from shoal.mechanisms import PartitionResponse, load_mechanism
    >>> device = PartitionResponse(2.0, bounds=(0.0, 1.0), n_clusters=3).fit([[0.5, 0.5]])
    >>> server = load_mechanism(device.to_dict())
    >>> server.partitions_ == device.partitions_, server.epsilon
    (True, 2.0)
    """
    if isinstance(source, Mapping):
        return mechanism_from_dict(source)
    try:
        plain = json.loads(Path(source).read_text(encoding="utf-8"))
    except OSError as failure:
        raise ParameterError(f"{RULE}, got {str(source)!r}: {failure.strerror}") from None
    except (TypeError, ValueError, RecursionError):  # also no path
        raise ParameterError(f"{RULE}, got {_numbers.shown(source)} with something else") from None
    return mechanism_from_dict(plain)


def save_mechanism(mechanism: "Mechanism", path: "str | os.PathLike[str]") -> None:
    """Write the document of a mechanism to a file, whole or not at all."""
    target = Path(path)
    text = json.dumps(mechanism.to_dict(), allow_nan=False, indent=2, ensure_ascii=False) + "\n"
    try:
        with atomic_write(target) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as failure:
        raise ReleaseError(f"{target} cannot be written: {failure.strerror}") from failure


def document_beside(reports: "str | os.PathLike[str]") -> Path:
    """Return the path of the file that describes the mechanism of given reports.

    Parameters
    ----------
    reports : path-like
        A file or a folder of reports.

    Returns
    -------
    path : Path
        In the same folder and with the same name, plus an ending.

    Examples
    --------
    >>> from shoal.mechanisms import document_beside
    >>> document_beside("out/reports.csv").name
    'reports.csv.mechanism.json'
    """
    path = Path(reports)
    return path.with_name(f"{path.resolve().name}{ENDING}")


def save_beside(
    mechanism: "Mechanism", reports: "str | os.PathLike[str]", names: Sequence[str]
) -> Path:
    """Write the public description of a mechanism beside its reports.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that made the reports.
    reports : path-like
        File or folder of the reports.
    names : sequence of str
        Names of the columns of the records; used if there is no schema.

    Returns
    -------
    path : Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from shoal.mechanisms import Laplace, load_mechanism, save_beside
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = save_beside(Laplace(2.0, bounds=(0.0, 1.0)), f"{folder.name}/r.csv", ["x", "y"])
    >>> load_mechanism(path).n_features_in_
    2
    >>> folder.cleanup()
    """
    named = copy.copy(mechanism)
    if mechanism.schema is None:
        # Those of lists and arrays too, as the reports have them.
        _note_columns(named, len(names), list(names))
    path = document_beside(reports)
    save_mechanism(mechanism_from_dict(named.to_dict()), path)
    return path


def mechanism_to_dict(mechanism: "Mechanism", parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mechanism with these parameters as plain values that JSON can hold."""
    names = fitted_names(mechanism)
    public = {name: value for name, value in parameters.items() if name not in PRIVATE}
    if isinstance(public.get("bounds"), Mapping):
        public["bounds"] = given_bounds(mechanism)
    return {
        "schema_version": VERSION,
        "mechanism": type(mechanism).__name__,
        "parameters": {name: _plain(name, value) for name, value in public.items()},
        "columns": getattr(mechanism, "n_features_in_", len(names) if names else None),
        "names": names,
        "guarantee": promise_to_dict(mechanism.guarantee_),
    }


def promise_to_dict(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as plain values, without its reason, which is a sentence of ours."""
    plain = guarantee.to_dict()
    del plain["reason"]
    return plain


def _promise_from_dict(plain: Any) -> Guarantee:
    """Return the guarantee of a document; its reason is that of the parameters."""
    if not isinstance(plain, Mapping) or "reason" in plain:
        raise ParameterError("a guarantee in a document must have its numbers and no reason")
    return Guarantee.from_dict({**plain, "reason": UNSAID if plain.get("notion") == "none" else ""})


def mechanism_from_dict(plain: Any) -> "Mechanism":
    """Rebuild a mechanism from its document, strictly."""
    if not isinstance(plain, Mapping) or set(plain) != FIELDS:
        raise ParameterError(f"{RULE}, with the fields {', '.join(sorted(FIELDS))} and no other")
    if plain["schema_version"] != VERSION or isinstance(plain["schema_version"], bool):
        raise ParameterError(
            f"schema_version must be {VERSION}, got {_numbers.shown(plain['schema_version'])}: "
            "read it with the version of shoal that wrote it",
            parameter="schema_version",
            code="format",
        )
    kind = plain["mechanism"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ParameterError(
            f"mechanism must be one of shoal, got {_numbers.shown(kind)} in its document",
            parameter="mechanism",
            code="choice",
        )
    try:
        mechanism = _with_parameters(kind, plain["parameters"])
        _note_columns(mechanism, plain["columns"], plain["names"])
        _check_parameters(mechanism)
        drawn = _promise_from_dict(plain["guarantee"])
    except ShoalError as failure:
        raise ParameterError(
            f"the document of {kind} is broken: {failure}",
            parameter=failure.parameter,
            code=failure.code,
        ) from None
    # What was handed out decides: the document cannot make it better than the parameters say.
    mechanism._drew_seeded, mechanism._drawn = drawn.seeded, replace(drawn, seeded=False)
    return mechanism


def _with_parameters(kind: str, given: Any) -> "Mechanism":
    """Return a mechanism that stores the parameters of a document."""
    known = getattr(importlib.import_module(PACKAGE), kind)
    names = set(given) if isinstance(given, Mapping) else {""}
    if not names <= set(known().get_params(deep=False)):
        raise ParameterError(
            f"parameters must be those of {kind}, got others: read it with the version of shoal "
            "that wrote it",
            parameter="parameters",
            code="format",
        )
    for name in PRIVATE:
        if name in names:  # a seed would let its author take the noise off
            raise ParameterError(
                f"parameters must leave {name} to the device, got it",
                parameter="parameters",
                code="format",
            )
    mechanism: Mechanism = known(**{name: _made(name, value) for name, value in given.items()})
    return mechanism


def _check_parameters(mechanism: "Mechanism") -> None:
    """Refuse parameters that would fail where the mechanism is used, as far as columns are known.

    Without columns, as of two numbers as bounds, the rest is checked with the first records.
    """
    mechanism._check_epsilon()
    mechanism._promise()
    try:
        columns = mechanism._known_columns()
    except AttributeError:  # as scikit-learn says that something is not fitted
        if mechanism.bounds is not None:
            public_box(mechanism.bounds, 1)
    else:
        noted = getattr(mechanism, "n_features_in_", columns)
        mechanism._check(columns if mechanism.schema is not None else noted)


def _note_columns(mechanism: "Mechanism", columns: Any, names: Any) -> None:
    """Set what ``fit`` would have noted."""
    if columns is None:
        return
    if _numbers.count("columns", columns) > MAX_COLUMNS:
        raise ParameterError(
            f"columns must be at most {MAX_COLUMNS}, got {columns}",
            parameter="columns",
            code="size",
        )
    if mechanism.schema is not None and columns != len(mechanism.schema.columns):
        raise ParameterError(
            f"columns must be the {len(mechanism.schema.columns)} of the schema, got {columns}",
            parameter="columns",
            code="columns",
        )
    if names is not None:
        if not isinstance(names, list) or len(names) != columns:
            raise ParameterError(
                f"names must be one for each of {columns} columns, got another",
                parameter="names",
                code="shape",
            )
        for name in names:
            _numbers.printable("names", name)
        mechanism.feature_names_in_ = np.array(names, dtype=object)
    mechanism.n_features_in_ = columns


def _plain(name: str, value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if name == "bounds" and value is not None:
        return [np.asarray(corner, dtype=np.float64).tolist() for corner in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, PLAIN):
        raise ParameterError(
            f"{name} must be a plain value for a document, got {type(value).__name__}",
            parameter=name,
            code="type",
        )
    return plain


def _made(name: str, value: Any) -> Any:
    if name in MADE_FROM and value is not None:
        return MADE_FROM[name].from_dict(value)
    return tuple(value) if name == "bounds" and isinstance(value, list) else value
