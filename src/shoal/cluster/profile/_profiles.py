"""A released profile as objects: by cluster, by field, by level or quantile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shoal._typing import Floats
from shoal.cluster.profile._coding import MISSING

__all__ = ["Estimate", "FieldProfile", "Profile", "read_profiles"]

OVERALL = "overall"


class Estimate(NamedTuple):
    """A noisy value, and the interval that holds the exact one with 95% confidence.

    Parameters
    ----------
    value : float
        What is released.
    low, high : float
        Ends of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class FieldProfile:
    """One field in one cluster.

    Parameters
    ----------
    name : str
        Of the field.
    unit : str
        Of its numbers; dates are days since 1970.
    shares : mapping of Estimate
        By level; of numbers by bin.
    quantiles : mapping of Estimate
        By rank, 0.5 for the median; none of categories.
    """

    name: str
    unit: str
    shares: Mapping[str, Estimate] = field(repr=False)
    quantiles: Mapping[float, Estimate] = field(repr=False)

    def share(self, level: str) -> Estimate:
        """Return the share of a level."""
        return self.shares[level]

    @property
    def missing(self) -> Estimate:
        """Share of missing values; exactly 0 where there can be none."""
        return self.shares.get(MISSING, Estimate(0.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class Profile:
    """One cluster, or all records.

    Parameters
    ----------
    cluster : int or str
        Its label, or "overall".
    size : Estimate
        Number of records, or of people where each has one.
    fields : mapping of FieldProfile
        By name.
    keywords : mapping of mappings of Estimate
        Of each text field, by word: people who wrote it, in parts of the size.
    sentence : str
        What is clear of the noise; empty overall.
    """

    cluster: int | str
    size: Estimate
    fields: Mapping[str, FieldProfile] = field(repr=False)
    keywords: Mapping[str, Mapping[str, Estimate]] = field(repr=False)
    sentence: str


def read_profiles(values: Mapping[str, Any]) -> Mapping[int | str, Profile]:
    """Return the profiles that the values of a release hold."""
    profiles: dict[int | str, Profile] = {}
    names: list[int | str] = [*values["clusters"], OVERALL]
    sentences = [*values["sentences"], ""]
    for index, cluster in enumerate(names):
        fields = {one["name"]: _read_field(one, index) for one in values["fields"]}
        size = Estimate(*(float(values[f"sizes{end}"][index]) for end in ("", "_low", "_high")))
        words = {
            one["name"]: dict(zip(one["words"], _estimates(one, "shares", index), strict=True))
            for one in values["keywords"]
        }
        profiles[cluster] = Profile(cluster, size, fields, words, sentences[index])
    return profiles


def _read_field(values: Mapping[str, Any], index: int) -> FieldProfile:
    quantiles: dict[float, Estimate] = {}
    if "quantiles" in values:
        found = _estimates(values, "values", index)
        quantiles = dict(zip(values["quantiles"].tolist(), found, strict=True))
    shares = dict(zip(values["levels"], _estimates(values, "shares", index), strict=True))
    return FieldProfile(values["name"], values["unit"], shares, quantiles)


def _estimates(values: Mapping[str, Any], name: str, index: int) -> list[Estimate]:
    tables: list[Floats] = [values[f"{name}{end}"][index] for end in ("", "_low", "_high")]
    return [Estimate(*map(float, one)) for one in zip(*tables, strict=True)]
