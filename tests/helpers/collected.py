"""Reports in a collector's store, for tests of what is made of them."""

import numpy as np

from helpers.campaigns import signed_campaign
from shoal.campaigns import SignedCampaign
from shoal.collector.store import Store, Submission
from shoal.mechanisms import Laplace, PartitionResponse, load_mechanism
from shoal.schema import Number, Schema

SQUARE = ([0.0, 0.0], [1.0, 1.0])
AGES = Schema([Number("age", minimum=0, maximum=120, missing="refuse")])
MECHANISMS = {
    "partitions": PartitionResponse(6.0, bounds=SQUARE),
    "laplace": Laplace(30.0, bounds=SQUARE),
    "schema": Laplace(20.0, schema=AGES),
}


def two_groups(mechanism, count: int):
    """Return records around two points that a mechanism takes."""
    rng = np.random.default_rng(0)
    line = rng.choice([0.2, 0.8], count) + rng.uniform(-0.1, 0.1, count)
    return {"age": 120 * line} if mechanism.schema is not None else line[:, None] * np.ones(2)


def collect(store: Store, name: str, kind: str, count: int = 300, **changed) -> SignedCampaign:
    """Add a campaign and reports of it, in submissions of one to three."""
    mechanism = MECHANISMS[kind]
    signed = signed_campaign(name, mechanism=mechanism, **changed)
    store.add_campaign(signed)
    append(store, signed, count)
    return signed


def append(store: Store, signed: SignedCampaign, count: int, first: int = 0) -> None:
    """Store more reports of a campaign, drawn from a seed; keys begin with a number."""
    mechanism = load_mechanism(signed.campaign.mechanism.to_dict()).set_params(random_state=first)
    reports = np.asarray(mechanism.fit_transform(two_groups(mechanism, count)))
    parts = np.split(reports, np.arange(1, count, 2))
    store.append(
        [
            Submission(
                signed.campaign.id,
                f"report-{first + number:09}".encode(),
                signed.campaign.report_format.encode(part),
                len(part),
            )
            for number, part in enumerate(parts)
        ]
    )
