"""What distinguishes each cluster: a private profile of a published clustering.

Central differential privacy under add/remove of one record, or of one user with all records: pure
for ``delta=0``, and counted in mu of Gaussian differential privacy otherwise. Records are counted
by cluster and level of each described field; every count gets exact discrete noise, and everything
after the noise is post-processing (proofs/profile.md). The clusters were published before, so a
record's cluster depends on that record alone, and all clusters share one epsilon.
"""

import csv
import html
import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from shoal import _numbers
from shoal._docs import shared_docs
from shoal._files import atomic_write
from shoal._frozen import leaves_last_fit
from shoal._optional import require
from shoal._table_input import validate_table
from shoal._typing import RandomState, TableLike
from shoal.cluster._budget import charge, check_epsilon, check_ledger, drawn_by_seed
from shoal.cluster._contributions import (
    LEVELS,
    Contributions,
    counted_rows,
    given_contributions,
)
from shoal.cluster.profile._coding import Coding, Labeler
from shoal.cluster.profile._counts import noisy_counts
from shoal.cluster.profile._estimates import consistent_counts
from shoal.cluster.profile._plan import MAX_WORDS, ProfilePlan, plan_profile, typical_size
from shoal.cluster.profile._profiles import read_profiles
from shoal.cluster.profile._release import Row, profile_rows, release_values
from shoal.cluster.profile._words import exact_words, release_words
from shoal.exceptions import ParameterError
from shoal.noise import as_source
from shoal.privacy import Adjacency, ApproximateEvent, Event, Guarantee, Ledger, Release
from shoal.schema import Schema, Text
from shoal.tables import ArrowTable, SparkTable

__all__ = ["ClusterProfile"]


