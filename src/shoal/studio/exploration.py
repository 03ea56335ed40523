"""One position of the slider of Explore: what leaves, the clusters, and what they are worth.

Everything here is of records that are nobody's (:mod:`shoal.studio.nobodys_records`): made up from
the schema, or drawn from a private copy. The columns of the table are not read. Noise is seeded, so
that a slider changes epsilon and not the luck of the draw; what a release would promise is said of
secure randomness, which releases have.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from shoal._build import load_class
from shoal._typing import Bools, Floats, Ints
from shoal.cluster import DPDensity, DPKMeans
from shoal.metrics import cost_ratio
from shoal.plotting import draw_plane, plane_rows
from shoal.privacy import Guarantee, amplify
from shoal.reports import NoiseAwareKMeans, load_release
from shoal.schema import Category, Number, Schema
from shoal.service import RefusedError
from shoal.studio.explore_choices import methods_for
from shoal.studio.explore_planes import Plane
from shoal.studio.explore_words import attack_reading, cluster_words, utility_reading
from shoal.studio.jobs import JobProgress
from shoal.studio.killable import run_killable
from shoal.studio.nobodys_records import ExploredRecords, Source, explored_records
from shoal.studio.private_copies import ledger_after
from shoal.studio.workspace import StudioTable

__all__ = ["Asked", "Exploration"]

QUICK_COLUMNS = 4  # encoded ones: private k-means of no more numbers is done while a slider moves
DELTA = 1e-6  # of a shuffled batch
RESTARTS = 4
BASELINE_RESTARTS = 20  # of k-means without privacy, which must not be worse than it has to
TURN = 0.05  # seconds between two looks of a fit that waits for its turn
MAX_SHOWN = 8  # reports that a table lists


@dataclass(frozen=True)
class Asked:
    """The settings of Explore.

    Parameters
    ----------
    method : str
        Name in the registry; "DPKMeans" chooses its own method.
    epsilon : float
        Of the release, or of each report.
    clusters : int
        Their number.
    source : {"made-up", "copy"}
        Which records.
    x, y : str, default=""
        Fields that are drawn.
    draw : int, default=0
        Which luck of the draw.
    """

    method: str
    epsilon: float
    clusters: int
    source: Source = "made-up"
    x: str = ""
    y: str = ""
    draw: int = 0


class _Found(NamedTuple):
    """Clusters in the encoded space."""

    centers: Floats
    sizes: Floats
    certain: Bools
    labels: Ints
    note: str = ""


class Exploration:
    """What one position of the slider shows.

    Parameters
    ----------
    table : StudioTable
        Only its schema, its settings and its private copy are read.
    asked : Asked
        The settings.
    """

    def __init__(self, table: StudioTable, asked: Asked) -> None:
        known = {one.name: one for one in methods_for(table)}
        if asked.method not in known:
            raise RefusedError(
                "invalid-parameter",
                "This method does not fit the columns or the trust model: choose another.",
            )
        self._table, self._asked, self._method = table, asked, known[asked.method]
        self._schema = table.described
        self._records = explored_records(table, asked.source)
        self._plane = Plane(self._schema, asked.x, asked.y)
        self._mechanism: Any = None
        self._reports: Any = None

    @property
    def is_quick(self) -> bool:
        """Whether clusters are found while the slider moves."""
        numbers = all(not isinstance(field, Category) for field in self._schema.features)
        few = self._schema.space.columns <= QUICK_COLUMNS
        return self._method.class_name == "DPKMeans" and numbers and few

    @property
    def sends_reports(self) -> bool:
        """Whether devices report, rather than a curator who releases."""
        return self._method.output == "reports"

    def perturb(self) -> None:
        """Let a device report each record: milliseconds."""
        kwargs: dict[str, Any] = dict(self._method.kwargs)
        if self._method.class_name == "PartitionResponse":
            kwargs["n_clusters"] = self._asked.clusters
        self._mechanism = load_class(self._method.location)(
            self._asked.epsilon, schema=self._schema, random_state=self._seed, **kwargs
        )
        self._reports = np.asarray(self._mechanism.fit_transform(self._typed()))

    def promise(self) -> Guarantee:
        """Return what a release, or each report, would promise; no record is read for it."""
        if not self.sends_reports:
            return Guarantee(
                "central", epsilon=self._asked.epsilon, privacy_unit=self._table.privacy_unit
            )
        promise: Guarantee = replace(self._mechanism.guarantee_, seeded=False)
        if self._table.trust_model != "shuffled":
            return promise
        colors = self._mechanism.n_colors if self._are_colors else None
        return amplify(self._worst_case(), self._table.n_guess, DELTA, n_colors=colors)

    def told(self) -> dict[str, Any]:
        """Return what is known without a fit: the promise, guesses, the ledger before and after."""
        promise = self.promise()
        local = self._worst_case() if self.sends_reports else None
        return {
            "source": self._asked.source,
            "source_words": self._records.words,
            "records": len(self._records.encoded),
            "guarantee": str(promise),
            "notion": promise.notion,
            "promised_epsilon": promise.epsilon,
            "attack": attack_reading(promise, local),
            "ledger": self._ledger_after(promise),
        }

    def _ledger_after(self, promise: Guarantee) -> dict[str, Any] | None:
        """Return what a release would leave of the limit; a device pays for its own report."""
        if self.sends_reports or self._table.ledger is None:
            return None
        return ledger_after(self._table.ledger, promise)

    def records_part(self, *, frame: bool) -> dict[str, Any]:
        """Return the chart of the explored records."""
        return self._drawn(self._points(), shown="records", frame=frame)

    def reports_part(self, *, frame: bool) -> dict[str, Any]:
        """Return what devices send: points, or the first few colors of cells."""
        n = len(self._reports)
        words = f"{n:,} reports, one for each record."
        if hasattr(self._mechanism, "encode"):
            size = len(self._mechanism.encode(self._reports)) / n
            words = f"{n:,} reports, one for each record, of {size:.3g} bytes each."
        if self._are_colors:
            names = [str(name) for name in self._mechanism.get_feature_names_out()]
            rows = [[str(i + 1), *(f"{v:g}" for v in row)] for i, row in enumerate(self._shown())]
            words += (
                " A report names a public partition of the box and one of its colors: the color "
                "of the record's cell, or a random one."
            )
            return {"kind": "colors", "words": words, "headings": ["device", *names], "rows": rows}
        points = self._plane.of_reports(self._reports) if self._plane.names else np.empty((0, 2))
        part = self._drawn(points, shown="reports", frame=frame)
        if part["outside"]:
            words += f" {part['outside']:,} of them lie outside this picture."
        return {"kind": "reports", "words": words, **part}

    def find_clusters(
        self, *, frame: bool, check: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Fit the explored records or cluster their reports; return the rest of the page."""
        if self._method.class_name == "DPDensity":
            return self._shapes()
        found = self._from_reports(check) if self.sends_reports else self._fit()
        baseline = self._without_privacy()
        ratio = cost_ratio(self._records.encoded, found.centers, reference=baseline)
        answer = {
            "clusters": self._clusters(found, frame=frame),
            "utility": utility_reading(float(ratio)),
        }
        if not self.sends_reports:
            middles = self._plane.of_centers(found.centers) if self._plane.names else None
            answer["leaves"] = {
                "kind": "release",
                "words": f"{len(found.centers)} centers with noisy sizes. {found.note}".strip(),
                **self._drawn([], shown="release", frame=frame, centers=middles, sizes=found.sizes),
            }
        return answer

    def work(self, progress: JobProgress, *, frame: bool) -> dict[str, Any]:
        """Find clusters when it is this table's turn; ended at once by a newer position."""
        with self._table.lock:
            turn = self._table.cache.setdefault("explore turn", threading.Lock())
        while not turn.acquire(timeout=TURN):
            progress.check()
        try:
            progress.check()
            return self.find_clusters(frame=frame, check=progress.check)
        finally:
            turn.release()

    def _fit(self) -> _Found:
        model = DPKMeans(
            self._asked.clusters,
            epsilon=self._asked.epsilon,
            schema=self._schema,
            random_state=self._seed,
            records_per_user=self._table.records_per_user,
            **self._method.kwargs,
        ).fit(self._typed())
        return _Found(
            model.cluster_centers_,
            np.asarray(model.cluster_sizes_, dtype=np.float64),
            model.certain_,
            np.asarray(model.labels_, dtype=np.int64),
            str(model.advice_),
        )

    def _from_reports(self, check: Callable[[], None] | None) -> _Found:
        k, reports = self._asked.clusters, self._reports
        arguments = self._mechanism, reports, k, self._seed, self._method.noise_aware
        if check is None:
            centers, shares, told = cluster_reports(*arguments)
        else:
            centers, shares, told = run_killable(check, cluster_reports, *arguments)
        centers = np.clip(centers, *self._schema.space.bounds)
        return _Found(
            centers,
            shares * len(reports),
            np.full(len(centers), told),
            pairwise_distances_argmin(self._records.encoded, centers).astype(np.int64),
        )

    def _shapes(self) -> dict[str, Any]:
        """Find clusters of any shape; noise without a seed, so that the chart is a released one."""
        model = DPDensity(epsilon=self._asked.epsilon, schema=self._schema).fit(self._typed())
        labels = np.asarray(model.labels_, dtype=np.int64)
        encoded, count = self._records.encoded, int(labels.max(initial=-1)) + 1
        sizes = np.bincount(labels[labels >= 0], minlength=count).astype(np.float64)
        sums = np.zeros((count, encoded.shape[1]))
        np.add.at(sums, labels[labels >= 0], encoded[labels >= 0])
        found = _Found(sums / np.maximum(sizes, 1.0)[:, None], sizes, sizes > 0, labels)
        picture = load_release(model.release_).plot()
        drawn: dict[str, Any] = {"datasets": {}} if picture is None else {"picture": picture.spec}
        words = f"A noisy density with {count} clusters that are more than chance."
        return {
            "leaves": {"kind": "density", "words": words, "outside": 0, **drawn},
            "clusters": self._clusters(found, frame=True, marked=False),
            "utility": utility_reading(None),
        }

    def _clusters(self, found: _Found, *, frame: bool, marked: bool = True) -> dict[str, Any]:
        overall = self._records.encoded.mean(axis=0)
        words: dict[str, Any] = {"headings": [], "rows": [], "sentences": []}
        middles = None
        if len(found.centers):
            words = cluster_words(self._schema, found.centers, found.sizes, found.certain, overall)
            middles = self._plane.of_centers(found.centers) if self._plane.names else None
        drawn = self._drawn(
            self._points(),
            shown="clusters",
            frame=frame,
            labels=found.labels,
            centers=middles if marked else None,
            n_clusters=len(found.centers),
        )
        return {**drawn, **words}

    def _drawn(self, points: Any, *, shown: Any, frame: bool, **kwargs: Any) -> dict[str, Any]:
        """Return rows of a chart, and the chart itself where it has to be made."""
        if not self._plane.names:
            return {"datasets": {}, "outside": 0}
        axes = self._plane.axes
        count = kwargs.pop("n_clusters", None)
        rows = plane_rows(points, axes=axes, **kwargs)
        answer: dict[str, Any] = {"datasets": rows.datasets, "outside": rows.outside}
        if frame:
            picture = draw_plane(
                points,
                axes=axes,
                shown=shown,
                n_records=len(self._records.encoded),
                n_clusters=count,
                records=False,  # those explored are nobody's
                **kwargs,
            )
            answer["picture"] = picture.spec
        return answer

    def _points(self) -> Floats:
        """Return the explored records in the plane, kept."""
        name = f"plane {self._plane.names}"
        points: Floats = _kept(self._table, self._records, name, self._place_records)
        return points

    def _place_records(self) -> Floats:
        return self._plane.of_records(self._typed()) if self._plane.names else np.empty((0, 2))

    def _typed(self) -> dict[str, Any]:
        typed: dict[str, Any] = _kept(
            self._table, self._records, "typed", lambda: _typed(self._schema, self._records)
        )
        return typed

    def _without_privacy(self) -> Floats:
        k = self._asked.clusters

        def fit() -> Floats:
            plain = KMeans(k, n_init=BASELINE_RESTARTS, random_state=0)
            return np.asarray(plain.fit(self._records.encoded).cluster_centers_)

        centers: Floats = _kept(self._table, self._records, f"plain {k}", fit)
        return centers

    def _worst_case(self) -> Guarantee:
        """Return what each report promises for the two records that are furthest apart."""
        promise: Guarantee = replace(self._mechanism.guarantee_, seeded=False)
        if promise.notion != "metric":
            return promise
        if hasattr(self._mechanism, "local_guarantee_"):
            local: Guarantee = self._mechanism.local_guarantee_
            return replace(local, seeded=False)
        return promise.to_local(float(np.linalg.norm(self._schema.space.widths)))

    def _shown(self) -> Any:
        return self._reports[:MAX_SHOWN]

    @property
    def _are_colors(self) -> bool:
        return getattr(self._mechanism, "noise_kind", None) == "partition"

    @property
    def _seed(self) -> int:
        return self._asked.draw


