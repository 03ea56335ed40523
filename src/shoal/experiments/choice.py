"""A mechanism or clusterer of an experiment: its name and its parameters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

import numpy as np

from shoal.exceptions import ParameterError

__all__ = ["Choice", "check_name"]

# A cell's key is taken apart at bars, a choice in it at parentheses.
APART = re.compile(r"[|()]")


@dataclass(frozen=True, init=False)
class Choice:
    """A name with parameters, as text and numbers: equal choices are written alike.

    What the name stands for is decided by whoever works on the cells
    (:func:`shoal.experiments.build_target` does it for those of shoal).

    Parameters
    ----------
    name : str
        Name of the mechanism or clusterer.
    **words : str, bool, int, float, or list of these
        Its parameters; lists become tuples.

    Attributes
    ----------
    pairs : tuple of (str, value)
        Parameters by name, in alphabetical order.

    Examples
    --------
    >>> choice = Choice("DPKMeans", n_clusters=3, method="lloyd")
    >>> print(choice)
    DPKMeans(method='lloyd', n_clusters=3)
    >>> choice.words
    {'method': 'lloyd', 'n_clusters': 3}
    """

    name: str
    pairs: tuple[tuple[str, Any], ...]

    def __init__(self, name: str, /, **words: Any) -> None:
        check_name("name", name)
        if APART.search(name):
            raise ParameterError(f"name must be without | and parentheses, got {short(name)}")
        for word in words:
            if word == "name" or not word.isidentifier():
                raise ParameterError(
                    f"parameters of {name} must have Python names other than name, got {word!r}"
                )
        pairs = tuple((word, _frozen(f"{name}.{word}", words[word])) for word in sorted(words))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "pairs", pairs)

    def __str__(self) -> str:
        if not self.pairs:
            return self.name
        return f"{self.name}({', '.join(f'{word}={value!r}' for word, value in self.pairs)})"

    @property
    def words(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(self.pairs)

    @classmethod
    def parse(cls, key: str, value: Any) -> "Choice":
        """Take a choice, a name alone, or a table with a name, as in a TOML file.

        Parameters
        ----------
        key : str
            What it is called in messages.
        value : Choice, str or mapping
            For instance ``{"name": "KMeans", "n_clusters": 3}``.

        Returns
        -------
        choice : Choice
            Checked.
        """
        if isinstance(value, Choice):
            return value
        words = {"name": value} if isinstance(value, str) else value
        if not isinstance(words, Mapping) or "name" not in words:
            raise ParameterError(
                f"{key} must be names, or tables that have a name, got {short(value)}"
            )
        try:
            return cls(words["name"], **{word: words[word] for word in words if word != "name"})
        except ParameterError as error:
            raise ParameterError(f"{key}: {error}") from None


def check_name(key: str, value: Any) -> str:
    """Return a name that can be part of a cell's key: text on one line, without bars.

    Parameters
    ----------
    key : str
        What it is called in messages.
    value : object
        The name.

    Returns
    -------
    name : str
        The same.
    """
    good = isinstance(value, str) and value.isprintable() and value == value.strip() != ""
    if not good or "|" in value:
        raise ParameterError(f"{key} must be text on one line without |, got {short(value)}")
    return str(value)


def _frozen(key: str, value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_frozen(key, item) for item in value)
    if isinstance(value, str) and not value.isprintable():
        raise ParameterError(f"{key} must be text on one line, got {short(value)}")
    if not isinstance(value, str | bool | int | float):
        raise ParameterError(
            f"{key} must be text, a number, true, false, or a list of these, got {short(value)}"
        )
    return value
