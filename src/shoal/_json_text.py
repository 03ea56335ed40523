"""JSON as others send it, read strictly: what two readers could take differently is refused."""

import json
from typing import Any, NoReturn

__all__ = ["read_json"]


def read_json(text: str) -> Any:
    """Return what JSON text holds.

    Parameters
    ----------
    text : str
        Without NaN and infinities, and with each name of an object once.

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
    """
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_doubles)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        raise ValueError("a name occurs twice")
    return plain
