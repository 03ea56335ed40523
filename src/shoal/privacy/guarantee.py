"""A privacy promise: what it says, when it holds, and what it is worth in other terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

from shoal import _html, _numbers
from shoal.exceptions import GuaranteeError, ParameterError
from shoal.privacy import conversions
from shoal.privacy.distance_units import parse_unit
from shoal.privacy.gaussian_conversions import gdp_to_epsilon, pure_to_gdp
from shoal.privacy.privacy_unit import RECORD, Adjacency, PrivacyUnit, group_size

__all__ = ["Guarantee", "Notion", "guarantee_text"]

Notion = Literal["central", "local", "metric", "none"]

_NOTIONS = ("central", "local", "metric", "none")


@dataclass(frozen=True)
class Guarantee:
    """A privacy promise; prints as one plain sentence.

    It covers the table that ``fit`` was given (or the record that a mechanism was given), and not
    what was computed from the records before: :func:`shoal.audit.check_pipeline`.

    Parameters
    ----------
    notion : {"central", "local", "metric", "none"}
        Who is protected from whom. ``"central"``: the readers of a release, from records that a
        curator holds. ``"local"``: everybody, from one record whose participation is public.
        ``"metric"``: the same, weaker the further apart two records are. ``"none"``: no promise.
    epsilon : float
        The privacy loss, >= 0; per unit of distance for ``"metric"``; ignored for ``"none"``.
    delta : float, default=0.0
        In [0, 1); 0 is a pure promise.
    adjacency : Adjacency, default=Adjacency.ADD_REMOVE
        Which tables count as neighbors. A local promise holds for any two values of a record,
        whatever is written here.
    unit : str, default=""
        Unit of distance of a metric promise, such as ``"km"`` or ``"80 m"``.
    reason : str, default=""
        Why there is no promise; required for ``"none"``.
    seeded : bool, default=False
        Whether the noise came from a seed, which everybody may know: then nothing is promised.
    rho : float or None, default=None
        A zCDP parameter that holds as well, where one is known.
    mu : float or None, default=None
        A parameter of Gaussian differential privacy that holds as well, where one is known.
    privacy_unit : PrivacyUnit, default=PrivacyUnit()
        Whom the promise protects: a record, or a user with all of their rows.

    Examples
    --------
    >>> print(Guarantee("central", epsilon=1.0))  # doctest: +NORMALIZE_WHITESPACE
    central differential privacy with epsilon = 1 (add/remove): adding or removing any one record
    of the table given to fit changes the probability of any release by a factor of at most
    e^1 = 2.72
    >>> Guarantee("metric", epsilon=0.5, unit="km").to_local(diameter=4.0).epsilon
    2.0
    """

    notion: Notion
    epsilon: float
    delta: float = 0.0
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    unit: str = ""
    reason: str = ""
    seeded: bool = False
    rho: float | None = None
    privacy_unit: PrivacyUnit = RECORD
    mu: float | None = None

    def __post_init__(self) -> None:
        """Check every field; a promise that is malformed must not exist."""
        if self.notion not in _NOTIONS:
            raise ParameterError(f"notion must be one of {_NOTIONS}, got {self.notion!r}")
        if not isinstance(self.adjacency, Adjacency):
            raise ParameterError(f"adjacency must be an Adjacency, got {self.adjacency!r}")
        if not isinstance(self.seeded, bool):
            raise ParameterError(f"seeded must be True or False, got {self.seeded!r}")
        if not isinstance(self.privacy_unit, PrivacyUnit):
            raise ParameterError(f"privacy_unit must be a PrivacyUnit, got {self.privacy_unit!r}")
        parse_unit(self.unit)
        _numbers.text("reason", self.reason)
        if self.notion == "none":
            if not self.reason:
                raise ParameterError('reason must say why there is no promise, got ""')
            checked = {"epsilon": math.inf, "delta": 0.0, "rho": None, "mu": None}
        else:
            checked = {
                "epsilon": _numbers.non_negative("epsilon", self.epsilon),
                "delta": _numbers.probability("delta", self.delta),
                "rho": None if self.rho is None else _numbers.non_negative("rho", self.rho),
                "mu": None if self.mu is None else _numbers.non_negative("mu", self.mu),
            }
        known = self.rho is not None or self.mu is not None
        if self.notion == "metric" and (self.delta or known):
            raise ParameterError("delta must be 0, rho and mu None for a metric promise")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def none(cls, reason: str) -> Self:
        """Return the absence of a promise, with its reason.

        Parameters
        ----------
        reason : str
            Why nothing is promised.

        Returns
        -------
        guarantee : Guarantee
            Of notion ``"none"``.

        Examples
        --------
        >>> print(Guarantee.none("as published: the grid is taken from the records"))
        no privacy guarantee: as published: the grid is taken from the records
        """
        return cls("none", math.inf, reason=reason)

    @property
    def holds(self) -> bool:
        """Return whether anything is promised: some notion, and noise that nobody can replay."""
        return self.notion != "none" and not self.seeded

    def to_local(self, diameter: float) -> Self:
        """Return the local promise of a metric one over a domain of this diameter.

        Parameters
        ----------
        diameter : float
            Largest distance between two records, in the promise's unit.

        Returns
        -------
        guarantee : Guarantee
            Of notion ``"local"`` with ``epsilon * diameter``.
        """
        diameter = _numbers.positive("diameter", diameter)
        if self.notion != "metric":
            raise GuaranteeError(
                f"only a metric promise has a diameter to multiply, this one is {self.notion!r}"
            )
        return replace(self, notion="local", epsilon=self.epsilon * diameter, unit="")

    def to_zcdp(self) -> float:
        """Return the zCDP parameter rho that the promise implies.

        Returns
        -------
        rho : float
            Known from the noise, or else from the pure epsilon.
        """
        self._require_plain("zCDP")
        if self.rho is not None:
            return self.rho
        if self.mu is not None:
            return self.mu * self.mu / 2
        if self.delta > 0:
            raise GuaranteeError(
                f"an (epsilon, delta) promise with delta = {self.delta:g} implies no zCDP: "
                "compose the events that led to it instead"
            )
        return conversions.pure_to_zcdp(self.epsilon) if self.epsilon > 0 else 0.0

    def to_gdp(self) -> float:
        """Return the parameter mu of Gaussian differential privacy that the promise implies.

        Returns
        -------
        mu : float
            Known from the noise, or else from the pure epsilon.
        """
        self._require_plain("Gaussian")
        if self.mu is not None:
            return self.mu
        if self.delta > 0:
            raise GuaranteeError(
                f"an (epsilon, delta) promise with delta = {self.delta:g} implies no mu: compose "
                "the events that led to it instead"
            )
        return pure_to_gdp(self.epsilon) if self.epsilon > 0 else 0.0

    def to_approximate(self, delta: float) -> Self:
        """Return the (epsilon, delta) promise at another delta.

        Parameters
        ----------
        delta : float
            In (0, 1); below the promise's own delta only if rho or mu is known.

        Returns
        -------
        guarantee : Guarantee
            With this delta and the smallest epsilon that follows.
        """
        self._require_plain("(epsilon, delta)")
        delta = _numbers.positive_probability("delta", delta)
        candidates = []
        if delta >= self.delta:
            # Randomized response is the worst (epsilon, delta) mechanism; read off its curve.
            traded = (delta - self.delta) / (1 - self.delta) * (1 + math.exp(-self.epsilon))
            candidates.append(self.epsilon + math.log1p(-traded) if traded < 1 else 0.0)
        if self.rho is not None:
            candidates.append(conversions.zcdp_to_epsilon(self.rho, delta))
        if self.mu is not None:
            candidates.append(gdp_to_epsilon(self.mu, delta))
        if not candidates:
            raise GuaranteeError(
                f"delta must be at least the promise's own {self.delta:g}, got {delta:g}: compose "
                "the events that led to it at the delta wanted"
            )
        return replace(self, epsilon=max(0.0, min(candidates)), delta=delta)

    def for_group(self, size: int) -> Self:
        """Return the promise for ``size`` records that change together.

        Parameters
        ----------
        size : int
            How many records, for example those of one household.

        Returns
        -------
        guarantee : Guarantee
            For a metric promise: ``size`` records that each move by at most the distance.
        """
        size = _numbers.count("size", size)
        self._require_promise("a group's promise")
        loss = conversions.group(self.epsilon, self.delta, size=size)
        rho = None if self.rho is None else conversions.group_zcdp(self.rho, size=size)
        mu = None if self.mu is None else size * self.mu
        return replace(self, epsilon=loss.epsilon, delta=loss.delta, rho=rho, mu=mu)

    def to_substitute(self) -> Self:
        """Return the promise under substitution of one record.

        Returns
        -------
        guarantee : Guarantee
            An add/remove promise counts twice; a local one already is about substitution.
        """
        self._require_plain("substitution")
        if self.adjacency is Adjacency.SUBSTITUTE:
            return self
        pair = self if self.notion == "local" else self.for_group(2)
        return replace(pair, adjacency=Adjacency.SUBSTITUTE)

    def to_privacy_unit(self, privacy_unit: PrivacyUnit) -> Self:
        """Return the promise for another privacy unit, where a proof gives one.

        Parameters
        ----------
        privacy_unit : PrivacyUnit
            From records to a user with at most m rows, the promise is worth that of a group of m:
            ``m epsilon``, ``m^2 rho``, ``m mu``; from users to any one of their rows, of a group of
            2, since a row leaves by taking its user out and putting them back without it.

        Returns
        -------
        guarantee : Guarantee
            For that unit.

        Raises
        ------
        GuaranteeError
            If nothing follows for it (``proofs/ledger.md``, "Privacy units").

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
        plain["adjacency"] = self.adjacency.value
        plain["privacy_unit"] = self.privacy_unit.to_dict()
        if self.notion == "none":
            plain["epsilon"] = "infinite"  # JSON has no infinity
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Rebuild a guarantee from :meth:`to_dict`, strictly.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.

        Returns
        -------
        guarantee : Guarantee
            The same promise.
        """
        expected = {field.name for field in fields(cls)}
        # Earlier versions knew no mu.
        given = {"mu": None, **plain} if isinstance(plain, Mapping) else {}
        if set(given) != expected:
            raise ParameterError(f"a guarantee must have the fields {sorted(expected)}")
        values = [adjacency.value for adjacency in Adjacency]
        if given["adjacency"] not in values:
            raise ParameterError(f"adjacency must be one of {values}, got {given['adjacency']!r}")
        given["adjacency"] = Adjacency(given["adjacency"])
        given["privacy_unit"] = PrivacyUnit.from_dict(given["privacy_unit"])
        if given["notion"] == "none" and given["epsilon"] == "infinite":
            given["epsilon"] = math.inf
        return cls(**given)

    def __str__(self) -> str:
        return guarantee_text(self)

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


_SEEDED = "seeded: for tests and experiments only"
_CHANGE = {
    Adjacency.ADD_REMOVE: "adding or removing",
    Adjacency.SUBSTITUTE: "replacing",
}


def guarantee_text(guarantee: Guarantee) -> str:
    """Return a promise in words."""
    sentence = {"central": _central, "local": _local, "metric": _metric, "none": _none}[
        guarantee.notion
    ](guarantee)
    notes = [guarantee.reason] if guarantee.reason and guarantee.notion != "none" else []
    return "; ".join([sentence, *notes, *([_SEEDED] if guarantee.seeded else [])])


def _central(guarantee: Guarantee) -> str:
    return (
        f"central differential privacy with {_parameters(guarantee)} "
        f"({guarantee.adjacency.value}): "
        f"{_CHANGE[guarantee.adjacency]} any one {guarantee.privacy_unit} of the table given to "
        f"fit changes the probability of any release by {_factor(guarantee)}"
    )


def _local(guarantee: Guarantee) -> str:
    return (
        f"local differential privacy with {_parameters(guarantee)}: exchanging "
        f"{_values(guarantee)} for any other changes the probability of any report by "
        f"{_factor(guarantee)}"
    )


def _metric(guarantee: Guarantee) -> str:
    epsilon, unit = f"{guarantee.epsilon:g}", guarantee.unit
    times = f"r times {unit}" if unit[:1].isdigit() else f"r {unit or 'units'}"
    return (
        f"metric privacy with epsilon = {epsilon} per {unit or 'unit of distance'}: exchanging "
        f"{_values(guarantee)} for {_others(guarantee)} at a distance of {times} changes the "
        f"probability of any report by a factor of at most e^({epsilon} r)"
    )


def _values(guarantee: Guarantee) -> str:
    unit = guarantee.privacy_unit
    values = "a record" if unit.kind == "record" else f"the records of a {unit}"
    return f"{values} given to the mechanism"


def _others(guarantee: Guarantee) -> str:
    return "one" if guarantee.privacy_unit.kind == "record" else "others, each"


def _none(guarantee: Guarantee) -> str:
    return f"no privacy guarantee: {guarantee.reason}"


def _parameters(guarantee: Guarantee) -> str:
    delta = f" and delta = {guarantee.delta:g}" if guarantee.delta > 0 else ""
    return f"epsilon = {guarantee.epsilon:g}{delta}"


def _factor(guarantee: Guarantee) -> str:
    epsilon = guarantee.epsilon
    meaning = f" = {math.exp(epsilon):.3g}" if epsilon <= 10 else " (next to no protection)"
    plus = f", plus at most {guarantee.delta:g}" if guarantee.delta > 0 else ""
    return f"a factor of at most e^{epsilon:g}{meaning}{plus}"
