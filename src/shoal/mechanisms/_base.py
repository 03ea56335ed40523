"""What all local randomizers share: check, spend, perturb, in this order.

A mechanism runs on the device that holds the record. It learns nothing from records: ``fit`` only
notes how many columns there are, and ``transform`` works without it. Reports of records that are
not in memory are drawn out of sight, paid for, and then handed out.

What was drawn decides what the guarantee says. A source belongs to the ``random_state`` that it was
made from and is made anew when that was changed; and once a mechanism has handed out reports that
came from a seed, its guarantee does not hold until the next ``fit``, also in copies of it. Nor does
a parameter that is changed afterwards make the promise of reports that are out any better.
"""

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from shoal import _numbers
from shoal._bounds import bounded_columns, bounds_names, public_box
from shoal._estimator_base import (
    UNUSED,
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    transform_output,
)
from shoal._frozen import frozen_copy
from shoal._html import ShownWithPromise
from shoal._records import fitted_names
from shoal._report_channel import ReportChannel, channel_bounds
from shoal._table_input import refuse_users, validate_table
from shoal._typing import Floats, RandomState, TableLike
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms._one_report import as_table
from shoal.mechanisms._report_files import check_out, refuse_spark, release_reports
from shoal.mechanisms._sources import SourceInUse, fewest, weakest
from shoal.mechanisms.documents import mechanism_to_dict, save_mechanism
from shoal.mechanisms.report_format import ReportFormat
from shoal.noise import Lattice, RandomSource, is_seeded
from shoal.privacy import Adjacency, Event, Guarantee, Ledger, amplify
from shoal.schema import Schema
from shoal.tables import ArrayTable

if TYPE_CHECKING:
    from shoal.tables import ArrowTable

__all__ = ["Mechanism", "ReportNames"]


CHUNK_VALUES = 1 << 16  # numbers perturbed at a time


