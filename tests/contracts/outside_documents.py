"""Documents that come from outside, of every kind: a valid one, its reader, and all its uses."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from contracts.outside_kinds import BOX, MIXED, POINTS, SCHEMA, TABLE, Kind, from_file, shows
from contracts.outside_releases import CLUSTER_USES, RELEASE_USES, clusters, other_releases
from helpers.campaigns import KEY, shuffled_campaign, signed_campaign
from shoal.campaigns import Campaign, open_campaign
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
from shoal.reports import TwoRoundCampaign, load_release
from shoal.schema import (
    Schema,
    import_table_schema,
)

__all__ = ["LEDGER_USES", "kinds"]


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
        Kind("release", other_releases, from_file(folder, Release.load), RELEASE_USES, text=True),
        Kind("clusters", clusters, from_file(folder, load_release), CLUSTER_USES, text=True),
    ]
