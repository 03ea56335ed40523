"""Documents that come from outside, of every kind: a valid one, its reader, and all its uses."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helpers.campaigns import KEY, shuffled_campaign, signed_campaign
from shoal.campaigns import Campaign, open_campaign
from shoal.cluster import (
    ClusterProfile,
    DPDensity,
    DPKMeans,
    DPWaveCluster,
    PrivateCopy,
    learn_schema,
)
from shoal.cluster.density._crowded import CrowdedCells, Window, _corners, _own_cells
from shoal.exceptions import ParameterError
from shoal.mechanisms import (
    Duchi,
    Hybrid,
    Laplace,
    PartitionResponse,
    Piecewise,
    PlanarLaplace,
    SphericalLaplace,
    SquareWave,
    load_mechanism,
)
from shoal.partitions import Partitions
from shoal.privacy import (
    Composed,
    GDPEvent,
    Guarantee,
    Ledger,
    PrivacyUnit,
    PureEvent,
    Release,
    Repeated,
    amplify,
)
from shoal.privacy._ledger_file import Head
from shoal.reports import NoiseAwareDensity, NoiseAwareKMeans, TwoRoundCampaign, load_release
from shoal.schema import (
    Category,
    Date,
    Field,
    Flag,
    Number,
    Ordinal,
    Place,
    Schema,
    Text,
    import_table_schema,
)

__all__ = [
    "BOX",
    "LEDGER_USES",
    "Kind",
    "from_file",
    "kinds",
    "plain_release",
    "shows",
    "small_clusters",
]

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.normal(-1.5, 0.3, (150, 2)), RNG.normal(1.5, 0.3, (150, 2))])
BOX = ([-3.0, -3.0], [3.0, 3.0])
TABLE = {
    "age": [30, None, 70] * 20,
    "income": [100.0, 5e4, None] * 20,
    "city": ["A", "B", "C"] * 20,
    "member": ["yes", "no", None] * 20,
    "joined": ["2012-05-06", None, "2024-02-29"] * 20,
    "grade": ["low", "mid", "none"] * 20,
    "home": ["8.5, 47.4", None, "8.6, 47.3"] * 20,
    "customer": list(range(60)),
    "note": ["good", "bad", None] * 20,
}
SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, unit="years", whole=True, weight=20.0),
        Number("income", minimum=0, maximum=1e6, scale="log"),
        Category("city", ["A", "B"], weight=3.0),
        Flag("member", missing="fill", fill="false"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Ordinal("grade", ["low", "mid", "high"], weight=0.1),
        Place("home", center=(8.5, 47.4), radius=20.0),
        Field("customer", role="ignore"),
        Text("note"),
    ],
    ("", "n/a"),
    title="People",
)
PLACES = Schema([Place("home", center=(8.5, 47.4), radius=20.0, missing="refuse")])
AT_HOME = {"home": ["8.5, 47.4"] * 300 + ["8.6, 47.3"] * 300}
AGE = Number("age", minimum=0, maximum=120, missing="refuse")
INCOME = Number("income", minimum=0, maximum=1e6, scale="log", missing="refuse")
NUMBERS = Schema([AGE, INCOME])
MIXED = Schema([AGE, Category("city", ["A", "B"])])
OF_CITIES = {"age": [30, 70] * 300, "income": [1e3, 1e5] * 300, "city": ["A", "B"] * 300}


@dataclass(frozen=True)
class Kind:
    """One kind of document.

    ``make`` returns valid ones, as values of JSON; ``read`` reads one, as those values or, where
    ``text`` is set, as the bytes of a file; ``uses`` are all that can be done with what was read.
    """

    name: str
    make: Callable[[], Iterable[Any]]
    read: Callable[[Any], Any]
    uses: Sequence[Callable[[Any], Any]]
    text: bool = False

    def __str__(self) -> str:
        return self.name


def from_file(
    folder: Path, read: Callable[[Path], Any], name: str = "document.json"
) -> Callable[[bytes], Any]:
    """Return a reader of the bytes of a file."""

    def from_bytes(content: bytes) -> Any:
        path = folder / name
        path.write_bytes(content)
        return read(path)

    return from_bytes


def shows(one: Any) -> None:
    """Write what was read."""
    repr(one)
    str(one)


# Schemas
def _encodes(schema: Schema) -> None:
    if schema.features and not schema.lacking():
        points = schema.encode(TABLE if schema.fields else {})
        schema.decode(points)
        schema.restore(points)


def _frictionless() -> list[Any]:
    fields = [
        {"name": "took", "type": "duration"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "city", "type": "string", "constraints": {"enum": ["A", {"value": "B"}]}},
    ]
    return [{"resources": [{"path": "people.csv", "schema": {"fields": fields}}]}]


SCHEMA_USES = (
    shows,
    _encodes,
    lambda schema: Schema.from_dict(json.loads(schema.to_bytes())) == schema,
    lambda schema: (schema.space, schema.columns, schema.lacking(), schema._repr_html_()),
)


# Mechanisms and campaigns
def _mechanisms() -> list[Any]:
    made = [
        Laplace(2.0, bounds=BOX),
        Laplace(level=1.0, radius=2.0, unit="km", bounds=BOX),
        PlanarLaplace(2.0, bounds=BOX),
        SphericalLaplace(2.0, bounds=([0.0] * 3, [1.0] * 3)),
        Piecewise(2.0, bounds=BOX),
        SquareWave(2.0, bounds=BOX),
        Duchi(2.0, bounds=BOX),
        Hybrid(2.0, bounds=BOX),
        PartitionResponse(2.0, bounds=BOX, n_clusters=3),
        PartitionResponse(2.0, schema=MIXED),
        PartitionResponse(2.0, partitions=PartitionResponse(1.0, bounds=BOX).make_partitions()),
        Piecewise(2.0, schema=MIXED),
    ]
    return [one.to_dict() for one in made]


def _reports(mechanism: Any) -> None:
    columns = 3 if isinstance(mechanism, SphericalLaplace) else 2
    record: Any = {"age": 30, "city": "A"}
    if mechanism.schema is None:
        record = [0.1] * getattr(mechanism, "n_features_in_", columns)
    if not hasattr(mechanism, "n_features_in_"):
        mechanism.fit([record] if mechanism.schema is None else {k: [v] for k, v in record.items()})
    encoded = mechanism.report_format().encode(mechanism.randomize(record))
    mechanism.report_format().decode(encoded)


MECHANISM_USES = (
    shows,
    _reports,
    lambda mechanism: (str(mechanism.guarantee_), mechanism._repr_html_()),
    lambda mechanism: load_mechanism(json.loads(json.dumps(mechanism.to_dict()))),
)


def _campaigns() -> list[Any]:
    plain = signed_campaign(origins=("https://example.org",)).campaign
    shuffled = shuffled_campaign().campaign
    described = signed_campaign(mechanism=PartitionResponse(1.0, schema=MIXED)).campaign
    return [one.to_dict() for one in (plain, shuffled, described)]


CAMPAIGN_USES = (
    shows,
    lambda campaign: _reports(campaign.mechanism),
    lambda campaign: (campaign.guarantee, campaign.body_bytes, campaign.mechanism_digest),
    lambda campaign: str(campaign.guarantee),
    lambda campaign: campaign.weaker_than(signed_campaign().campaign),
    signed_campaign().campaign.weaker_than,
    lambda campaign: campaign.is_open(),
    lambda campaign: Campaign.from_bytes(campaign.to_bytes()) == campaign,
)


def _envelopes() -> list[Any]:
    return [json.loads(signed_campaign().envelope)]


def _two_rounds() -> list[Any]:
    mechanism = PartitionResponse(8.0, bounds=BOX, n_clusters=2)
    begun = TwoRoundCampaign(2, mechanism=mechanism)
    reports = begun.first_mechanism.fit_transform(POINTS)
    plain = begun.to_dict()
    begun.second(reports)
    return [plain, begun.to_dict()]


def _two_rounds_from(plain: Any) -> TwoRoundCampaign:
    mechanism = load_mechanism(
        plain["mechanism"] if isinstance(plain, dict) and "mechanism" in plain else {}
    )
    return TwoRoundCampaign.from_dict(plain, mechanism=mechanism)


def _second(campaign: TwoRoundCampaign) -> None:
    campaign.to_dict()
    if campaign.second_ is not None:
        campaign.second_mechanism.randomize([0.0, 0.0])


def _partitions() -> list[Any]:
    grids = PartitionResponse(2.0, bounds=BOX, n_clusters=3).make_partitions()
    return [grids.to_dict(), _two_rounds()[1]["second"]]


# Promises
def _guarantees() -> list[Any]:
    user = PrivacyUnit.user("person", max_rows=5)
    made = [
        Guarantee("central", 1.0, 1e-6, mu=0.5, privacy_unit=user),
        Guarantee("metric", 0.5, unit="80 m"),
        Guarantee.none("none is promised"),
        amplify(Guarantee("local", 0.5), 1000, delta=1e-6),
    ]
    return [one.to_dict() for one in made]


GUARANTEE_USES = (
    shows,
    lambda one: one._repr_html_(),
    lambda one: Guarantee.from_dict(json.loads(json.dumps(one.to_dict()))),
    lambda one: one.to_local(2.0) if one.notion == "metric" else one.to_local(),
    lambda one: one.to_gdp(),
    lambda one: one.to_approximate(0.1),
    lambda one: one.for_group(3),
    lambda one: one.to_substitute(),
    lambda one: one.to_privacy_unit(PrivacyUnit()),
)


# Releases
SEEDED: dict[str, Any] = {"random_state": 0}
SOME: dict[str, Any] = {"epsilon": 0.5, **SEEDED}


def small_clusters() -> Release:
    """Return a release that is fitted in no time."""
    return DPKMeans(2, bounds=BOX, **SOME).fit(POINTS).release_


def _noise() -> Any:
    return Laplace(epsilon=40.0, bounds=BOX, **SEEDED)


MODELS: tuple[Callable[[], Any], ...] = (
    lambda: DPKMeans(2, bounds=BOX, column_weights=[1.0, 7.0], **SOME).fit(POINTS),
    lambda: DPKMeans(2, metric="cosine", **SOME).fit(POINTS),
    lambda: DPKMeans(2, schema=SCHEMA, **SOME).fit(TABLE),
    lambda: DPKMeans(2, schema=PLACES, **SOME).fit(AT_HOME),
    lambda: DPKMeans(2, bounds=([-3.0] * 20, [3.0] * 20), **SOME).fit(np.hstack([POINTS] * 10)),
    lambda: DPDensity(bounds=BOX, **SOME).fit(POINTS),
    lambda: DPDensity(bounds=(-3.0, 3.0), **SOME).fit(POINTS[:, :1]),
    lambda: DPDensity(bounds=([-3.0] * 3, [3.0] * 3), **SOME).fit(np.hstack([POINTS] * 2)[:, :3]),
    lambda: DPDensity(schema=NUMBERS, **SOME).fit(OF_CITIES),
    lambda: DPDensity(schema=MIXED, **SOME).fit(OF_CITIES),
    lambda: DPDensity(schema=PLACES, **SOME).fit(AT_HOME),
    lambda: DPWaveCluster(bounds=BOX, epsilon=5.0, grid=8, **SEEDED).fit(POINTS),
    lambda: NoiseAwareKMeans(2, mechanism=_noise(), **SEEDED).fit(_noise().fit_transform(POINTS)),
    lambda: NoiseAwareDensity(mechanism=_noise(), **SEEDED).fit(_noise().fit_transform(POINTS)),
)


def _clusters() -> Iterator[Any]:
    yield plain_release(small_clusters())
    yield from (plain_release(fit().release_) for fit in MODELS)
    yield _boxes()


def _other_releases() -> list[Any]:
    clusters = Release.from_json(json.dumps(plain_release(MODELS[2]().release_)))
    template = Schema([Number("age"), Category("city")])
    learned = learn_schema(TABLE, template, epsilon=5.0, delta=1e-6, random_state=0)
    copy = PrivateCopy(bounds=BOX, random_state=0).fit(POINTS)
    profile = ClusterProfile(clusters, random_state=0).fit(TABLE)
    return [plain_release(one.release_) for one in (learned, copy, profile)]


def _boxes() -> Any:
    """Return a release of few boxes, which only much larger tables have otherwise."""
    outer = Window(2, np.array([0, 0]), np.array([4, 4]), -1)
    inner = Window(3, np.array([2, 2]), np.array([4, 6]), 0)
    windows, own = [outer, inner], _own_cells([outer, inner])
    low, high = _corners(windows, own)
    counts = np.arange(len(low)) ** 2
    model = DPDensity(bounds=BOX, epsilon=0.5, random_state=0).fit(POINTS)
    model._noisy = (CrowdedCells(windows, own, low, high, counts, 4.0),)
    model._find_clusters(None)
    return plain_release(model.release_)


def plain_release(release: Release) -> Any:
    """Return a release as a document; of a seed, as the same numbers without one would be."""
    plain = json.loads(release.to_json())
    plain["guarantee"]["seeded"] = False
    return plain


def _records(clusters: Any) -> Any:
    """Return records that the document is of, as far as it says."""
    if clusters.schema is not None:
        return TABLE if "note" in clusters.schema.all_columns else {**OF_CITIES, **AT_HOME}
    columns = clusters.release.values.get("columns")
    width = np.shape(clusters.release.values.get("low"))
    points = np.resize(POINTS, (20, width[0] if width else 2))
    return dict(zip(columns, points.T, strict=True)) if columns else points


RELEASE_USES = (
    shows,
    lambda release: release._repr_html_(),
    lambda release: Release.from_json(release.to_json()),
)
CLUSTER_USES = (
    shows,
    lambda clusters: str(clusters.release),
    lambda clusters: clusters._repr_html_(),
    lambda clusters: (clusters.n_clusters, clusters.schema, str(clusters.guarantee)),
    lambda clusters: clusters.predict(_records(clusters)),
    lambda clusters: clusters.transform(_records(clusters)),
    lambda clusters: clusters.to_frame(),
    lambda clusters: clusters.to_geojson(),
    lambda clusters: clusters.plot(),
    lambda clusters: DPDensity.from_release(clusters.release),
    lambda clusters: ClusterProfile(clusters.release, schema=clusters.schema).fit(TABLE),
)


# Ledgers
def _ledgers() -> list[Any]:
    """Return the content of lines, without what chains them."""
    limits = {"shoal_ledger": 1, **Ledger(epsilon=5.0, delta=1e-6)._limits.to_dict()}
    ledger = Ledger(epsilon=5.0, delta=1e-6, table="people", who="x")
    ledger.spend(PureEvent(epsilon=0.5, purpose="counts"))
    ledger.spend(GDPEvent(mu=0.1, purpose="sums"))
    ledger.spend(Composed(events=[Repeated(event=PureEvent(epsilon=0.01), times=3)]))
    return [[limits, *(entry.to_dict() for entry in ledger.entries)]]


def _chained(lines: Any, folder: Path) -> Any:
    """Write lines as a ledger whose hashes are right, and open it."""
    path = folder / "people.ledger"
    head, written = Head(), b""
    for content in lines if isinstance(lines, list) else [lines]:
        try:
            line, head = head.after(content if isinstance(content, dict) else {"x": content})
        except ValueError:  # what no file of JSON can hold
            raise ParameterError("not writable") from None
        written += line
    path.write_bytes(written)
    Path(f"{path}.head").write_text(head.to_json())
    return Ledger(path)


LEDGER_USES = (
    shows,
    lambda ledger: (ledger._repr_html_(), ledger.spent, ledger.remaining, ledger.entries),
    lambda ledger: [entry.price for entry in ledger.entries],
    lambda ledger: ledger.spend(PureEvent(epsilon=0.1)),
)


def kinds(folder: Path) -> list[Kind]:
    """Return all kinds, with a folder for files."""
    return [
        Kind("schema", lambda: [SCHEMA.to_dict()], Schema.from_dict, SCHEMA_USES),
        Kind(
            "schema file",
            lambda: [SCHEMA.to_dict()],
            from_file(folder, Schema.load),
            SCHEMA_USES,
            text=True,
        ),
        Kind(
            "table schema",
            _frictionless,
            lambda plain: Schema.from_dict(import_table_schema(plain)),
            SCHEMA_USES,
        ),
        Kind("mechanism", _mechanisms, load_mechanism, MECHANISM_USES),
        Kind(
            "mechanism file",
            _mechanisms,
            from_file(folder, load_mechanism),
            MECHANISM_USES,
            text=True,
        ),
        Kind("campaign", _campaigns, Campaign.from_dict, CAMPAIGN_USES),
        Kind("campaign file", _campaigns, Campaign.from_bytes, CAMPAIGN_USES, text=True),
        Kind(
            "envelope",
            _envelopes,
            lambda text: open_campaign(text, KEY.public).campaign,
            CAMPAIGN_USES,
            text=True,
        ),
        Kind("two rounds", _two_rounds, _two_rounds_from, (shows, _second)),
        Kind(
            "partitions",
            _partitions,
            Partitions.from_dict,
            (shows, lambda one: one.color_table(np.zeros((1, one.columns)))),
        ),
        Kind("guarantee", _guarantees, Guarantee.from_dict, GUARANTEE_USES),
        Kind("ledger", _ledgers, lambda lines: _chained(lines, folder), LEDGER_USES),
        Kind("release", _other_releases, from_file(folder, Release.load), RELEASE_USES, text=True),
        Kind("clusters", _clusters, from_file(folder, load_release), CLUSTER_USES, text=True),
    ]
