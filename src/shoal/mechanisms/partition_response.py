"""Report the color of the record's cell in a public partition, kept or drawn uniformly.

Local hashing (Wang et al. 2017) with a finite public family: the device draws a partition without
looking at the record, and answers by g-ary randomized response which of g colors its cell has.

The promise (local, any two records): a color is kept where a 64-bit word is below T, else uniform,
so that a report has probability T/2^64 + (1 - T/2^64)/g or (1 - T/2^64)/g, whatever the record is.
Their ratio is 1 + g T/(2^64 - T) <= e^epsilon, since T = floor(2^64 lam) and lam = (e^epsilon - 1)
/ (e^epsilon + g - 1). It holds for any law of the partition that does not depend on the record
(proofs/partition_response.md).
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from shoal import _numbers
from shoal._bounds import bounded_columns, public_box
from shoal._docs import shared_docs
from shoal._report_channel import PARTITION_COLUMNS, PartitionChannel, channel_bounds
from shoal._typing import Bounds, Floats, RandomState
from shoal.exceptions import ParameterError
from shoal.mechanisms._base import Mechanism
from shoal.mechanisms._one_report import Device, as_table, contents, plain_numbers
from shoal.noise import (
    Lattice,
    RandomSource,
    keep_threshold,
    randomized_response,
    uniform_integers,
)
from shoal.partitions import (
    Partitions,
    box_axes,
    default_colors,
    default_partitions,
    space_axes,
)
from shoal.privacy import Adjacency, Event, Guarantee, Ledger, PureEvent
from shoal.schema import Schema

__all__ = ["PartitionResponse"]

WORD_BITS = 64


@shared_docs
class PartitionResponse(PartitionChannel, Mechanism):
    """Report the color of the record's cell in a random public partition, with local privacy.

    A partition divides the box into cells, and each cell has one of a few colors. The device draws
    a partition at random, and reports the color of its record's cell by randomized response. Use it
    at small epsilon: noise on coordinates then moves records across the whole box and hides every
    cluster, while the share of records in each cell is still estimated well. A report is two small
    integers; :class:`shoal.NoiseAwareKMeans` finds clusters from them.

    Parameters
    ----------
    {local_epsilon}
    {bounds}
    schema : Schema, default=None
        Public description of a table, in place of ``bounds``. The ranges of numbers are cut into
        intervals; the levels of a category are used as they are.
    n_clusters : int, default=None
        Number of clusters that will be looked for, a public number: more clusters need smaller
        cells. None plans for 8.
    partitions : Partitions, default=None
        Public partitions; None makes them from the parameters above.
    first_partition : int, default=0
        First partition that may be drawn; those before it belong to an earlier round.
    {ledger_of_reports}
    {random_state}

    Attributes
    ----------
    {local_guarantee_}
    partitions_ : Partitions
        The public partitions.
    {features_in_}

    See Also
    --------
    shoal.reports.NoiseAwareKMeans : Find clusters of the records behind the reports.
    shoal.client.Device : Keep a report, and send the same bytes when the value is reported again.
    Piecewise : Unbiased reports of the record itself.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.mechanisms import PartitionResponse
    >>> mechanism = PartitionResponse(epsilon=2.0, bounds=(0.0, 1.0), n_clusters=15)
    >>> reports = mechanism.fit_transform(np.full((1000, 2), 0.3))
    >>> mechanism.get_feature_names_out().tolist(), reports.shape
    (['partition', 'color'], (1000, 2))
    >>> len(mechanism.encode(reports)) / 1000  # bytes a report
    2.0
    """

    _report_names = PARTITION_COLUMNS

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        bounds: Bounds | None = None,
        schema: Schema | None = None,
        n_clusters: int | None = None,
        partitions: Partitions | None = None,
        first_partition: int = 0,
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.schema = schema
        self.n_clusters = n_clusters
        self.partitions = partitions
        self.first_partition = first_partition
        self.ledger = ledger
        self.random_state = random_state

    @property
    def partitions_(self) -> Partitions:
        """The public partitions; if bounds are two numbers, available after ``fit``."""
        return self.make_partitions()

    @property
    def keep_probability(self) -> Fraction:
        """Probability that the true color is kept, not replaced by a random one: T/2^64."""
        return Fraction(keep_threshold(float(self.epsilon), self.n_colors), 2**WORD_BITS)

    @property
    def n_colors(self) -> int:
        """Number of colors, g."""
        given = self.partitions
        return default_colors(float(self.epsilon)) if given is None else given.n_colors

    def make_partitions(self, columns: int | None = None) -> Partitions:
        """Return the public partitions.

        Parameters
        ----------
        columns : int, default=None
            Number of columns of a record, needed if bounds are two numbers; None takes the number
            seen in ``fit``.

        Returns
        -------
        partitions : Partitions
            Those of the parameter ``partitions``, or made from epsilon, the box or schema, and
            ``n_clusters``.
        """
        if self.partitions is not None:
            return self.partitions
        if self.schema is not None:
            axes = space_axes(self.schema.space)
        else:
            known = 0 if self.bounds is None else bounded_columns(self.bounds, default=0)
            axes = box_axes(public_box(channel_bounds(self), columns or known or self._columns))
        return default_partitions(axes, epsilon=float(self.epsilon), n_clusters=self.n_clusters)

    def randomize(self, x: Any) -> Floats:
        """Perturb one record, as a device does; faster than ``transform`` of one row.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record: values in the order of the columns, or a dict of values by column name if
            the names are known from the schema or from ``fit``.

        Returns
        -------
        z : ndarray of shape (2,)
            Partition and color; with the same seed, the same as from ``transform`` of one row.
        """
        own = self._settled()
        record = own._one_record(x)
        if record is None:
            return super().randomize(x)
        self._device = device = own._prepared(len(record))
        return device.draw(record, own._paid_source(device.promise))

    def lattice(self, columns: int) -> Lattice:
        """Return the lattice of integers that reports lie on.

        Parameters
        ----------
        columns : int
            Number of columns of a record.

        Returns
        -------
        lattice : Lattice
            With two columns: partition and color.
        """
        partitions = self.make_partitions(columns)
        last = np.array([partitions.n_partitions - 1, partitions.n_colors - 1], dtype=np.int64)
        first = np.array([self.first_partition, 0], dtype=np.int64)
        return Lattice(np.zeros(2), np.ones(2), first, last)

    def log_density(self, z: Any, x: Any) -> Floats:
        """Return the log-probability of reports given the record.

        Parameters
        ----------
        z : array-like of shape (n, 2)
            Reports: partition and color.
        x : array-like of shape (d,) or (n, d)
            One record for all reports, or one record for each of them.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Natural logarithms; minus infinity for rows that cannot be reports.
        """
        reports = np.atleast_2d(np.asarray(z, dtype=np.float64))
        records = np.atleast_2d(np.asarray(x, dtype=np.float64))
        partitions = self.make_partitions(records.shape[1])
        first = np.array([self.first_partition, 0])
        last = np.array([partitions.n_partitions - 1, partitions.n_colors - 1])
        possible = ((reports == np.rint(reports)) & (reports >= first) & (reports <= last)).all(1)
        whole = np.where(possible[:, None], reports, first).astype(np.int64)
        records = np.broadcast_to(records, (len(whole), records.shape[1]))
        true = partitions.colors(records, whole[:, 0])
        threshold = keep_threshold(float(self.epsilon), partitions.n_colors)
        other = Fraction(2**WORD_BITS - threshold, partitions.n_colors << WORD_BITS)
        kept = other + Fraction(threshold, 2**WORD_BITS)
        masses = np.where(true == whole[:, 1], _log(kept), _log(other))
        masses -= math.log(partitions.n_partitions - self.first_partition)
        return np.where(possible, masses, -np.inf)

    def variance(self, X: Any = None) -> float | Floats:
        """Return the variance of the unbiased estimate of a cell's share from one report.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Records, for one value an entry; it is the same for all.

        Returns
        -------
        variance : float, or ndarray of the shape of X
            1 / ((g - 1) lam^2), for a small share.
        """
        keep = float(self.keep_probability)
        variance = 1.0 / ((self.n_colors - 1) * keep**2)
        return variance if X is None else np.full(np.shape(X), variance)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the two columns of a report.

        Parameters
        ----------
        input_features : None
            Ignored: the names do not depend on the records.

        Returns
        -------
        names : ndarray of object
            ``"partition"`` and ``"color"``.
        """
        return np.array(self._report_names, dtype=object)

    @property
    def _columns(self) -> int:
        given = self.partitions
        return super()._columns if given is None else int(given.columns)

    @property
    def _colors(self) -> int:
        return self.n_colors

    def _promise(self, columns: int | None = None) -> Guarantee:
        return Guarantee("local", epsilon=self.epsilon, adjacency=Adjacency.SUBSTITUTE)

    def _event(self, promise: Guarantee) -> Event:
        return PureEvent(epsilon=self.epsilon, purpose="one report of each record")

    def _encoded_params(self) -> dict[str, Any]:
        # Intervals of the encoded box are not the levels of its categories.
        return {"schema": None, "bounds": channel_bounds(self), "partitions": self.partitions_}

    def _public_params(self) -> dict[str, Any]:
        # As they are: another version may make others from the same parameters.
        return {**super()._public_params(), "partitions": self.partitions_}

    def _check(self, columns: int) -> None:
        if self.n_clusters is not None:
            _numbers.count("n_clusters", self.n_clusters)
        first = _numbers.count("first_partition", self.first_partition, least=0)
        if not (self.partitions is None or isinstance(self.partitions, Partitions)):
            raise ParameterError(
                f"partitions must be Partitions or None, got {self.partitions!r}",
                parameter="partitions",
                code="type",
            )
        self._check_epsilon()
        keep_threshold(float(self.epsilon), self.n_colors)
        if self.partitions is not None and self.partitions.columns != columns:
            raise ParameterError(
                f"partitions must divide the {columns} columns of the records, got "
                f"{self.partitions!r}",
                parameter="partitions",
                code="columns",
            )
        super()._check(columns)
        partitions = self.make_partitions(columns)
        if first >= partitions.n_partitions:
            raise ParameterError(
                "first_partition must be a whole number below the number of partitions, got "
                f"{self.first_partition!r}",
                parameter="first_partition",
                code="range",
            )
        # A public point: what cannot be colored fails before anything is spent.
        corner = public_box(channel_bounds(self), columns).low
        partitions.color(corner.tolist(), first)

    def _one_record(self, x: Any) -> Sequence[float] | None:
        """Return a record that needs no closer look, encoded; None for any other."""
        if self.schema is not None:
            return self._encoded_record(x, self.schema)
        record = plain_numbers(x)
        if record is None or getattr(self, "n_features_in_", len(record)) != len(record):
            return None
        return record

    def _encoded_record(self, x: Any, schema: Schema) -> list[float] | None:
        if not isinstance(schema, Schema):
            return None
        record: list[float] = schema.encode(as_table(x, schema, None))[0].tolist()
        return record

    def _prepared(self, columns: int) -> Device:
        """Return what one record needs, checked again where a parameter is another one."""
        given: tuple[Any, ...] = (columns, self.epsilon, self.n_clusters, self.first_partition)
        given += (self.partitions, self.schema, self.ledger, *contents(self.bounds))
        device: Device | None = getattr(self, "_device", None)
        if device is None or not device.serves(given):
            self._check(columns)
            partitions = self.make_partitions(columns)
            self._device = device = Device(
                given,
                partitions,
                first=int(self.first_partition),
                threshold=keep_threshold(float(self.epsilon), partitions.n_colors),
                box=public_box(channel_bounds(self), columns),
                promise=self._promise(),
            )
        return device

    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        partitions = self.make_partitions(records.shape[1])
        box = public_box(channel_bounds(self), records.shape[1])
        first, epsilon = int(self.first_partition), float(self.epsilon)
        reports = np.empty((len(records), 2))
        for block, part in self._in_chunks(records):
            # Before the record is looked at; no word depends on it.
            chosen = first + uniform_integers(
                len(part), below=partitions.n_partitions - first, source=source
            )
            true = partitions.colors(np.clip(part, box.low, box.high), chosen)
            reports[block, 0] = chosen
            reports[block, 1] = randomized_response(
                true, epsilon=epsilon, choices=partitions.n_colors, source=source
            )
        return reports


def _log(probability: Fraction) -> float:
    return math.log(probability.numerator) - math.log(probability.denominator)
