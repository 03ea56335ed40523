# %% [markdown]
"""
A private copy, then any clusterer
==================================

Release a copy of the table once, then experiment with it as often as you like. You learn how to
run clusterers that know nothing of privacy, compare them and choose among them, all for the price
of one release.
"""

# %%
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier

from shoal import Ledger, PrivateCopy
from shoal.datasets import make_gaussians
from shoal.plotting import draw_scatter

data = make_gaussians(20_000, n_clusters=6, random_state=0)
ledger = Ledger(epsilon=1.0, who="Ann")
copy = PrivateCopy(epsilon=0.5, bounds=data.bounds, ledger=ledger).fit(data.X)
print(copy.guarantee_)

# %% [markdown]
# Sampling from the copy costs nothing, and neither does anything that only sees the sample.

# %%
records = copy.sample(4_000)
labels = {}
by_density = HDBSCAN(min_cluster_size=150, min_samples=20, copy=True)
for clusterer in (KMeans(6, n_init=5), by_density):
    name = type(clusterer).__name__
    labels[name] = clusterer.fit_predict(records)
    # Measured on the records themselves: for the curator's eyes only.
    found = KNeighborsClassifier(1).fit(records, labels[name]).predict(data.X)
    score = adjusted_rand_score(data.y, found)
    print(f"{name}: {labels[name].max() + 1} clusters, adjusted Rand index {score:.2f}")
print(ledger)

# %% [markdown]
# Both panels show released points. A picture with raw records in it would stay with the curator.

# %%
columns = ["x (units of the box)", "y (units of the box)"]
sets = dict.fromkeys(labels, records)
picture = draw_scatter(sets, labels=labels, columns=columns, records=False)
picture  # in a script: picture.save("copy.png")