class ReportNames(OneToOneFeatureMixin):
    """Name the columns of reports like those of the records, or of the schema's encoding."""

    schema: Schema | None

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of reports.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of the records, for a mechanism without a schema.

        Returns
        -------
        names : ndarray of object
            Names of the columns of the records, or of the schema's encoded columns.
        """
        if self.schema is None:
            return super().get_feature_names_out(input_features)
        return np.array(self.schema.space.names, dtype=object)


class Mechanism(ShownWithPromise, ReportChannel, ReportNames, TransformerMixin, BaseEstimator):
    """Base class of local randomizers: one report for each record.

    Subclasses store ``epsilon``, ``bounds``, ``schema``, ``ledger`` and ``random_state``, and
    define how records are perturbed, the privacy event that is charged, and the guarantee.

    Examples
    --------
    >>> from shoal.mechanisms import Laplace, Mechanism
    >>> device = Laplace(epsilon=1.0, bounds=(-5.0, 5.0), random_state=0)
    >>> isinstance(device, Mechanism), device.randomize([0.5, 2.0]).shape
    (True, (2,))
    """

    epsilon: float
    bounds: Any
    ledger: Ledger | None
    random_state: RandomState

    _drew_seeded: bool = False  # by what this is a copy of
    _drawn: Guarantee | None = None  # likewise
    _drawn_colors: int | None = None  # likewise

    _report_names: ClassVar[tuple[str, ...] | None] = None  # None: those of the records

    # A folder to write to is no metadata of the records.
    __metadata_request__transform: ClassVar[dict[str, str]] = {"out": UNUSED}

    @property
    def guarantee_(self) -> Guarantee:
        """Guarantee of each report: of the next one and of those returned since ``fit``."""
        promise, drawn = self._promise(), self._handed_out()
        weaker = promise if drawn is None else weakest(drawn, promise)
        uncounted = self.ledger is None or (drawn is not None and drawn.uncounted)
        return replace(weaker, seeded=self._seeded, uncounted=uncounted)

    @property
    def local_guarantee_(self) -> Guarantee:
        """Local guarantee of each report; a metric one is taken for the two farthest records."""
        return self.guarantee_

    def fit(self, X: TableLike, y: Any = None) -> Self:
        """Check the parameters and store the columns; nothing else is learned from the records.

        Parameters
        ----------
        X : array-like of shape (n, d), ArrowTable or Arrow dataset
            Records. If they are not in memory, only the names and types of columns are read.
        y : None
            Ignored.

        Returns
        -------
        self : Mechanism
            The mechanism.
        """
        table = refuse_spark(validate_table(X, estimator=self, schema=self.schema))
        self._check(table.columns)
        # A seed's stream goes on from one transform to the next and starts again at fit.
        in_use = SourceInUse()
        in_use.keep(self.random_state)
        self._in_use, self._drew_seeded, self._drawn = in_use, False, None
        self._drawn_colors = None
        return self

    def transform(self, X: TableLike, *, out: Any = None) -> Any:
        """Perturb each record once, after the ledger has been charged.

        Parameters
        ----------
        X : array-like of shape (n, d), path or Arrow dataset
            Records; those outside the bounds are clipped. From files, only the columns seen in
            ``fit`` are read.
        out : path-like, default=None
            Folder for the reports; only for records in files, where it is required. It must be
            empty or not exist yet. All files appear in it at the same time.

        Returns
        -------
        Z : ndarray of shape (n, d) or pyarrow.dataset.Dataset
            Reports, in the order of the records.

        Raises
        ------
        ReleaseError
            If reports cannot be written, or cannot be returned although the ledger was charged;
            the message says which.
        """
        own = self._settled()
        table = own._open_table(X)
        check_out(table, out)
        own._check(table.columns)
        if isinstance(table, ArrayTable):
            return own._perturb(table.doubles(), own._paid_source(own._promise(table.columns)))
        in_use = own._sources()
        source = in_use.current(own.random_state)
        own._check_output()
        promise = replace(own._promise(table.columns), uncounted=own.ledger is None)
        in_use.note(source, promise, own._colors)
        return release_reports(own, table, source, out, promise=promise)

    def randomize(self, x: Any) -> Floats:
        """Perturb one record and return its report.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record: values in the order of the columns, or a dict of values by column name if
            the names are known from the schema or from ``fit``.

        Returns
        -------
        z : ndarray of shape (d,)
            Report of the record.
        """
        reports = self.transform(as_table(x, self.schema, fitted_names(self)))
        report: Floats = np.asarray(reports)[0]  # a frame where set_output asks for one
        return report

    def clip_record(self, x: Any) -> Floats:
        """Encode and clip one record, as is done before it is perturbed.

        Parameters
        ----------
        x : array-like of shape (d,), or dict
            The record, in any form that :meth:`randomize` accepts.

        Returns
        -------
        record : ndarray of shape (d,)
            Encoded by the schema, if there is one, and clipped to the bounds. The mechanism cannot
            distinguish records for which this is equal. It is as private as the record itself.
        """
        table = self._open_table(as_table(x, self.schema, fitted_names(self)))
        if not isinstance(table, ArrayTable) or len(table.X) != 1:
            raise ParameterError("x must be one record, got a table", parameter="x", code="shape")
        record = table.doubles()[0]
        known = 0 if self.bounds is None else bounded_columns(self.bounds, default=0)
        if known not in (0, len(record)):
            raise DataError(
                f"x must have the {known} columns of the bounds, got {len(record)}",
                parameter="x",
                code="columns",
            )
        box = public_box(channel_bounds(self), len(record))
        clipped: Floats = np.clip(record, box.low, box.high) + 0.0  # 0 and -0 are equal
        return clipped

    def to_dict(self) -> dict[str, Any]:
        """Return a public description of this mechanism, with which a server reads its reports.

        Returns
        -------
        document : dict
            Parameters, columns and guarantee, as values that JSON can hold; neither the seed nor
            the ledger. :func:`load_mechanism` makes a mechanism of it again.
        """
        return mechanism_to_dict(self, self._public_params())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the public description to a JSON file, completely or not at all.

        Parameters
        ----------
        path : path-like
            Where to write; an existing file is replaced.
        """
        save_mechanism(self, path)

    def of_encoded(self) -> Self:
        """Return an unfitted copy that takes records already encoded by the schema.

        Returns
        -------
        mechanism : Mechanism
            Its reports have the same distribution; its bounds are those of the encoded space.
        """
        copy: Self = super().of_encoded()
        encoded = self.schema is None and not isinstance(self.bounds, Mapping)
        return copy if encoded else copy.set_params(**self._encoded_params())

    def report_format(self) -> ReportFormat:
        """Return how reports are written as bytes.

        Without a schema, the number of columns must be known from ``fit`` or the bounds.

        Returns
        -------
        format : ReportFormat
            Follows from public parameters alone.
        """
        columns = self._known_columns()
        self._check(columns)
        return self._report_format(columns)

    def shuffled(self, n: int, delta: float, *, reports_per_device: int = 1) -> Guarantee:
        """Return the guarantee of reports in shuffled batches, by :func:`shoal.privacy.amplify`.

        Parameters
        ----------
        n : int
            Smallest number of honest reports in a batch; each round is a separate batch.
        delta : float
            Delta of the guarantee, in [1e-100, 1).
        reports_per_device : int, default=1
            Largest number of different reports of one device; the guarantee covers all of them
            together.

        Returns
        -------
        guarantee : Guarantee
            Of notion ``"shuffled"``: it holds against anyone who sees the reports in random order
            and nothing else. A metric mechanism is treated as the local mechanism that it is over
            the whole box.

        Examples
        --------
        >>> from shoal.mechanisms import PartitionResponse
        >>> mechanism = PartitionResponse(4.0, bounds=(0.0, 1.0))
        >>> round(mechanism.shuffled(100_000, 1e-6).epsilon, 3)
        0.079
        """
        # Reports with fewer colors hide less, and may have been handed out before.
        colors = self._fewest_colors()
        return amplify(
            self.local_guarantee_,
            n,
            delta,
            n_colors=colors,
            reports_per_device=reports_per_device,
        )

    def encode(self, reports: Any) -> bytes:
        """Write reports as bytes, one after the other and all of equal length.

        Parameters
        ----------
        reports : array-like of shape (n, c), or (c,) for one
            Reports of this mechanism.

        Returns
        -------
        encoded : bytes
            In the layout of ``ReportFormat``.

        Raises
        ------
        ParameterError
            If this mechanism cannot have made these reports.
        """
        return self.report_format().encode(reports)

    def decode(self, encoded: bytes) -> Floats:
        """Read the reports that :meth:`encode` wrote.

        Parameters
        ----------
        encoded : bytes
            One or more complete reports.

        Returns
        -------
        reports : ndarray of shape (n, c)
            The reports, identical to the last bit.

        Raises
        ------
        ParameterError
            If this mechanism cannot have made these reports.
        """
        return self.report_format().decode(encoded)

    @abstractmethod
    def lattice(self, columns: int) -> Lattice:
        """Return the public lattice of the possible reports."""

    @abstractmethod
    def _promise(self, columns: int | None = None) -> Guarantee:
        """Return the promise of a report that is drawn with the parameters as they are.

        It may depend on the number of columns; None takes what the mechanism knows of it.
        """

    @abstractmethod
    def _event(self, promise: Guarantee) -> Event:
        """Return what one report with this promise costs the person it is about."""

    @abstractmethod
    def _perturb(self, records: Floats, source: RandomSource) -> Floats:
        """Draw the reports of checked records."""

    def _settled(self) -> Self:
        """Return a copy with the parameters as they are now; both note what either draws."""
        self._sources()
        return frozen_copy(self)

    def _open_table(self, X: TableLike) -> "ArrayTable | ArrowTable":
        """Open records of a transform, in the columns of ``fit``."""
        fitted = hasattr(self, "n_features_in_")
        # Without fit there are no columns to compare with, and transform must not note any.
        columns = self if fitted else BaseEstimator()
        named = bounds_names(self.bounds)
        if not fitted:
            columns.bounds = self.bounds
        if named and not fitted:  # the bounds say which columns there are, as fit would
            columns.feature_names_in_ = np.array(named, dtype=object)
            columns.n_features_in_ = len(named)
        table = validate_table(
            X, estimator=columns, reset=not (fitted or named), schema=self.schema
        )
        return refuse_spark(table)

    def _sources(self) -> SourceInUse:
        if not hasattr(self, "_in_use"):
            self._in_use = SourceInUse(
                drew_seeded=self._drew_seeded, drawn=self._drawn, colors=self._drawn_colors
            )
        return self._in_use

    def _paid_source(self, promise: Guarantee) -> RandomSource:
        """Return where reports come from, after the ledger was charged and the promise noted."""
        in_use = self._sources()
        source = in_use.current(self.random_state)
        self._spend(source, promise)
        in_use.note(source, replace(promise, uncounted=self.ledger is None), self._colors)
        return source

    def _known_columns(self) -> int:
        """Return the number of columns of records that the bounds, the schema or ``fit`` say."""
        known = 0 if self.bounds is None else bounded_columns(self.bounds, default=0)
        return known or self._columns

    def _report_format(self, columns: int) -> ReportFormat:
        """Return how reports of records with so many columns are written."""
        return ReportFormat.of_lattice(self.lattice(columns))

    def _encoded_params(self) -> dict[str, Any]:
        """Return the parameters that differ for records that are encoded already."""
        return {"schema": None, "bounds": channel_bounds(self)}

    def _public_params(self) -> dict[str, Any]:
        """Return the parameters from which a server knows what reports mean."""
        return dict(self.get_params(deep=False))

    @property
    def _columns(self) -> int:
        """Number of columns of a report; without a schema it needs ``fit``."""
        if self.schema is not None:
            return self.schema.space.columns
        check_is_fitted(self, "n_features_in_")
        return int(self.n_features_in_)

    def _check(self, columns: int) -> None:
        self._check_epsilon()
        if not (self.ledger is None or isinstance(self.ledger, Ledger)):
            raise ParameterError(
                f"ledger must be a Ledger or None, got {self.ledger!r}",
                parameter="ledger",
                code="type",
            )
        if self.bounds is not None and self.schema is not None:
            raise ParameterError(
                "bounds must be left out where a schema is given, got both: the schema says what "
                "its columns may hold",
                parameter="bounds",
                code="unexpected",
            )
        refuse_users(self.schema)
        public_box(channel_bounds(self), columns)
        self.lattice(columns)  # a box that no lattice fits is refused before anything is spent

    @property
    def _seeded(self) -> bool:
        """Return whether reports handed out since ``fit``, or the next ones, come from a seed."""
        return self._schema_seeded or is_seeded(self.random_state) or self._has_drawn_seeded()

    @property
    def _schema_seeded(self) -> bool:
        """Return whether the bounds of the schema show records to whoever knows a seed."""
        return self.schema is not None and self.schema.seeded

    def _has_drawn_seeded(self) -> bool:
        in_use = getattr(self, "_in_use", None)
        return self._drew_seeded if in_use is None else bool(in_use.drew_seeded)

    def _handed_out(self) -> Guarantee | None:
        in_use = getattr(self, "_in_use", None)
        return self._drawn if in_use is None else in_use.drawn

    @property
    def _colors(self) -> int | None:
        """Number of colors of the next report, where it is a randomized response."""
        return None

    def _fewest_colors(self) -> int | None:
        """Return the fewest colors of the next report and of those handed out since ``fit``."""
        in_use = getattr(self, "_in_use", None)
        return fewest(self._drawn_colors if in_use is None else in_use.colors, self._colors)

    def _check_output(self) -> None:
        """Refuse, before anything is spent, what scikit-learn cannot make of files."""
        chosen = getattr(self, "_sklearn_output_config", {})
        wanted = chosen.get("transform", transform_output())
        if wanted != "default":
            raise ParameterError(
                f"set_output must be left at 'default' for records that are not in memory, got "
                f"{wanted!r}",
                parameter="set_output",
                code="unsupported",
                in_python="call set_output(transform='default')",
            )

    def _spend(self, source: RandomSource, promise: Guarantee, *, only_check: bool = False) -> None:
        """Charge the ledger, or see that it could be charged."""
        if self.ledger is None:
            return
        event, notion = self._event(promise), promise.notion
        if only_check:
            self.ledger.check(event, adjacency=Adjacency.SUBSTITUTE, notion=notion)
            return
        self.ledger.spend(
            event,
            purpose=f"{type(self).__name__} reports",
            adjacency=Adjacency.SUBSTITUTE,
            notion=notion,
            seeded=source.seeded or self._schema_seeded,
            columns=getattr(self, "feature_names_in_", ()),
        )

    def _check_epsilon(self) -> None:
        _numbers.positive("epsilon", self.epsilon)

    def _in_chunks(self, records: Floats) -> Iterator[tuple[slice, Floats]]:
        """Cut records into blocks small enough for every intermediate to stay in cache."""
        rows = max(1, CHUNK_VALUES // records.shape[1])
        for start in range(0, len(records), rows):
            block = slice(start, start + rows)
            yield block, records[block]

    def __getstate__(self) -> dict[str, Any]:
        # The source holds a key: it stays in this process.
        state: dict[str, Any] = {**super().__getstate__(), "_drew_seeded": self._has_drawn_seeded()}
        state["_drawn"] = self._handed_out()
        state["_drawn_colors"] = None if state["_drawn"] is None else self._fewest_colors()
        state.pop("_in_use", None)
        state.pop("_device", None)
        return state

    def __sklearn_clone__(self) -> Self:
        # What post-processes reports is cloned with the mechanism that drew them, and asks it.
        copy: Self = super().__sklearn_clone__()
        if self._has_drawn_seeded():
            copy._drew_seeded = True
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.non_deterministic = True
        return tags
