# %% [markdown]
"""
What a shuffler adds
====================

A shuffler mixes the reports of many devices, so that each hides among the others. You learn what a
local epsilon becomes in a batch, what has to be trusted for it, and what is left if that trust
is misplaced.
"""

# %%
from shoal import Guarantee, Ledger, NoiseAwareKMeans, PartitionResponse
from shoal.datasets import make_gaussians
from shoal.plotting import draw_lines
from shoal.privacy import ShuffledEvent, amplify

people = make_gaussians(20_000, n_clusters=4, random_state=1)
device = PartitionResponse(epsilon=4.0, bounds=people.bounds, n_clusters=4)
reports = device.fit_transform(people.X)  # on the devices; then a shuffler mixes them
model = NoiseAwareKMeans(4, mechanism=device).fit(reports)
print(model.cluster_centers_.round(2))

# %% [markdown]
# The analyst gets a multiset of 20,000 reports. The sentence names what the promise rests on.

# %%
promise = device.shuffled(n=20_000, delta=1e-6)
print(promise)
ledger = Ledger(epsilon=1.0, delta=1e-5, who="Ann")  # of what the analyst may learn
ledger.spend(ShuffledEvent.of(promise, purpose="homes"))
print(ledger)

# %% [markdown]
# The same for any local mechanism: epsilon of the batch against epsilon of a report.

# %%
rows = [
    {
        "mechanism": f"{n:,} devices",
        "local": local,
        "batch": amplify(Guarantee("local", epsilon=local), n=n, delta=1e-6).epsilon,
    }
    for n in (1_000, 10_000, 100_000)
    for local in (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
]
picture = draw_lines(
    rows,
    x="local",
    y="batch",
    log_x=True,
    log_y=True,
    x_label="epsilon of a report (whoever is trusted)",
    y_label="epsilon of the batch (delta = 1e-6)",
    height=300,
)
picture  # in a script: picture.save("batch.png")
