# %% [markdown]
"""
Shapes in a city
================

A ring road, a crescent along a river and a square are clusters that no center describes. You learn
that ``DPDensity`` needs public bounds and an epsilon and nothing else, and that looking at its
release again, with another number of clusters or another threshold, costs nothing.
"""

# %%
import numpy as np

from shoal import DPDensity, Ledger
from shoal.plotting import draw_cluster_tree, draw_density_clusters

rng = np.random.default_rng(0)  # of the made-up places, not of the noise
turn = rng.uniform(0.0, 2 * np.pi, 6000)
ring = 0.06 * np.column_stack([np.cos(turn), np.sin(turn)])
crescent = [0.17, 0.02] + 0.05 * np.column_stack([np.cos(turn / 2), -np.sin(turn / 2)])
places = np.concatenate([ring, crescent, np.zeros((4000, 2))])
places += rng.normal([13.34, 52.5], 0.005, size=places.shape)

# %% [markdown]
# The bounds are those of the map, not of the records.

# %%
low, high = [13.2, 52.4], [13.6, 52.6]
ledger = Ledger(epsilon=1.0, who="Ann")
model = DPDensity(epsilon=1.0, bounds=(low, high), ledger=ledger).fit(places)
print(model.guarantee_)
print(f"{model.n_clusters_} clusters of about {model.cluster_sizes_.round()} records")

# %% [markdown]
# The tree of clusters can be cut anew, as often as you like: the ledger has one entry.

# %%
two = model.refine(n_clusters=2)
dense = model.refine(level=10.0)
print(f"{two.n_clusters_} where 2 are asked for, {dense.n_clusters_} above 10 records a cell")
print(ledger)

# %% [markdown]
# Clusters on the map, all from the release. ``model.outlines()`` gives them as GeoJSON.

# %%
columns = ["longitude (degrees)", "latitude (degrees)"]
picture = draw_density_clusters(model.cells_, model.density_, bounds=(low, high), columns=columns)
picture  # in a script: picture.save("shapes.png")

# %% [markdown]
# The tree behind them: where branches part, a threshold of that density would part them, too.

# %%
tree = draw_cluster_tree(
    model.cluster_tree_, nodes=model.cluster_nodes_, sizes=model.cluster_sizes_
)
tree  # in a script: tree.save("tree.png")
