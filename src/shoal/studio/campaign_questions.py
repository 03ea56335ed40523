"""What a campaign asks, as pages send it, and the document that follows from it."""

from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from shoal._build import LOCAL, build_estimator
from shoal._registry import METHODS
from shoal.campaigns import Campaign, closing_time, collector_addresses, name_columns
from shoal.exceptions import ParameterError, ShoalError
from shoal.mechanisms import Mechanism
from shoal.reports import ANALYSES, check_analysis
from shoal.schema import Number, Schema

__all__ = [
    "AskedCampaign",
    "build_campaign",
    "campaign_schema",
    "fitting_analyses",
    "fitting_mechanisms",
]

PARTITION = "PartitionResponse"
MAX_COLUMNS = 64
SUMMARIES = {method.class_name: method.summary for method in METHODS}


class AskedColumn(BaseModel):
    """A number that devices are asked for, with its public bounds."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=100)
    minimum: float
    maximum: float


class AskedCampaign(BaseModel):
    """A campaign as somebody describes it on the page."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(max_length=64)
    title: str = Field(max_length=500)
    purpose: str = Field(max_length=2000)
    table: str = ""  # whose schema is asked for; empty takes the columns
    columns: list[AskedColumn] = Field(default=[], max_length=MAX_COLUMNS)
    mechanism: str = PARTITION
    epsilon: float
    clusters: int = Field(default=5, ge=1, le=1000)
    reports_per_device: int = Field(default=1, ge=1, le=1_000_000)
    unit: str = "device"
    closes: str
    url: str = Field(max_length=500)
    origins: list[str] = Field(default=[], max_length=100)
    open_intake: bool = False
    signing_key: str = Field(default="", max_length=4000)  # of an earlier campaign, as PEM


def build_campaign(asked: AskedCampaign, schema: Schema | None) -> Campaign:
    """Return the document of a campaign; `schema` is that of a table, None takes the columns."""
    addresses = collector_addresses(asked.url, asked.id)
    return Campaign(
        id=asked.id,
        title=asked.title,
        purpose=asked.purpose,
        mechanism=_mechanism(asked, schema, asked.mechanism),
        closes=closing_time(asked.closes),
        unit=asked.unit,
        reports_per_device=asked.reports_per_device,
        origins=tuple(asked.origins),
        open_intake=asked.open_intake,
        reports_url=addresses["reports_url"],
        results_url=addresses["results_url"],
    )


def fitting_mechanisms(asked: AskedCampaign, schema: Schema | None) -> list[dict[str, Any]]:
    """Return which mechanisms can report such records, and which analyses take their reports."""
    fitting = []
    for name in sorted(LOCAL, key=lambda name: (name != PARTITION, name)):
        try:
            mechanism = _mechanism(asked, schema, name)
            width = mechanism.report_format().width
        except (ShoalError, AttributeError):
            continue
        if analyses := fitting_analyses(mechanism):
            fitting.append(
                {
                    "name": name,
                    "summary": SUMMARIES[name],
                    "notion": mechanism.guarantee_.notion,
                    "bytes": width,
                    "analyses": analyses,
                }
            )
    return fitting


def fitting_analyses(mechanism: Mechanism) -> list[str]:
    """Return the analyses that take reports of a mechanism."""
    return [method for method in ANALYSES if _takes(method, mechanism)]


def campaign_schema(mechanism: Mechanism) -> Schema:
    """Return the schema of the records that a mechanism reports."""
    if mechanism.schema is not None:
        return mechanism.schema
    plain = mechanism.to_dict()
    low, high = plain["parameters"]["bounds"]
    names = plain["names"] or [f"number {i}" for i in range(1, len(low) + 1)]
    return Schema(
        [
            Number(name, minimum=minimum, maximum=maximum, missing="refuse")
            for name, minimum, maximum in zip(names, low, high, strict=True)
        ]
    )


def _mechanism(asked: AskedCampaign, schema: Schema | None, kind: str) -> Mechanism:
    kwargs: dict[str, Any] = {"n_clusters": asked.clusters} if kind == PARTITION else {}
    if kind not in LOCAL or kind == "KdLaplace":
        raise ParameterError(f"mechanism must be one whose reports can be sent, got {kind!r}")
    if schema is not None:
        kwargs["schema"] = schema
        return cast("Mechanism", build_estimator(kind, epsilon=asked.epsilon, kwargs=kwargs))
    if not asked.columns:
        raise ParameterError("columns must name what is asked for, got none")
    names = [column.name for column in asked.columns]
    if len(set(names)) < len(names):
        raise ParameterError("columns must have different names, got one name twice")
    bounds = [c.minimum for c in asked.columns], [c.maximum for c in asked.columns]
    built = build_estimator(kind, epsilon=asked.epsilon, bounds=bounds, kwargs=kwargs)
    return name_columns(built, names)


def _takes(method: str, mechanism: Mechanism) -> bool:
    try:
        check_analysis(method, mechanism=mechanism)
    except ShoalError:
        return False
    return True