def cluster_reports(
    mechanism: Any, reports: Any, k: int, seed: int, noise_aware: bool
) -> tuple[Floats, Floats, bool]:
    """Find centers behind reports, their shares, and whether they are more than noise."""
    if noise_aware:
        model = NoiseAwareKMeans(k, mechanism=mechanism, random_state=seed).fit(reports)
        shares = np.asarray(model.release_.values["weights"], dtype=np.float64)
        return model.cluster_centers_, shares, bool(model.better_than_blind_)
    plain = KMeans(k, n_init=RESTARTS, random_state=seed).fit(reports)
    counts = np.bincount(plain.labels_, minlength=k)
    return plain.cluster_centers_, counts / len(reports), True


def _kept(table: StudioTable, records: ExploredRecords, name: str, make: Callable[[], Any]) -> Any:
    """Return what was computed from these records once; another copy has other records."""
    key = f"explore {records.source} {name}"
    held = table.cache.get(key)
    if held is None or held[0] is not records:
        held = table.cache[key] = records, make()
    return held[1]


def _typed(schema: Schema, records: ExploredRecords) -> dict[str, Any]:
    """Return the columns with types of their own where these mean the same: read far faster."""
    typed = dict(records.columns)
    for field in schema.features:
        if isinstance(field, Number):
            typed[field.name] = np.array(
                [np.nan if value is None else value for value in typed[field.name]], dtype=float
            )
    if np.array_equal(schema.encode(typed), records.encoded):
        return typed
    return dict(records.columns)
