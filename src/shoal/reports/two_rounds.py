"""Campaigns in two rounds: the reports of some devices say what the others are asked.

Each device reports once, in one of the rounds, which is drawn without looking at its record. The
partitions of the second round are made from the reports of the first alone, so they are public, and
a report of either round has the same promise (proofs/partition_response.md).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from shoal import _numbers
from shoal._bounds import Box, bounds_names, given_bounds, public_box
from shoal._records import validate_records
from shoal._report_channel import PartitionChannel
from shoal._typing import Floats, Ints, RandomState
from shoal.exceptions import ParameterError
from shoal.noise import as_source, uniform_integers
from shoal.partitions import (
    Axis,
    Partitions,
    column_partitions,
    one_grid_divides,
    seed_partitions,
    space_axes,
    spread_over_axes,
)
from shoal.privacy import Guarantee, amplify_drawn
from shoal.reports._atoms import Cells
from shoal.reports._drawn_atoms import partition_axes
from shoal.reports._drawn_clusters import drawn_density
from shoal.reports._partition_density import HeldOut, choose_updates
from shoal.reports._partition_likelihood import ColorChannel, tally
from shoal.reports.noise_aware_kmeans import NoiseAwareKMeans

__all__ = ["CampaignPlan", "TwoRoundCampaign"]

FEW_SHARE, MANY_SHARE = 0.4, 0.3  # of the devices in round one, in few columns and in many
SPREAD = 0.4  # of the seeds in few columns, evenly over the box: the first estimate may miss some
POOL = 1024  # points that seeds are taken from
PER_CLUSTER = 4  # seeds of a partition in few columns, ...
MIN_SEEDS = 64  # ... and at least so many
TURN = 2.0  # epsilon from which a second round helps in few columns, and below which in many
WORDS = 2**16  # a device's round is drawn from so many equal chances
FIELDS = {"kind", "n_clusters", "first_share", "seed", "mechanism", "second"}


class CampaignPlan(NamedTuple):
    """Number of devices in each round, and whether two rounds are better than one.

    Parameters
    ----------
    n_devices : int
        Number of all devices.
    first_devices, second_devices : int
        Number of devices in round one and in round two.
    two_rounds_help : bool
        Whether two rounds were better than asking all devices at once, as measured on other data.
    advice : str
        The advice in words.

    Examples
    --------
    >>> from shoal.reports import CampaignPlan
    >>> plan = CampaignPlan(1000, 1000, 0, two_rounds_help=False, advice="ask all devices at once")
    >>> plan.first_devices + plan.second_devices == plan.n_devices
    True
    """

    n_devices: int
    first_devices: int
    second_devices: int
    two_rounds_help: bool
    advice: str


class TwoRoundCampaign:
    """Collect reports in two rounds, the second with finer cells where the records are.

    Each device reports once, in one of the rounds, by :class:`shoal.mechanisms.PartitionResponse`.
    In round one the partitions follow from public parameters; with more than three columns, or
    with categories, each partition divides a single one of them. These reports give a first
    estimate of the records. Round two uses partitions by the nearest of some points drawn from
    that estimate. The reports of both rounds are clustered together.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to be found.
    mechanism : PartitionResponse
        Gives epsilon, and the schema or the bounds (with one value per column). If it was made
        with ``partitions``, round one uses these.
    first_share : float, default=None
        Share of the devices in round one. None takes 0.4 in up to three columns without
        categories, else 0.3.
    seed : int, default=0
        Seed of the public random numbers of round two.

    Attributes
    ----------
    first : Partitions
        Partitions of round one.
    second_ : Partitions or None
        Partitions of round two, after :meth:`second` has made them.

    See Also
    --------
    NoiseAwareKMeans : Find clusters from the reports of one round.

    Notes
    -----
    Each device has the same local guarantee as in one round. If reports are shuffled, the rounds
    are two batches of random size, each smaller than a single one would be (:meth:`shuffled`).

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import PartitionResponse
    >>> from shoal.reports import TwoRoundCampaign
    >>> records = np.repeat([[0.2, 0.2], [0.8, 0.8]], 2000, axis=0)
    >>> mechanism = PartitionResponse(4.0, bounds=([0.0, 0.0], [1.0, 1.0]), random_state=0)
    >>> campaign = TwoRoundCampaign(2, mechanism=mechanism)
    >>> rounds = campaign.draw_rounds(4000, random_state=0)  # each device its own, unseeded
    >>> first = campaign.first_mechanism.fit_transform(records[rounds == 1])
    >>> second_partitions = campaign.second(first)  # public: sent to the devices of round two
    >>> second = campaign.second_mechanism.fit_transform(records[rounds == 2])
    >>> model = campaign.cluster(first, second, random_state=0)
    >>> sorted(model.cluster_centers_[:, 0].round(1).tolist())
    [0.2, 0.8]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        mechanism: Any,
        first_share: float | None = None,
        seed: int = 0,
    ) -> None:
        self.n_clusters = _numbers.count("n_clusters", n_clusters)
        if not isinstance(mechanism, PartitionChannel):
            raise ParameterError(
                f"mechanism must be a PartitionResponse, got {type(mechanism).__name__}",
                parameter="mechanism",
                code="type",
            )
        # A copy: what was reported keeps its promise when the caller's parameters change.
        self.mechanism: Any = clone(mechanism)
        if bounds_names(getattr(mechanism, "bounds", None)):  # in the order of its partitions
            self.mechanism.set_params(bounds=given_bounds(mechanism))
        self.mechanism.ledger = getattr(mechanism, "ledger", None)
        self.seed = _numbers.count("seed", seed, least=0)
        given = mechanism.make_partitions()
        schema = mechanism.schema
        self._axes: tuple[Axis, ...] = (
            partition_axes(given) if schema is None else space_axes(schema.space)
        )
        if first_share is None:
            first_share = FEW_SHARE if self._few else MANY_SHARE
        self.first_share = _numbers.positive_probability("first_share", first_share)
        chosen = getattr(mechanism, "partitions", None) is not None
        self.first: Partitions = (
            given if chosen or self._few else column_partitions(self._axes, given.n_colors)
        )
        self.second_: Partitions | None = None

    @property
    def guarantee_(self) -> Guarantee:
        """Guarantee of a device's report, the same in both rounds."""
        guarantee: Guarantee = self.mechanism.guarantee_
        return guarantee

    @property
    def first_mechanism(self) -> Any:
        """Mechanism that makes the reports of round one."""
        return self._mechanism(self.first, 0)

    @property
    def second_mechanism(self) -> Any:
        """Mechanism that makes the reports of round two, and decodes those of both rounds."""
        second = self._published()
        return self._mechanism(self.first + second, self.first.n_partitions)

    def plan(self, n_devices: int) -> CampaignPlan:
        """Divide devices between the rounds.

        Parameters
        ----------
        n_devices : int
            Number of devices, which is public.

        Returns
        -------
        plan : CampaignPlan
            Number of devices in each round, and whether two rounds are better than one.

        Examples
        --------
        >>> from shoal.mechanisms import PartitionResponse
        >>> from shoal.reports import TwoRoundCampaign
        >>> mechanism = PartitionResponse(0.5, bounds=([0.0, 0.0], [1.0, 1.0]))
        >>> plan = TwoRoundCampaign(5, mechanism=mechanism).plan(10_000)
        >>> plan.first_devices, plan.second_devices, plan.two_rounds_help
        (4000, 6000, False)
        """
        n = _numbers.count("n_devices", n_devices, least=2)
        first = min(max(1, round(self.first_share * n)), n - 1)
        strict = float(self.mechanism.epsilon) < TURN
        helps = strict != self._few
        reason = (
            f"below epsilon {TURN:g}, a share of them says too little of where the records are"
            if self._few
            else f"from epsilon {TURN:g} on, points spread over the box tell as much"
        )
        advice = (
            f"ask {first} devices first and the other {n - first} where the records are"
            if helps
            else f"ask all {n} devices at once: {reason}"
        )
        return CampaignPlan(n, first, n - first, helps, advice)

    def draw_rounds(self, n_devices: int, *, random_state: RandomState = None) -> Ints:
        """Draw the round of each device, independently of its record.

        Parameters
        ----------
        n_devices : int
            Number of devices; a device that draws for itself passes 1.
        random_state : None, int or RandomState, default=None
            None draws from the operating system's entropy.

        Returns
        -------
        rounds : ndarray of int64, shape (n_devices,)
            1 with probability ``first_share`` (to 2^-16), else 2.
        """
        n = _numbers.count("n_devices", n_devices)
        words = uniform_integers(n, below=WORDS, source=as_source(random_state))
        rounds: Ints = np.where(words < self._first_words, 1, 2)
        return rounds

    def shuffled(self, n_devices: int, delta: float) -> Guarantee:
        """Return the guarantee of shuffled reports, for a device that does not know its round yet.

        Each round is a batch, and :meth:`draw_rounds` draws its size: it may be smaller than the
        one of :meth:`plan`, which delta accounts for (:func:`shoal.privacy.amplify_drawn`). When
        the rounds are drawn and their sizes published,
        ``first_mechanism.shuffled(min(sizes), delta)`` holds as well and is smaller in most
        campaigns. It is also the guarantee if you assign devices to rounds of fixed sizes, as long
        as you do so without looking at any record.

        Parameters
        ----------
        n_devices : int
            Number of honest devices that report, in both rounds together. Whether a device reports
            must not depend on the rounds that were drawn: where some drop out after the draw, or
            the rounds follow from a seed that others know, use the sizes of the rounds.
        delta : float
            Delta of the guarantee, in [1.6e-99, 1).

        Returns
        -------
        guarantee : Guarantee
            Guarantee of the round with the smaller share, the weaker of the two.
        """
        n = _numbers.count("n_devices", n_devices, least=2)
        share = self._first_words / WORDS
        return amplify_drawn(
            self.guarantee_, n, delta, share=min(share, 1 - share), n_colors=self.first.n_colors
        )

    def second(self, first_reports: Any) -> Partitions:
        """Make the partitions of round two, from the reports of round one alone.

        Parameters
        ----------
        first_reports : array-like of shape (n, 2)
            Partition and color of each report.

        Returns
        -------
        partitions : Partitions
            Public partitions, also stored as ``second_``. Devices use them through
            ``second_mechanism``, where their indices follow those of round one.

        Raises
        ------
        ParameterError
            If they have been made before: devices may already have reported by them.
        """
        if self.second_ is not None:
            raise ParameterError(
                "second must be asked for once, got a campaign that has its second partitions: "
                "read them as second_",
                parameter="second",
                code="conflict",
            )
        reports = self._checked("first_reports", first_reports, 0, self.first.n_partitions)
        rng = np.random.RandomState(self.seed)
        keep = float(self.first_mechanism.keep_probability)
        estimate = self._few_columns if self._few else self._many_columns
        pool = estimate(reports, keep, rng)
        n_seeds = self._few_seeds if self._few else None
        self.second_ = seed_partitions(
            self._axes, pool, self.first.n_colors, n_seeds=n_seeds, seed=self.seed + 1
        )
        return self.second_

    def cluster(
        self, first_reports: Any, second_reports: Any, *, random_state: RandomState = None
    ) -> NoiseAwareKMeans:
        """Find the clusters of the records behind the reports of both rounds.

        Parameters
        ----------
        first_reports, second_reports : array-like of shape (n, 2)
            Partition and color of each report.
        random_state : None, int or RandomState, default=None
            Seed of the halves, restarts and draws; privacy does not depend on it.

        Returns
        -------
        model : NoiseAwareKMeans
            Estimator fitted to all reports.
        """
        mechanism = self.second_mechanism
        begin, end = self.first.n_partitions, mechanism.make_partitions().n_partitions
        both = np.vstack(
            [
                self._checked("first_reports", first_reports, 0, begin),
                self._checked("second_reports", second_reports, begin, end),
            ]
        )
        model = NoiseAwareKMeans(self.n_clusters, mechanism=mechanism, random_state=random_state)
        return model.fit(both)

    def to_dict(self) -> dict[str, Any]:
        """Return the state of the campaign as values that JSON can hold.

        Returns
        -------
        plain : dict
            Public values: parameters, the mechanism of round one, and the partitions of round two
            if they have been made.
        """
        return {
            "kind": "TwoRoundCampaign",
            "n_clusters": self.n_clusters,
            "first_share": self.first_share,
            "seed": self.seed,
            "mechanism": self.first_mechanism.to_dict(),
            "second": None if self.second_ is None else self.second_.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Any, *, mechanism: Any) -> Self:
        """Return the campaign that :meth:`to_dict` described; invalid input is an error.

        Parameters
        ----------
        plain : mapping
            What :meth:`to_dict` returned.
        mechanism : PartitionResponse
            ``shoal.mechanisms.load_mechanism(plain["mechanism"])``, with the ledger of this device
            if it has one.

        Returns
        -------
        campaign : TwoRoundCampaign
            The same campaign.
        """
        if not isinstance(plain, Mapping) or set(plain) != FIELDS:
            raise ParameterError(f"a campaign must have the fields {sorted(FIELDS)} and no other")
        campaign = cls(
            plain["n_clusters"],
            mechanism=mechanism,
            first_share=plain["first_share"],
            seed=plain["seed"],
        )
        if plain["second"] is not None:
            second = Partitions.from_dict(plain["second"])
            _ = campaign.first + second  # refuses those of another box
            campaign.second_ = second
        return campaign

    def __repr__(self) -> str:
        stage = "round one" if self.second_ is None else "round two"
        return f"TwoRoundCampaign({self.n_clusters} clusters, {self.mechanism!r}, in {stage})"

    @property
    def _first_words(self) -> int:
        """Number of words, of all ``WORDS``, that put a device in round one."""
        return math.floor(self.first_share * WORDS)

    @property
    def _few(self) -> bool:
        return one_grid_divides(self._axes)

    @property
    def _few_seeds(self) -> int:
        return max(MIN_SEEDS, PER_CLUSTER * self.n_clusters, self.first.n_colors)

    def _published(self) -> Partitions:
        if self.second_ is None:
            raise ParameterError(
                "second must be asked for before round two, got a campaign without it",
                parameter="second",
                code="conflict",
                in_python="call second(first_reports)",
            )
        return self.second_

    def _mechanism(self, partitions: Partitions, first_partition: int) -> Any:
        copy = clone(self.mechanism)
        return copy.set_params(
            partitions=partitions, first_partition=first_partition, ledger=self.mechanism.ledger
        )

    def _checked(self, name: str, reports: Any, begin: int, end: int) -> Floats:
        """Return reports of one round; those of the other are refused."""
        table = validate_records(reports)
        partition = table[:, 0]
        if ((partition < begin) | (partition >= end)).any():
            raise ParameterError(
                f"{name} must hold partitions {begin} to {end - 1}, got others: pass the reports "
                "of each round by themselves",
                parameter=name,
                code="range",
            )
        return table

    def _few_columns(self, reports: Floats, keep: float, rng: np.random.RandomState) -> Floats:
        """Draw points from the first estimate on a grid, and evenly over the box."""
        box = public_box(self.first.bounds, self.first.columns)
        cells = Cells.regular(box)
        seen = tally(reports, self.first)
        channel = ColorChannel.of(self.first, keep, cells.points, seen.pairs)
        held_out = HeldOut(seen.counts, seen.halves(rng), cells.volumes)
        weights = choose_updates(channel, held_out, cells.start).whole
        pool = spread_over_axes(self._axes, POOL, seed=self.seed)
        drawn = rng.uniform(size=POOL) >= SPREAD
        own = rng.choice(len(weights), drawn.sum(), p=weights)
        within = (rng.uniform(size=(len(own), len(box.low))) - 0.5) * cells.sides[own, None]
        pool[drawn] = _inside(cells.points[own] + within * (box.high - box.low), box)
        return pool

    def _many_columns(self, reports: Floats, keep: float, rng: np.random.RandomState) -> Floats:
        """Draw points from the first estimate."""
        density = drawn_density(reports, self.first, keep, rng).whole
        return density.points[rng.choice(len(density.points), POOL, p=density.weights)]


def _inside(points: Floats, box: Box) -> Floats:
    clipped: Floats = np.clip(points, box.low, box.high)
    return clipped