@shared_docs
class ClusterProfile(BaseEstimator):
    """Description of published clusters: private shares, quantiles and missing rates of each.

    Every value comes with the 95% confidence interval that follows from its noise.

    Parameters
    ----------
    release : Release or fitted estimator
        The published clusters, of an estimator of this package.
    schema : Schema, default=None
        Public description of the table; None takes that of the release. Fields with the role
        "feature" or "describe" are described, even if the clustering did not use them.
    {epsilon}
    delta : float, default=0.0
        0 for pure differential privacy, above 0 for Gaussian noise.
    max_words : int, default=3
        How many words of one person count, at most, for the keywords of text fields. Keywords need
        ``delta > 0``.
    records_per_user : int, default=1
        If ``user_ids`` are given, how many records of each user count, at most: a public number,
        with which noise grows.
    user_column : str, default=""
        Name of the column that ``user_ids`` come from, for the guarantee and the ledger.
    {ledger}
    {random_state}

    Attributes
    ----------
    profiles_ : mapping of Profile
        Profile of each cluster by its label (-1 for records in none), and that of all records as
        ``"overall"``.
    {guarantee_}
    release_ : Release
        The only thing meant to leave the curator; tables and charts need nothing else.
    {features_in_}

    See Also
    --------
    shoal.cluster.profile_noise : Predict the noise of a profile before anything is spent.

    Notes
    -----
    Each interval by itself holds the exact value in the table with 95% confidence. Intervals are
    about the added noise alone, not about how well the table represents other people. With 95%
    confidence, all sentences of :meth:`describe` together are true of the table.

    The budget is divided among fields so that the total squared error of the counts is least: a
    field of m levels gets a part in proportion to m^(1/3) (with delta: of mu^2, to m^(1/2)).

    What the guarantee does not cover: errors before anything is spent are for the curator's eyes,
    as those of :class:`~shoal.DPKMeans` are.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.cluster import ClusterProfile, DPKMeans
    >>> from shoal.schema import Category, Number, Schema
    >>> table = {"age": np.repeat([25.0, 60.0], 5000), "city": ["A"] * 4000 + ["B"] * 6000}
    >>> model = DPKMeans(2, bounds=(0, 120), random_state=0).fit(table["age"].reshape(-1, 1))
    >>> schema = Schema([
    ...     Number("age", minimum=0, maximum=120, unit="years"),
    ...     Category("city", ["A", "B"], role="describe"),
    ... ])
    >>> profile = ClusterProfile(model.release_, schema=schema, random_state=0).fit(table)
    >>> for part in profile.describe()[0].split(", "):
    ...     print(part)
    cluster 0 (about 5,010 records): age 25 to 26 years against 25 to 61 overall
    city A 80% against 40% overall
    """

    def __init__(
        self,
        release: Any = None,
        *,
        schema: Schema | None = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        max_words: int = MAX_WORDS,
        records_per_user: int = 1,
        user_column: str = "",
        ledger: Ledger | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.release = release
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.max_words = max_words
        self.records_per_user = records_per_user
        self.user_column = user_column
        self.ledger = ledger
        self.random_state = random_state

    @leaves_last_fit
    def fit(self, X: TableLike, y: Any = None, *, user_ids: Any = None) -> Self:
        """Spend the budget and describe the clusters.

        Parameters
        ----------
        X : data frame, dict of columns, path, Arrow dataset or Spark DataFrame
            The records, with the columns that the clustering used and those to describe.
        {y}
        user_ids : array-like of shape (n,), default=None
            User of each row, as for :class:`~shoal.DPKMeans`; by default the schema's field with
            the role ``"user"``. The rows of one user may be in several clusters: the guarantee
            covers all of them together.

        Returns
        -------
        self : ClusterProfile
            The fitted profile.
        """
        schema, labeler, plan, coding = self._prepared(users=user_ids is not None)
        opened = X.with_schema(coding) if isinstance(X, ArrowTable | SparkTable) else X
        table = validate_table(opened, estimator=self, user_ids=user_ids, schema=coding)
        given = given_contributions(
            X,
            table,
            schema,
            user_ids=user_ids,
            records_per_user=int(self.records_per_user),
            user_column=self.user_column,
        )
        source = as_source(self.random_state)
        promise = Guarantee(
            "central",
            epsilon=float(self.epsilon),
            delta=float(self.delta) if plan.noise.approximate else 0.0,
            adjacency=Adjacency.ADD_REMOVE,
            # The clusters that it describes show what their noise hid to whoever has their seed.
            seeded=drawn_by_seed(source, schema) or labeler.release.guarantee.seeded,
            privacy_unit=given.privacy_unit,
            mu=None if plan.texts else plan.noise.mu,
        )
        receipt = charge(
            self.ledger,
            table,
            plan.noise,
            plan.budgets,
            what=f"ClusterProfile({len(labeler.clusters)})",
            promise=promise,
            columns=coding.columns,
            event=_event(plan, promise),
        )
        counted = counted_rows(table, given)
        noisy = noisy_counts(counted, given, plan, len(labeler.clusters), source)
        words = [
            release_words(
                exact_words(counted, coding.first_word(text.name), text.max_words, given.users),
                text,
                plan.noise,
                labeler.clusters,
                source,
            )
            for text in plan.texts
        ]
        values = release_values(
            plan,
            consistent_counts(noisy, [one.deviation for one in plan.fields], record=given.record),
            words,
            clusters=labeler.clusters,
            schema=schema,
            noun=_noun(given),
            notes=_notes(schema, plan),
        )
        self.guarantee_ = replace(promise, uncounted=self.ledger is None)
        self.release_ = Release("ClusterProfile", values, promise, ledger=receipt)
        self.profiles_ = read_profiles(self.release_.values)
        return self

    def table_schema(self) -> Schema:
        """Return the schema with which ``fit`` reads a table.

        Use it to read a table with users from a file: pass
        ``read_table(path, schema=profile.table_schema())`` to ``fit``.

        Returns
        -------
        schema : Schema
            Encodes each record as its cluster and its levels; made from public values alone.
        """
        return self._prepared(users=False).coding

    def describe(self) -> list[str]:
        """Return a sentence for each cluster: what distinguishes it most comes first.

        Returns
        -------
        sentences : list of str
            Such as "cluster 2 (about 4,100 people): city B 61% against 20% overall". Only
            differences that the noise does not explain are mentioned. A range of a number is that
            of its middle half.
        """
        check_is_fitted(self)
        return list(self.release_.values["sentences"])

    def rows(self) -> list[Row]:
        """Return all sizes, shares and quantiles with their intervals, one per row.

        Returns
        -------
        rows : list of Row
            Rows of each cluster, then those of all records.
        """
        check_is_fitted(self)
        return profile_rows(self.release_.values)

    def to_frame(self) -> Any:
        """Return the :meth:`rows` as a data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One value per row.
        """
        rows = self.rows()
        return require("pandas", extra="frame").DataFrame(rows, columns=list(Row._fields))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the rows of :meth:`to_frame` as CSV text; with a path, write them to a file too.

        Parameters
        ----------
        path : path-like, default=None
            File to write; an existing one is replaced.

        Returns
        -------
        text : str
            The CSV, with a header line.
        """
        rows, text = self.rows(), io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)
        if path is not None:
            with atomic_write(Path(path)) as part:
                part.write_text(text.getvalue(), encoding="utf-8")
        return text.getvalue()

    def _repr_html_(self) -> str:
        if not hasattr(self, "release_"):
            return f"<p>{html.escape(repr(self))}</p>"
        items = "".join(f"<li>{html.escape(one)}</li>" for one in self.describe())
        return f"<ul>{items}</ul>{self.guarantee_._repr_html_()}"

    def _published(self) -> Release:
        release = getattr(self.release, "release_", self.release)
        if not isinstance(release, Release):
            raise ParameterError(
                f"release must be a Release with clusters, got {type(release).__name__}",
                parameter="release",
                code="type",
                in_python="pass the release_ of a fitted estimator, or Release.load(path)",
            )
        if release.guarantee.notion == "none":
            # A record's cluster would depend on others, and one record could move many counts.
            raise ParameterError(
                f"release must have a promise of its own, got one of {release.kind} without: "
                "cluster with a finite epsilon",
                parameter="release",
                code="guarantee",
            )
        return release

    def _described(self) -> Schema:
        schema = self.schema
        if schema is None:
            plain = self._published().values.get("schema")
            if plain is None:
                raise ParameterError(
                    "schema must be given for a release that was made without one, got None",
                    parameter="schema",
                    code="missing",
                    in_python="pass Schema.load(path)",
                )
            return Schema.from_dict(plain)
        if not isinstance(schema, Schema):
            raise ParameterError(
                f"schema must be a Schema, got {type(schema).__name__}",
                parameter="schema",
                code="type",
                in_python="pass Schema.load(path)",
            )
        return schema

    def _check_parameters(self) -> None:
        check_epsilon(self.epsilon)
        _numbers.probability("delta", self.delta)
        _numbers.count("max_words", self.max_words)
        _numbers.count("records_per_user", self.records_per_user)
        _numbers.text("user_column", self.user_column)
        check_ledger(self.ledger)

    def _prepared(self, *, users: bool) -> "_Prepared":
        """Check the parameters, and settle what will be read and released."""
        clusters, schema = self._published(), self._described()
        self._check_parameters()
        labeler = Labeler.of(clusters, schema)
        plan = self._plan(schema, labeler, users=users or schema.user is not None)
        coding = Coding.of(
            schema,
            labeler,
            [one.histogram for one in plan.fields],
            [(text.name, text.max_words) for text in plan.texts],
        )
        return _Prepared(schema, labeler, plan, coding)

    def _plan(self, schema: Schema, labeler: Labeler, *, users: bool) -> ProfilePlan:
        """Plan the release before the table is opened: by public numbers alone."""
        record = LEVELS if schema.sample_weight is not None else 1
        people = int(self.records_per_user) if users else 1
        return plan_profile(
            schema,
            epsilon=self.epsilon,
            delta=self.delta,
            contribution=record * people,
            cluster_size=record * typical_size(labeler.release.values.get("sizes")),
            max_words=int(self.max_words),
        )


class _Prepared(NamedTuple):
    """What is known before a record is read."""

    schema: Schema
    labeler: Labeler
    plan: ProfilePlan
    coding: Coding


def _event(plan: ProfilePlan, promise: Guarantee) -> Event | None:
    """Return what a ledger is charged where the noise alone does not say it: a delta of words."""
    if not plan.texts:
        return None
    return ApproximateEvent(epsilon=promise.epsilon, delta=promise.delta, purpose=str(plan.budgets))


def _noun(given: Contributions) -> str:
    """Return what is counted: people, where each has one record."""
    unit = given.privacy_unit
    return "people" if unit.kind == "user" and given.max_contribution == 1 else "records"


def _notes(schema: Schema, plan: ProfilePlan) -> list[str]:
    known = {field.histogram.field.name for field in plan.fields}
    known |= {text.name for text in plan.texts}
    return [
        f"{field.name} is not described"
        + (": keywords need a delta above 0" if isinstance(field, Text) else "")
        for field in schema.described
        if field.name not in known
    ]
