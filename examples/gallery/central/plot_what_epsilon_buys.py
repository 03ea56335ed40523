# %% [markdown]
"""
What epsilon buys
=================

More epsilon is less privacy and better clusters: how much better depends on how many records there
are. You learn to measure the cost of privacy as a curve, and that ten times the records allow a
tenth of the epsilon.
"""

# %%
from sklearn.cluster import KMeans

from shoal import DPKMeans
from shoal.datasets import make_gaussians
from shoal.metrics import cost_ratio
from shoal.plotting import draw_lines

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0)
REPEATS = 5

# %% [markdown]
# The cost is the k-means cost of the released centers on the records, over that of k-means without
# privacy: 1 means that privacy cost nothing. It is measured on made-up records, where there is
# nobody to protect.

# %%
rows = []
for n_samples in (500, 5_000, 50_000):
    data = make_gaussians(n_samples, n_clusters=8, random_state=1)
    plain = KMeans(8, n_init=5).fit(data.X).cluster_centers_
    for epsilon in EPSILONS:
        for _ in range(REPEATS):
            model = DPKMeans(8, epsilon=epsilon, bounds=data.bounds).fit(data.X)
            cost = cost_ratio(data.X, model.cluster_centers_, reference=plain)
            rows.append({"mechanism": f"{n_samples:,} records", "epsilon": epsilon, "cost": cost})
print(model.guarantee_)

# %% [markdown]
# Bands are 95% intervals of the mean. Before you have a table, ``shoal plan`` forecasts such a
# curve from public numbers alone.

# %%
picture = draw_lines(
    rows,
    x="epsilon",
    y="cost",
    log_x=True,
    log_y=True,
    x_label="epsilon (smaller is more private)",
    y_label="cost (k-means without privacy = 1)",
)
picture  # in a script: picture.save("epsilon.png")
