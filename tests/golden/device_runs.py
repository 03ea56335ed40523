"""What leaves a device and what it follows: bodies of reports, documents of campaigns, results.

Every byte counts: clients in other languages write and read the same ones.
"""

import base64
import json
from datetime import UTC, datetime

import numpy as np
from sklearn.base import clone

from golden.seams import with_known_entropy
from golden.table import clusters, run
from shoal.campaigns import (
    Campaign,
    SealingKey,
    Shuffler,
    SigningKey,
    open_campaign,
    sign_campaign,
)
from shoal.client import Device
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
from shoal.schema import Category, Date, Flag, Number, Ordinal, Place, Schema

KEY = SigningKey(bytes(range(32)))
SEALING_KEY = SealingKey(bytes(range(32, 64)))
SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120),
        Number("income", minimum=1, maximum=1e6, scale="log", missing="fill", fill=1000),
        Category("city", ["A", "B", "C"], weight=2.0),
        Flag("member"),
        Date("joined", minimum="2010-01-01", maximum="2026-12-31"),
        Ordinal("grade", ["low", "mid", "high"]),
        Place("home", longitude="lon", latitude="lat", center=(24.9, 60.2), radius=50.0),
    ]
)
PEOPLE = [
    {
        "age": 35.5,
        "income": 3200.0,
        "city": "B",
        "member": True,
        "joined": "2019-05-06",
        "grade": "mid",
        "lon": 25.1,
        "lat": 60.3,
    },
    {
        "age": None,
        "income": None,
        "city": "elsewhere",
        "member": None,
        "joined": None,
        "grade": None,
        "lon": None,
        "lat": None,
    },
]


def square(columns):
    return ([0.0] * columns, [1.0] * columns)


# Every family of mechanisms whose reports have a wire format; each with its number of columns.
FAMILIES = {
    "partition": (PartitionResponse(1.0, bounds=square(2)), 2),
    "partition, wide": (PartitionResponse(3.0, bounds=square(7), n_clusters=5), 7),
    "piecewise": (Piecewise(2.0, bounds=square(2)), 2),
    "piecewise, sampled": (Piecewise(2.0, bounds=square(3), columns="sample"), 3),
    "hybrid": (Hybrid(2.0, bounds=square(2)), 2),
    "hybrid, sampled": (Hybrid(2.0, bounds=square(3), columns="sample"), 3),
    "duchi": (Duchi(2.0, bounds=square(3)), 3),
    "square wave": (SquareWave(2.0, bounds=([-1.0, -2.0], [1.0, 3.0])), 2),
    "laplace": (Laplace(2.0, bounds=square(2)), 2),
    "laplace, wide": (Laplace(2.0, bounds=square(4)), 4),
    "laplace, truncated": (Laplace(2.0, bounds=square(2), truncate="resample"), 2),
    "planar": (PlanarLaplace(2.0, bounds=square(2)), 2),
    "spherical": (SphericalLaplace(2.0, bounds=square(3)), 3),
}
MIXED = {
    "partition": PartitionResponse(2.0, schema=SCHEMA),
    "piecewise": Piecewise(2.0, schema=SCHEMA),
    "piecewise, sampled": Piecewise(2.0, schema=SCHEMA, columns="sample"),
    "square wave": SquareWave(2.0, schema=SCHEMA),
}


def campaign(mechanism, **changed):
    """Return a campaign with fixed addresses and a fixed end."""
    url = "https://example.org/v1/campaigns/homes"
    return Campaign(
        **{
            "id": "homes",
            "title": "Where people live",
            "purpose": "Plan bus lines.",
            "mechanism": mechanism,
            "closes": datetime(2130, 1, 1, tzinfo=UTC),
            "reports_url": f"{url}/reports",
            "results_url": f"{url}/results",
            "reports_per_device": 9,
            **changed,
        }
    )


def bodies(mechanism, records):
    """Return the bytes that a device draws for each record, from a known entropy."""

    def draw():
        device = Device("device.db", public_key=KEY.public, epsilon_limit=None)
        device.join_envelope(sign_campaign(campaign(mechanism), KEY))
        return [device.draw(record).report for record in records]

    return with_known_entropy(draw)


def device_run(name, mechanism, records):
    """Add a run of a device that reports some records."""

    @run(f"device-{name.replace(', ', '-').replace(' ', '-')}")
    def report(note):
        found = bodies(mechanism, records)
        note("bodies", found)
        note("read", [mechanism.decode(body) for body in found])
        note("format", mechanism.report_format().to_dict())


for name, (mechanism, columns) in FAMILIES.items():
    device_run(name, mechanism, np.round(clusters(6, columns), 3))
for name, mechanism in MIXED.items():
    device_run(f"schema {name}", mechanism, PEOPLE)


@run("device-encodings")
def encodings(note):
    """Bytes of many reports at once, and what is read from them."""
    for name, (given, columns) in FAMILIES.items():
        mechanism = clone(given).set_params(random_state=3)
        reports = mechanism.fit_transform(clusters(50, columns))
        encoded = mechanism.encode(reports)
        note(f"{name}, bytes", encoded)
        note(f"{name}, read", mechanism.decode(encoded))
        note(f"{name}, document", mechanism.to_dict())
        again = load_mechanism(json.loads(json.dumps(mechanism.to_dict())))
        note(f"{name}, read by a server", again.decode(encoded))


@run("campaign-documents")
def documents(note):
    """Signed documents: their exact bytes, and what they say."""
    shuffler = Shuffler("the university of X", 100, str(SEALING_KEY.public))
    for name, changed in {
        "plain": {},
        "revised": {"revision": 3, "title": "Homes"},
        "open": {"open_intake": True, "origins": ("https://a.example", "https://b.example")},
        "devices": {"device_ids": True, "unit": "person", "reports_per_device": 3},
        "shuffled": {"shuffler": shuffler},
        "schema": {"mechanism": PartitionResponse(2.0, schema=SCHEMA)},
        **{name: {"mechanism": mechanism} for name, (mechanism, _) in FAMILIES.items()},
    }.items():
        written = campaign(**{"mechanism": PartitionResponse(1.0, bounds=square(2)), **changed})
        envelope = sign_campaign(written, KEY)
        note(f"{name}, bytes", envelope)
        note(f"{name}, payload", json.loads(base64.b64decode(json.loads(envelope)["payload"])))
        signed = open_campaign(envelope, KEY.public)
        note(f"{name}, digest", signed.digest.encode())
        note(f"{name}, guarantee", signed.campaign.guarantee)


@run("campaign-keys")
def keys(note):
    note("signing", str(KEY.public).encode())
    note("sealing", str(SEALING_KEY.public).encode())
