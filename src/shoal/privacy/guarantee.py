"""A privacy promise: what it says, when it holds, and what it is worth in other terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Self

from shoal import _html, _numbers
from shoal._numbers import rounded_up
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy import conversions
from shoal.privacy._guarantee_text import guarantee_text
from shoal.privacy.distance_units import parse_unit
from shoal.privacy.gaussian_conversions import gdp_to_epsilon, pure_to_gdp
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit, group_size

__all__ = ["Guarantee", "Notion"]

#: The notions of a :class:`Guarantee`: who is protected from whom.
Notion = Literal["central", "local", "metric", "shuffled", "none"]

_NOTIONS = ("central", "local", "metric", "shuffled", "none")
# Fields that only promises of one notion have, and their documents.
_OWN: dict[str, tuple[str, ...]] = {
    "metric": ("slack",),
    "shuffled": ("local_epsilon", "n_reports"),
}
_SHOWN = "uncounted"  # no part of the promise: no document has it


@dataclass(frozen=True)
class Guarantee:
    """A privacy guarantee with all its parameters; prints as one plain sentence.

    It covers what was done to the table passed to ``fit`` (or to the record passed to a mechanism),
    but not what was computed from the records before: see :func:`shoal.audit.check_pipeline`.

    Parameters
    ----------
    notion : {"central", "local", "metric", "shuffled", "none"}
        Who is protected from whom. ``"central"``: records that a trusted curator holds, from the
        readers of a release. ``"local"``: the value of one record, from everybody else; that the
        person takes part is public. ``"metric"``: as local, but the further apart two records are,
        the weaker (geo-indistinguishability). ``"shuffled"``: one record, from those who see a
        batch of reports after a shuffler (:func:`amplify`). ``"none"``: no guarantee.
    epsilon : float
        Bound on the privacy loss, >= 0; per unit of distance for ``"metric"``; ignored for
        ``"none"``.
    delta : float, default=0.0
        The delta of approximate differential privacy, in [0, 1); 0 is a pure guarantee.
    adjacency : Adjacency, default=Adjacency.ADD_REMOVE
        Which tables count as neighbors. A local guarantee holds for any two values of a record,
        whatever is given here; a shuffled one is about substitution.
    unit : str, default=""
        Unit of distance of a metric guarantee, such as ``"km"`` or ``"80 m"``.
    reason : str, default=""
        Why there is no guarantee; required for ``"none"``.
    seeded : bool, default=False
        Whether the noise came from a seed, so that it can be repeated: the guarantee then does not
        hold.
    mu : float or None, default=None
        The parameter of Gaussian differential privacy (GDP) that holds as well, if known.
    privacy_unit : PrivacyUnit, default=PrivacyUnit()
        What is protected: a single record, or a user with all of their rows.
    local_epsilon : float or None, default=None
        Only for ``"shuffled"``: the local epsilon that holds without the shuffler.
    n_reports : int or None, default=None
        Only for ``"shuffled"``: the smallest number of honest reports in a batch.
    slack : float, default=0.0
        Only for ``"metric"``: what is added to ``epsilon`` times the distance, however near two
        records are; the cost of rounding them to a lattice.
    uncounted : bool, default=False
        Whether no ledger was charged for what it covers. It is shown by ``repr`` alone: it changes
        nothing of the promise, and guarantees that differ in it are equal.

    Examples
    --------
    >>> print(Guarantee("central", epsilon=1.0))  # doctest: +NORMALIZE_WHITESPACE
    central differential privacy with epsilon = 1 (add/remove): adding or removing any one record
    of the table given to fit changes the probability of any release by a factor of at most
    e^1 = 2.72
    >>> Guarantee("metric", epsilon=0.5, unit="km").to_local(diameter=4.0).epsilon
    2.0
    >>> print(Guarantee("metric", 0.5, unit="km", slack=0.0003))  # doctest: +NORMALIZE_WHITESPACE
    metric privacy with epsilon = 0.5 per km: exchanging a record given to the mechanism for one at
    a distance of r km changes the probability of any report by a factor of at most
    e^(0.5 r + 0.0003)
    """

    notion: Notion
    epsilon: float
    delta: float = 0.0
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    unit: str = ""
    reason: str = ""
    seeded: bool = False
    privacy_unit: PrivacyUnit = RECORD
    mu: float | None = None
    local_epsilon: float | None = None
    n_reports: int | None = None
    slack: float = 0.0
    uncounted: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Check every field; a promise that is malformed must not exist."""
        _numbers.choice("notion", self.notion, _NOTIONS)
        _numbers.instance("adjacency", self.adjacency, Adjacency)
        _numbers.flag("seeded", self.seeded)
        _numbers.instance("privacy_unit", self.privacy_unit, PrivacyUnit)
        parse_unit(self.unit)
        _numbers.printable("reason", self.reason)
        if self.notion == "none":
            if not self.reason:
                raise ParameterError(
                    'reason must say why there is no promise, got ""',
                    parameter="reason",
                    code="missing",
                )
            checked = {"epsilon": math.inf, "delta": 0.0, "mu": None}
        else:
            checked = {
                "epsilon": _numbers.non_negative("epsilon", self.epsilon),
                "delta": _numbers.probability("delta", self.delta),
                "mu": None if self.mu is None else _numbers.non_negative("mu", self.mu),
            }
        if self.notion == "metric" and (self.delta or self.mu is not None):
            raise ParameterError(
                "delta must be 0 and mu None for a metric promise",
                parameter="delta",
                code="conflict",
            )
        checked["slack"] = _numbers.non_negative("slack", self.slack)
        if self.notion != "metric" and self.slack:
            raise ParameterError(
                f"slack must be 0 unless the notion is 'metric', got {self.slack!r}",
                parameter="slack",
                code="conflict",
            )
        checked |= self._checked_batch()
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _checked_batch(self) -> dict[str, Any]:
        """Return the checked fields of a shuffled promise, which no other has."""
        if self.notion != "shuffled":
            if self.local_epsilon is not None or self.n_reports is not None:
                raise ParameterError(
                    "local_epsilon and n_reports must be None unless the notion is 'shuffled', "
                    f"got {self.local_epsilon!r} and {self.n_reports!r}"
                )
            return {}
        if self.mu is not None:
            raise ParameterError("mu must be None for a shuffled promise")
        if self.adjacency is not Adjacency.SUBSTITUTE:
            raise ParameterError(
                "adjacency must be substitution for a shuffled promise, which says nothing about "
                f"adding a report, got {self.adjacency.value!r}",
                parameter="adjacency",
                code="conflict",
                in_python="pass Adjacency.SUBSTITUTE",
            )
        local_epsilon = _numbers.non_negative("local_epsilon", self.local_epsilon)
        if local_epsilon < self.epsilon:
            raise ParameterError(
                f"local_epsilon must be at least epsilon = {self.epsilon!r}, got "
                f"{self.local_epsilon!r}: a shuffler takes nothing away",
                parameter="local_epsilon",
                code="range",
            )
        return {
            "local_epsilon": local_epsilon,
            "n_reports": _numbers.count("n_reports", self.n_reports),
        }

    @classmethod
    def none(cls, reason: str) -> Self:
        """Return a guarantee that says that there is none, and why.

        Parameters
        ----------
        reason : str
            Why nothing is guaranteed.

        Returns
        -------
        guarantee : Guarantee
            A guarantee of notion ``"none"``.

        Examples
        --------
        >>> print(Guarantee.none("as published: the grid is taken from the records"))
        no privacy guarantee: as published: the grid is taken from the records
        """
        return cls("none", math.inf, reason=reason)

    @property
    def holds(self) -> bool:
        """Whether there is a guarantee: its notion is not ``"none"`` and the noise had no seed."""
        return self.notion != "none" and not self.seeded

    def to_local(self, diameter: float | None = None) -> Self:
        """Return the local guarantee that a metric one, or a shuffled one, implies.

        Parameters
        ----------
        diameter : float, optional
            Only for a metric guarantee: the largest distance between two records, in its unit.

        Returns
        -------
        guarantee : Guarantee
            A guarantee of notion ``"local"``. From a metric one its epsilon is
            ``epsilon * diameter + slack``; from a shuffled one, ``local_epsilon``, which holds
            without the shuffler.
        """
        if self.notion == "shuffled" and self.local_epsilon is not None and diameter is None:
            return replace(
                self,
                notion="local",
                epsilon=self.local_epsilon,
                delta=0.0,
                local_epsilon=None,
                n_reports=None,
            )
        if self.notion != "metric":
            raise GuaranteeError(
                f"only a metric promise has a diameter to multiply, this one is {self.notion!r}"
            )
        diameter = _numbers.positive("diameter", diameter)
        return replace(
            self, notion="local", epsilon=self.epsilon * diameter + self.slack, unit="", slack=0.0
        )

    def to_gdp(self) -> float:
        """Return the parameter mu of Gaussian differential privacy that the guarantee implies.

        Returns
        -------
        mu : float
            The parameter that the noise gives, if known, or else the one that pure epsilon implies.
        """
        self._require_plain("Gaussian")
        if self.mu is not None:
            return self.mu
        if self.delta > 0:
            raise GuaranteeError(
                f"an (epsilon, delta) promise with delta = {rounded_up(self.delta)} implies no mu",
                in_python="pass the mu of its noise, Guarantee(mu=...)",
            )
        return pure_to_gdp(self.epsilon) if self.epsilon > 0 else 0.0

    def to_approximate(self, delta: float) -> Self:
        """Return the (epsilon, delta) guarantee at another delta.

        Parameters
        ----------
        delta : float
            The new delta, in (0, 1). It may be smaller than the present one only if mu is known.

        Returns
        -------
        guarantee : Guarantee
            The guarantee with this delta and the smallest epsilon that is proven for it.
        """
        self._require_plain("(epsilon, delta)")
        delta = _numbers.positive_probability("delta", delta)
        candidates = []
        if delta >= self.delta:
            # Randomized response is the worst (epsilon, delta) mechanism; read off its curve.
            traded = (delta - self.delta) / (1 - self.delta) * (1 + math.exp(-self.epsilon))
            candidates.append(self.epsilon + math.log1p(-traded) if traded < 1 else 0.0)
        if self.mu is not None:
            candidates.append(gdp_to_epsilon(self.mu, delta))
        if not candidates:
            way_out = "amplify the local promise" if self.notion == "shuffled" else "fit"
            raise GuaranteeError(
                f"delta must be at least the promise's own {rounded_up(self.delta)}, got "
                f"{delta:g}: "
                f"{way_out} with the delta wanted"
            )
        return replace(self, epsilon=max(0.0, min(candidates)), delta=delta)

    def for_group(self, size: int) -> Self:
        """Return the guarantee for ``size`` records that change together (group privacy).

        Parameters
        ----------
        size : int
            Number of records, for example those of one household.

        Returns
        -------
        guarantee : Guarantee
            The guarantee for the group. If it is metric, each of the records moves by at most the
            distance; if it is shuffled, the group has ``size`` reports in the same batch.
        """
        size = _numbers.count("size", size)
        self._require_promise("a group's promise")
        loss = conversions.group(self.epsilon, self.delta, size=size)
        mu = None if self.mu is None else size * self.mu
        local = None if self.local_epsilon is None else size * self.local_epsilon
        return replace(
            self,
            epsilon=loss.epsilon,
            delta=loss.delta,
            mu=mu,
            local_epsilon=local,
            slack=size * self.slack,
        )

    def to_substitute(self) -> Self:
        """Return the guarantee under substitution of one record.

        Returns
        -------
        guarantee : Guarantee
            An add/remove guarantee is applied twice (one record is removed and one added); a local
            one is about substitution already.
        """
        self._require_plain("substitution")
        if self.adjacency is Adjacency.SUBSTITUTE:
            return self
        pair = self if self.notion == "local" else self.for_group(2)
        return replace(pair, adjacency=Adjacency.SUBSTITUTE)

    def to_privacy_unit(self, privacy_unit: PrivacyUnit) -> Self:
        """Return the guarantee for another privacy unit, if one is proven.

        Parameters
        ----------
        privacy_unit : PrivacyUnit
            The unit wanted. From records to a user with at most m rows, the result is the guarantee
            of a group of m records: ``m epsilon``, ``m mu``. From users to single
            rows, it is that of a group of 2 users: removing one row amounts to removing its user
            and adding them again without that row.

        Returns
        -------
        guarantee : Guarantee
            The guarantee for that unit.

        Raises
        ------
        GuaranteeError
            If no guarantee follows for it (``proofs/ledger.md``, "Privacy units").

        Examples
        --------
        >>> user = PrivacyUnit.user("person", max_rows=5)
        >>> Guarantee("central", 1.0, privacy_unit=user).to_privacy_unit(PrivacyUnit()).epsilon
        2.0
        """
        self._require_promise(f"a promise to each {privacy_unit}")
        size = group_size(
            self.privacy_unit,
            privacy_unit,
            notion=self.notion,
            adjacency=self.adjacency,
            wanted_adjacency=self.adjacency,
        )
        return replace(self.for_group(size), privacy_unit=privacy_unit)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        plain = asdict(self)
        del plain[_SHOWN]
        plain["adjacency"] = self.adjacency.value
        plain["privacy_unit"] = self.privacy_unit.to_dict()
        if self.notion == "none":
            plain["epsilon"] = "infinite"  # JSON has no infinity
        for name in _foreign(self.notion):
            del plain[name]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild a guarantee from :meth:`to_dict`; a mapping with other fields is refused.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        guarantee : Guarantee
            The same guarantee.
        """
        notion = plain.get("notion") if isinstance(plain, Mapping) else None
        expected = {one.name for one in fields(cls)} - {_SHOWN} - _foreign(notion)
        given = dict(plain) if isinstance(plain, Mapping) else {}
        if set(given) != expected:
            raise ParameterError(f"a guarantee must have the fields {sorted(expected)}")
        values = [adjacency.value for adjacency in Adjacency]
        if given["adjacency"] not in values:
            raise ParameterError(
                f"adjacency must be one of {values}, got {given['adjacency']!r}",
                parameter="adjacency",
                code="choice",
            )
        given["adjacency"] = Adjacency(given["adjacency"])
        given["privacy_unit"] = PrivacyUnit.from_dict(given["privacy_unit"])
        if given["notion"] == "none" and given["epsilon"] == "infinite":
            given["epsilon"] = math.inf
        return cls(**given)

    def __str__(self) -> str:
        return guarantee_text(self)

    def __repr__(self) -> str:
        held = [one.name for one in fields(self) if one.name != _SHOWN]
        held += [_SHOWN] if self.uncounted else []  # of a fit without a ledger
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in held)
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        return _html.block(_html.promise(str(self), holds=self.holds))

    def _require_promise(self, wanted: str) -> None:
        if self.notion == "none":
            raise GuaranteeError(f"nothing is promised, so {wanted} cannot follow: {self.reason}")

    def _require_plain(self, wanted: str) -> None:
        self._require_promise(wanted)
        if self.notion == "metric":
            raise GuaranteeError(
                f"a metric promise has no {wanted} form", in_python="call to_local(diameter) first"
            )


def _foreign(notion: Any) -> set[str]:
    """Return the fields that belong to promises of other notions."""
    return {name for other, names in _OWN.items() if other != notion for name in names}
