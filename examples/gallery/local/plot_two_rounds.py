# %% [markdown]
"""
Two rounds of strict local privacy
==================================

At a small local epsilon every report says little, so it matters what is asked. You learn how the
reports of some devices decide what the others are asked, while every device still reports once and
nobody ever sees a record.
"""

# %%
import numpy as np

from shoal.mechanisms import PartitionResponse, load_mechanism
from shoal.plotting import draw_bars
from shoal.reports import TwoRoundCampaign
from shoal.schema import Category, Number, Schema

schema = Schema([
    Number("age", minimum=0, maximum=100, unit="years"),
    Number("visits", minimum=0, maximum=50),
    Category("city", ["Oslo", "Turku", "Visby"]),
])  # fmt: skip
rng = np.random.default_rng(1)  # of the made-up people, not of the noise
kind = rng.integers(2, size=4_000)
people = {
    "age": np.where(kind == 1, 70, 25) + rng.normal(0, 5, 4_000),
    "visits": np.where(kind == 1, 40, 8) + rng.normal(0, 3, 4_000),
    "city": np.where(kind == 1, "Oslo", "Visby"),
}

# %% [markdown]
# The campaign is a public document. Each device draws its round without looking at its record.

# %%
campaign = TwoRoundCampaign(2, mechanism=PartitionResponse(epsilon=1.5, schema=schema))
print(campaign.plan(4_000).advice)


def device_of(document):
    """Return what a device makes of the public document."""
    return TwoRoundCampaign.from_dict(document, mechanism=load_mechanism(document["mechanism"]))


rounds = device_of(campaign.to_dict()).draw_rounds(4_000)
first_asked, second_asked = (
    {name: column[rounds == number] for name, column in people.items()} for number in (1, 2)
)
first = device_of(campaign.to_dict()).first_mechanism.fit_transform(first_asked)

# %% [markdown]
# The server cuts the second partitions where the first reports say that people are.

# %%
campaign.second(first)
second = device_of(campaign.to_dict()).second_mechanism.fit_transform(second_asked)
model = campaign.cluster(first, second)
print(model.guarantee_)
print(f"better than points spread over the box: {model.better_than_blind_}")

# %%
released = schema.decode(model.cluster_centers_)
rows = []
for field in ("age", "visits"):
    true = [people[field][kind == one].mean() for one in (0, 1)]
    for name, means in (("true", true), ("released", released[field])):
        print(f"{field}, {name}: {np.sort(means).round(1)}")
        for cluster, mean in zip(("younger", "older"), np.sort(means), strict=True):
            rows.append({"mechanism": name, "field": f"{cluster}: {field}", "mean": mean})
picture = draw_bars(
    rows, value="mean", sets="field", value_label="mean of the cluster (years, or visits)"
)
picture  # in a script: picture.save("rounds.png")
