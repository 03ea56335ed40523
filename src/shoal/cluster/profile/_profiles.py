"""A released profile as objects: by cluster, by field, by level or quantile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shoal._typing import Floats
from shoal.cluster.profile._coding import MISSING

__all__ = ["Estimate", "FieldProfile", "Profile", "read_profiles"]

OVERALL = "overall"


class Estimate(NamedTuple):
    """A noisy value and the 95% confidence interval of the exact one.

    Parameters
    ----------
    value : float
        The noisy value.
    low, high : float
        Ends of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class FieldProfile:
    """The noisy distribution of one field in one cluster.

    Parameters
    ----------
    name : str
        Name of the field.
    unit : str
        Unit of its numbers; dates are days since 1970.
    shares : mapping of Estimate
        Fraction of records at each category, or in each bin of a number.
    quantiles : mapping of Estimate
        Quantiles by rank (0.5 is the median); categories have none.
    """

    name: str
    unit: str
    shares: Mapping[str, Estimate] = field(repr=False)
    quantiles: Mapping[float, Estimate] = field(repr=False)

    def share(self, level: str) -> Estimate:
        """Return the share of a category or bin."""
        return self.shares[level]

    @property
    def missing(self) -> Estimate:
        """Share of missing values; exactly 0 if the field cannot have any."""
        return self.shares.get(MISSING, Estimate(0.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class Profile:
    """The profile of one cluster, or of all records.

    Parameters
    ----------
    cluster : int or str
        Label of the cluster, or "overall".
    size : Estimate
        Number of records, or of people if each has one record.
    fields : mapping of FieldProfile
        Profile of each field, by name.
    keywords : mapping of mappings of Estimate
        For each text field and word: the number of people who wrote it, as a fraction of the size.
    sentence : str
        What distinguishes the cluster beyond the noise; empty for "overall".
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
