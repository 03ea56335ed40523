"""Versions of shoal in the order of PEP 440; a device has no package that knows it."""

import re
from typing import NamedTuple

from shoal.exceptions import ParameterError

__all__ = ["Version", "parse_version"]

_FORM = re.compile(
    r"(?P<release>[0-9]+(\.[0-9]+)*)"
    r"((?P<stage>a|b|rc)(?P<stage_number>[0-9]+))?"
    r"(\.post(?P<post>[0-9]+))?"
    r"(\.dev(?P<dev>[0-9]+))?"
    r"(\+[a-z0-9]+([.][a-z0-9]+)*)?",
    re.ASCII,
)
_STAGES = {"a": 1, "b": 2, "rc": 3}
_FINAL = 4
_LAST = 1 << 62  # after every number that is counted


class Version(NamedTuple):
    """A version, in the order in which versions were made; compares as a tuple.

    Examples
    --------
    >>> versions = ["0.2.0", "0.2.0rc1", "0.10", "0.2.0.dev3", "0.2.0.post1", "0.2.0a2.dev1"]
    >>> sorted(versions, key=parse_version)
    ['0.2.0.dev3', '0.2.0a2.dev1', '0.2.0rc1', '0.2.0', '0.2.0.post1', '0.10']
    """

    release: tuple[int, ...]
    stage: tuple[int, int]
    post: int
    dev: int

    @property
    def earliest(self) -> "Version":
        """The first version that led to this one: of a final one its first development version."""
        final = self.stage[0] == _FINAL and self.post < 0
        return self._replace(stage=(0, 0), dev=0) if final else self


def parse_version(text: str) -> Version:
    """Return a version that can be compared; what stands after ``+`` decides nothing."""
    form = _FORM.fullmatch(text) if isinstance(text, str) else None
    if form is None:
        raise ParameterError(
            f"version must be written as 1.2.3, 1.2.3rc1 or 1.2.3.dev4, got {text!r}",
            parameter="version",
            code="text",
        )
    numbers = [int(part) for part in form["release"].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()  # 1.0 and 1.0.0 are the same
    stage = (_STAGES[form["stage"]], int(form["stage_number"])) if form["stage"] else (_FINAL, 0)
    if form["stage"] is None and form["post"] is None and form["dev"] is not None:
        stage = (0, 0)  # before the first alpha version
    return Version(
        tuple(numbers),
        stage,
        -1 if form["post"] is None else int(form["post"]),
        _LAST if form["dev"] is None else int(form["dev"]),
    )
