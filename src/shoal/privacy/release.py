"""What leaves the curator: released values, their promise, and what produced them.

A release is written as JSON that keeps every number: floats in their shortest exact form, arrays
with their type and shape, and infinities and NaN, which JSON lacks, by name.
"""

from __future__ import annotations

import functools
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from shoal import __version__, _html
from shoal._files import atomic_write
from shoal._json_text import read_json
from shoal.exceptions import ParameterError, ReleaseError
from shoal.privacy._plain import freeze, from_plain, same, to_plain
from shoal.privacy.entries import Receipt
from shoal.privacy.guarantee import Guarantee

__all__ = ["Release", "current_versions"]

_PACKAGES = ("numpy", "scikit-learn")
_SCHEMA_VERSION = 3
_FIELDS = {
    "schema_version",
    "kind",
    "values",
    "guarantee",
    "guarantee_text",
    "versions",
    "ledger",
}


def current_versions() -> dict[str, str]:
    """Return the versions of the software that a release made now depends on.

    Returns
    -------
    versions : dict of str
        Versions of shoal, numpy, scikit-learn and Python, as far as they are installed: a device
        has no scikit-learn.

    Examples
    --------
    >>> sorted(current_versions())
    ['numpy', 'python', 'scikit-learn', 'shoal']
    """
    versions = {"shoal": __version__} | {package: _version(package) for package in _PACKAGES}
    installed = {package: version for package, version in versions.items() if version}
    return {**installed, "python": platform.python_version()}


@functools.cache  # reading the metadata of a package takes a millisecond
def _version(package: str) -> str:
    from importlib import metadata  # noqa: PLC0415 - a release is read without it

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@dataclass(frozen=True, eq=False)
class Release:
    """Released values with their privacy guarantee: the only thing meant to leave the curator.

    Parameters
    ----------
    kind : str
        Name of the estimator or function that made it, for example ``"DPKMeans"``.
    values : mapping
        The released values by name: numpy arrays, numbers, strings, None, and lists or dictionaries
        of these. Arrays are copied and made read-only.
    guarantee : Guarantee
        The guarantee that covers all values together.
    versions : mapping, optional
        Versions of the software; by default those of this process.
    schema_version : int, default=3
        Version of the file format.
    ledger : Receipt, optional
        Receipt of the ledger that was charged: its number of entries and its hash, which show
        whether that ledger was rolled back later.

    Examples
    --------
    >>> release = Release("counts", {"k": 2}, Guarantee("central", epsilon=1.0))
    >>> Release.from_json(release.to_json()) == release
    True
    """

    kind: str
    values: Mapping[str, Any]
    guarantee: Guarantee
    versions: Mapping[str, str] = field(default_factory=current_versions)
    schema_version: int = _SCHEMA_VERSION
    ledger: Receipt | None = None

    def __post_init__(self) -> None:
        """Check the fields, and freeze the values."""
        if not isinstance(self.kind, str) or not self.kind:
            raise ReleaseError(f"kind must be a name, got {self.kind!r}")
        if not isinstance(self.guarantee, Guarantee):
            raise ReleaseError(f"guarantee must be a Guarantee, got {self.guarantee!r}")
        if isinstance(self.schema_version, bool) or self.schema_version != _SCHEMA_VERSION:
            raise ReleaseError(
                f"schema_version must be {_SCHEMA_VERSION}, got {self.schema_version!r}: read it "
                "with the version of shoal that wrote it"
            )
        if not isinstance(self.values, Mapping) or not isinstance(self.versions, Mapping):
            raise ReleaseError("values and versions must be mappings")
        if not all(isinstance(text, str) for item in self.versions.items() for text in item):
            raise ReleaseError("versions must map names to strings")
        if not (self.ledger is None or isinstance(self.ledger, Receipt)):
            raise ReleaseError(f"ledger must be a Receipt or None, got {self.ledger!r}")
        object.__setattr__(self, "values", MappingProxyType(freeze("values", dict(self.values))))
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))

    def to_json(self) -> str:
        """Return the release as JSON text, with the guarantee as a sentence too."""
        plain = {
            "schema_version": self.schema_version,
            "kind": self.kind,
            "guarantee_text": str(self.guarantee),
            "guarantee": self.guarantee.to_dict(),
            "versions": dict(self.versions),
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
            "values": to_plain(dict(self.values)),
        }
        return json.dumps(plain, allow_nan=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild a release from :meth:`to_json`; missing and unknown fields are refused.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        release : Release
            A release equal to the one that was written.

        Raises
        ------
        ReleaseError
            If the text is not a release of a known version with exactly its fields.
        """
        try:
            plain = read_json(text)
        except (ValueError, TypeError, RecursionError) as failure:
            raise ReleaseError(f"a release must be JSON text: {failure}") from None
        if not isinstance(plain, dict):
            raise ReleaseError("a release must be a JSON object")
        if not _FIELDS & set(plain):
            raise ReleaseError("a release must have been written by shoal, got another JSON file")
        version = plain.get("schema_version")
        if isinstance(version, bool) or version != _SCHEMA_VERSION:
            raise ReleaseError(
                f"schema_version must be {_SCHEMA_VERSION}, got {version!r}: read it with the "
                "version of shoal that wrote it"
            )
        if set(plain) != _FIELDS:
            odd = sorted(_FIELDS.symmetric_difference(plain))
            raise ReleaseError(f"a release must have the fields {sorted(_FIELDS)}, check {odd}")
        try:
            guarantee = Guarantee.from_dict(plain["guarantee"])
            ledger = None if plain["ledger"] is None else Receipt.from_dict(plain["ledger"])
        except ParameterError as failure:
            raise ReleaseError(f"the promise of the release is broken: {failure}") from None
        try:
            values = from_plain(plain["values"])
            return cls(plain["kind"], values, guarantee, plain["versions"], ledger=ledger)
        except RecursionError:
            raise ReleaseError("values must not be nested so deep: write them flatter") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release to a file; if that fails, no partial file is left.

        Parameters
        ----------
        path : str or path-like
            File to write; an existing one is replaced.
        """
        target = Path(path)
        text = self.to_json()
        try:
            with atomic_write(target) as part:
                part.write_text(text, encoding="utf-8")
        except OSError as failure:
            raise ReleaseError(f"{target} cannot be written: {failure.strerror}") from failure

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a release from a file.

        Parameters
        ----------
        path : str or path-like
            File that :meth:`save` wrote.

        Returns
        -------
        release : Release
            A release equal to the one that was saved.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as failure:
            raise ReleaseError(f"{path} cannot be read: {failure}") from failure
        return cls.from_json(text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.guarantee == other.guarantee
            and self.ledger == other.ledger
            and dict(self.versions) == dict(other.versions)
            and same(dict(self.values), dict(other.values))
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only views of the mappings cannot be pickled themselves.
        fields = (self.kind, dict(self.values), self.guarantee, dict(self.versions))
        return type(self), (*fields, self.schema_version, self.ledger)

    def __str__(self) -> str:
        paid = "" if self.ledger is None else f"; ledger: {self.ledger}"
        return f"release of {self.kind} ({', '.join(self.values)}): {self.guarantee}{paid}"

    def _repr_html_(self) -> str:
        held = _html.paragraph(", ".join(self.values), strong=f"Release of {self.kind}")
        promise = _html.promise(str(self.guarantee), holds=self.guarantee.holds)
        paid = "" if self.ledger is None else _html.paragraph(str(self.ledger), strong="Ledger")
        return _html.block(held, promise, paid)
