"""Released values as plain JSON values and back, with nothing lost.

Arrays become ``{"__array__": type, "shape": [...], "data": [...]}`` and the three floats that JSON
lacks ``{"__float__": "nan" | "inf" | "-inf"}`` (inside arrays just the names).
"""

import math
import sys
from typing import Any

from shoal import _numbers
from shoal.exceptions import ReleaseError

__all__ = ["freeze", "from_plain", "same", "to_plain"]

_NAMED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# What an array may hold: bool, signed, unsigned, float and text, of the widths that JSON keeps.
_PYTHON_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str}
_DEEPEST = 32
_MAX_BYTES = 1 << 30  # of an array: no text of a few letters asks for more memory


def freeze(name: str, value: Any, depth: int = 0) -> Any:
    """Return a copy made of Python's own values and read-only arrays."""
    if depth > _DEEPEST:
        raise ReleaseError(f"{name} must not be nested deeper than {_DEEPEST} levels")
    if _is_array(value):
        return _freeze_array(name, value)
    value = _python_scalar(value)
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key.startswith("__"):
                raise ReleaseError(f"names in {name} must be strings without a leading __")
        return {key: freeze(f"{name}[{key!r}]", item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [freeze(name, item, depth + 1) for item in value]
    raise ReleaseError(
        f"{name} must be an array, number, string, list or dictionary, got {type(value).__name__}"
    )


def to_plain(value: Any) -> Any:
    """Return what JSON can hold of a frozen value."""
    if _is_array(value):
        data = value.ravel().tolist()
        if value.dtype.kind == "f":
            data = [number if math.isfinite(number) else _name(number) for number in data]
        return {"__array__": value.dtype.str, "shape": list(value.shape), "data": data}
    if isinstance(value, float) and not math.isfinite(value):
        return {"__float__": _name(value)}
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    return value


def from_plain(plain: Any) -> Any:
    """Return the value that :func:`to_plain` was given."""
    if isinstance(plain, list):
        return [from_plain(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "__array__" in plain:
        return _array_from_plain(plain)
    if "__float__" in plain:
        if set(plain) != {"__float__"} or plain["__float__"] not in tuple(_NAMED):
            raise ReleaseError(f"a float in the release is malformed: {_numbers.shown(plain)}")
        return _NAMED[plain["__float__"]]
    return {key: from_plain(item) for key, item in plain.items()}


def same(first: Any, second: Any) -> bool:
    """Return whether two frozen values are equal; NaN equals NaN."""
    if type(first) is not type(second):
        return False
    if _is_array(first):
        numbers = first.dtype.kind == "f"
        equal = sys.modules["numpy"].array_equal(first, second, equal_nan=numbers)
        return bool(first.dtype == second.dtype and equal)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    both_nan = isinstance(first, float) and math.isnan(first) and math.isnan(second)
    return bool(first == second or both_nan)


def _is_array(value: Any) -> bool:
    # Where numpy was never imported nothing can be an array.
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def _python_scalar(value: Any) -> Any:
    """Return a scalar of numpy, or of a subclass such as an enumeration, as one of Python."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, str):
        return str.__str__(value)
    return next((kind(value) for kind in (bool, int, float) if isinstance(value, kind)), value)


def _freeze_array(name: str, value: Any) -> Any:
    numpy = sys.modules["numpy"]
    # joblib loads large pickles as memory maps, which are plain arrays once copied.
    if type(value) not in (numpy.ndarray, numpy.memmap):
        # A masked array, for one, would lose its mask and show what it hides.
        raise ReleaseError(f"{name} must be a plain numpy array, got {type(value).__name__}")
    if value.dtype.kind not in _PYTHON_TYPES or (
        value.dtype.kind == "f" and value.dtype.itemsize > 8
    ):
        raise ReleaseError(
            f"{name} must hold numbers, booleans or text, got dtype {value.dtype}: convert it first"
        )
    frozen = numpy.array(value)
    frozen.flags.writeable = False
    return frozen


def _array_from_plain(plain: dict[str, Any]) -> Any:
    import numpy as np  # noqa: PLC0415 (a release without arrays needs no numpy)

    try:
        if set(plain) != {"__array__", "shape", "data"}:
            raise ValueError("its fields are not type, shape and data")
        dtype = np.dtype(plain["__array__"])
        if dtype.kind not in _PYTHON_TYPES or dtype.str != plain["__array__"]:
            raise ValueError(f"its type {_numbers.shown(plain['__array__'])} is not allowed")
        data, shape = plain["data"], plain["shape"]
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"its shape {_numbers.shown(shape)} is not one")
        if len(data) * dtype.itemsize > _MAX_BYTES:
            raise ValueError(f"its type {dtype} makes {len(data):,} values too large")
        if dtype.kind == "f":
            if not all(item in _NAMED for item in data if isinstance(item, str)):
                raise ValueError("its data are not of its type")
            data = [_NAMED[item] if isinstance(item, str) else item for item in data]
        if not all(type(item) is _PYTHON_TYPES[dtype.kind] for item in data):
            raise ValueError("its data are not of its type")
        array = np.array(data, dtype=dtype).reshape(shape)
        if dtype.kind != "f" and array.ravel().tolist() != data:
            raise ValueError("its data do not fit its type")
    except (ValueError, TypeError, KeyError, OverflowError) as failure:
        raise ReleaseError(f"an array in the release is malformed: {failure}") from None
    return array


def _name(number: float) -> str:
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
