"""JSON as others send it, read strictly: what two readers could take differently is refused."""

import json
import math
from typing import Any, NoReturn

__all__ = ["read_json"]


def read_json(text: str) -> Any:
    """Return what JSON text holds.

    Parameters
    ----------
    text : str
        Without NaN, infinities and numbers beyond a double, such as 1e400; each name of an object
        occurs once.

    Returns
    -------
    plain : object
        Dictionaries, lists, strings, numbers, True, False and None.

    Raises
    ------
    ValueError
        If it is something else.
    RecursionError
        If it is nested too deep.

    Examples
    --------
    >>> read_json('{"reports": [1.5]}')
    {'reports': [1.5]}
    >>> read_json('{"epsilon": 1, "epsilon": 50}')
    Traceback (most recent call last):
    ValueError: a name occurs twice
    >>> read_json('{"epsilon": 1e400}')
    Traceback (most recent call last):
    ValueError: 1e400 is beyond a double
    """
    return json.loads(
        text,
        parse_constant=_refuse_constant,
        parse_float=_finite,
        object_pairs_hook=_without_doubles,
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is beyond a double")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        raise ValueError("a name occurs twice")
    return plain
