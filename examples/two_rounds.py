"""Mixed records in two rounds: the reports of some devices say what the others are asked.

Run: python examples/two_rounds.py
"""

import json

import numpy as np

from shoal.mechanisms import PartitionResponse, load_mechanism
from shoal.reports import TwoRoundCampaign
from shoal.schema import Category, Number, Schema

schema = Schema(
    [
        Number("age", minimum=0, maximum=100),
        Number("visits", minimum=0, maximum=50),
        Category("city", ["Oslo", "Turku", "Visby"]),
    ]
)
rng = np.random.default_rng(1)
kind = rng.integers(2, size=4_000)
people = {
    "age": np.where(kind == 1, 70, 25) + rng.normal(0, 5, 4_000),
    "visits": np.where(kind == 1, 40, 8) + rng.normal(0, 3, 4_000),
    "city": np.where(rng.random(4_000) < 0.1, None, np.where(kind == 1, "Oslo", "Visby")),
}

# The server: everything here is public, and goes to devices as a document.
campaign = TwoRoundCampaign(2, mechanism=PartitionResponse(epsilon=1.5, schema=schema))
print(campaign.plan(4_000).advice)
document = json.loads(json.dumps(campaign.to_dict()))

# Each device draws its round without looking at its record, and reports once.
device = TwoRoundCampaign.from_dict(document, mechanism=load_mechanism(document["mechanism"]))
rounds = device.draw_rounds(4_000)
asked = [{name: column[rounds == r] for name, column in people.items()} for r in (1, 2)]
first = device.first_mechanism.fit_transform(asked[0])

# The server makes the second partitions of the first reports alone, and publishes them.
campaign.second(first)
document = json.loads(json.dumps(campaign.to_dict()))
device = TwoRoundCampaign.from_dict(document, mechanism=load_mechanism(document["mechanism"]))
second = device.second_mechanism.fit_transform(asked[1])

model = campaign.cluster(first, second, random_state=0)
centers = schema.decode(model.cluster_centers_)
print(f"{model.guarantee_}")
print(f"better than points spread over the box: {model.better_than_blind_}")
for age, visits in sorted(zip(centers["age"], centers["visits"], strict=True)):
    print(f"a cluster at age {age:.0f}, {visits:.0f} visits")
