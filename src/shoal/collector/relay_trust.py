"""What an analysis of shuffled batches promises, to whom, and what must be trusted for it.

An analyst who asks for an analysis says which share of the reports is assumed to be honest: nobody
can count those. The amplified promise (``proofs/shuffling.md``, section 7) follows from it, from
the batch of which the fewest reports were kept, and from the number of reports of a device. It
stands beside the promise that holds whoever is trusted, and never in its place.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from shoal import _numbers
from shoal._numbers import rounded_up
from shoal.campaigns import Campaign
from shoal.collector.store import BatchTotals
from shoal.exceptions import ParameterError
from shoal.privacy import Guarantee

__all__ = ["DELTA", "Assumed", "shuffled_promise"]

DELTA = 1e-6
LEAST_DELTA = 1e-100  # below it nothing is computed


@dataclass(frozen=True)
class Assumed:
    """What an analyst assumes of the devices in each batch.

    Parameters
    ----------
    honest_share : float
        Share of the reports kept of each batch that come from devices which draw as the document
        says, and of which the analyst knows neither record nor report: from 0, for which nothing
        is claimed beyond the local promise, to 1.
    delta : float, default=1e-6
        Of the amplified promise, for all reports of a device together.

    Examples
    --------
    >>> Assumed(0.9).to_dict()
    {'honest_share': 0.9, 'delta': 1e-06}
    """

    honest_share: float
    delta: float = DELTA

    def __post_init__(self) -> None:
        """Check both numbers."""
        share = _numbers.non_negative("honest_share", self.honest_share)
        if share > 1:
            raise ParameterError(f"honest_share must be from 0 to 1, got {self.honest_share!r}")
        object.__setattr__(self, "honest_share", share)
        if _numbers.positive_probability("delta", self.delta) < LEAST_DELTA:
            raise ParameterError(f"delta must be at least {LEAST_DELTA:g}, got {self.delta!r}")
        object.__setattr__(self, "delta", float(self.delta))

    @classmethod
    def taken_from(
        cls, parameters: Mapping[str, Any], campaign: Campaign
    ) -> tuple[Self | None, dict[str, Any]]:
        """Take the assumptions out of the parameters of an analysis.

        Parameters
        ----------
        parameters : mapping
            As they were asked for.
        campaign : Campaign
            Whose reports.

        Returns
        -------
        assumed : Assumed or None
            None where nobody shuffles the reports.
        others : dict
            What is left for the method.

        Raises
        ------
        ParameterError
            If a shuffled campaign comes without ``honest_share``, or another one with it.
        """
        if not isinstance(parameters, Mapping):
            raise ParameterError(
                f"parameters must be names and values, got {type(parameters).__name__}"
            )
        own = {name: parameters[name] for name in ("honest_share", "delta") if name in parameters}
        others = {name: value for name, value in parameters.items() if name not in own}
        if campaign.shuffler is None:
            if own:
                raise ParameterError(
                    f"{' and '.join(own)} must be left out, got a campaign that nobody shuffles"
                )
            return None, others
        given = {name: value for name, value in own.items() if value is not None}
        if "honest_share" not in given:
            raise ParameterError(
                "honest_share must be given for shuffled reports: the share of each batch that is "
                "assumed to come from honest devices, such as 0.9, or 0 to claim the local promise "
                "alone"
            )
        return cls(**given), others

    def to_dict(self) -> dict[str, float]:
        """Return both as parameters of an analysis."""
        return {"honest_share": self.honest_share, "delta": self.delta}


def shuffled_promise(
    campaign: Campaign, batches: BatchTotals, n_reports: int, assumed: Assumed
) -> dict[str, Any]:
    """Return what shuffled batches promise, in numbers and in words.

    Parameters
    ----------
    campaign : Campaign
        With a shuffler.
    batches : BatchTotals
        Those of the snapshot.
    n_reports : int
        Reports of the snapshot.
    assumed : Assumed
        By the analyst.

    Returns
    -------
    promise : dict
        Plain values: the batches in numbers, what is assumed, ``"guarantee"`` (null where nothing
        is gained) and ``"text"``, which names what must be trusted, and what is left without.
    """
    relay = campaign.shuffler
    if relay is None:
        raise ParameterError("campaign must have a shuffler, got one without")
    honest = math.floor(assumed.honest_share * batches.fewest)
    guarantee, reason = None, "of no report it is assumed that it comes from an honest device"
    if batches.n_reports != n_reports:
        reason = "some reports were stored without the shuffler"
    elif honest:
        guarantee = campaign.mechanism.shuffled(
            honest, assumed.delta, reports_per_device=campaign.reports_per_device
        )
        if guarantee.delta == 0:
            local = campaign.mechanism.local_guarantee_
            shown = rounded_up(local.epsilon)
            reason = f"a crowd of {honest:,} hides no report of local epsilon = {shown}"
            guarantee = None
    return {
        "operator": relay.operator,
        "batch_size": relay.batch_size,
        "batches": batches.n_batches,
        "fewest_kept": batches.fewest,
        "dropped": {
            "unopened": batches.n_unopened,
            "invalid": batches.n_invalid,
            "repeated": batches.n_repeated,
        },
        "assumed": assumed.to_dict(),
        "honest_reports": honest,
        "guarantee": None if guarantee is None else guarantee.to_dict(),
        "text": _without_gain(reason, campaign)
        if guarantee is None
        else _with_trust(guarantee, campaign, batches, assumed),
    }


def _with_trust(
    guarantee: Guarantee, campaign: Campaign, batches: BatchTotals, assumed: Assumed
) -> str:
    """Return the amplified promise as sentences, with all that it takes."""
    relay = campaign.shuffler
    assert relay is not None
    epsilon = rounded_up(guarantee.epsilon, 4)
    several = campaign.reports_per_device > 1
    what = f"all {campaign.reports_per_device:,} records that" if several else "the record that"
    return (
        f"shuffled differential privacy with epsilon = {epsilon} and delta = "
        f"{rounded_up(guarantee.delta)} (substitution): exchanging {what} a {campaign.unit} "
        "reported on for "
        "any other changes the probability of all that the analyst sees, batch by batch, by a "
        f"factor of at most e^{epsilon}, plus at most {rounded_up(guarantee.delta)}. This "
        f"takes trust: the shuffler ({relay.operator}) mixes every batch, passes on neither "
        "addresses nor times, sends no report twice and does not collude with the analyst; and at "
        f"least {guarantee.n_reports:,} reports of every batch of {relay.batch_size:,} come from "
        f"honest devices that tell nobody what they sent (a share of {assumed.honest_share:g} of "
        f"the {batches.fewest:,} that were kept of the smallest: assumed, nobody can count them). "
        f"{_alone(campaign)}"
    )


def _without_gain(reason: str, campaign: Campaign) -> str:
    return f"nothing is claimed for the shuffler: {reason}. {_alone(campaign)}"


def _alone(campaign: Campaign) -> str:
    return f"Without any trust: {campaign.guarantee}"
