# %% [markdown]
"""
Which method suits your file?
=============================

Central, shuffled and local methods run on the same columns, each at the epsilon that gives the same
worst case. You learn to compare them on a file of your own, and what the comparison recommends. It
reads raw records, so its result is for the curator only.
"""

# %%
import tempfile
from pathlib import Path

from shoal.datasets import make_gaussians
from shoal.experiments.compare import (
    ComparedTable,
    choose_contenders,
    compare_methods,
    draw_costs,
    recommend,
)
from shoal.tables import read_table, write_table

folder = Path(tempfile.mkdtemp())
file = folder / "people.csv"  # put your own here
people = make_gaussians(600, n_clusters=4, bounds=([0.0, 50.0], [120.0, 250.0]), random_state=2)
write_table(file, ["age", "height"], people.X)

# %% [markdown]
# Columns are named by you, and bounds are public. The seed repeats the measurement; in a release it
# voids the promise.

# %%
table = ComparedTable.from_table(
    read_table(file, columns=["age", "height"]),
    file=file,
    label=None,
    bounds=([0.0, 50.0], [120.0, 250.0]),
    n_clusters=4,
)
comparison = compare_methods(
    table,
    choose_contenders(2, ["DPKMeans-grid", "DPKMeans-lloyd", "PartitionResponse"]),
    epsilons=[1.0, 4.0],
    runs=5,
    seed=0,
    store=folder,
    attacks=False,
)
for row in comparison.at(comparison.middle):
    print(f"{row.method} ({row.model}) at epsilon {row.epsilon:g}: cost {row.cost.mean:.2f}")
print(recommend(comparison))

# %% [markdown]
# Cost against the worst-case epsilon, one color per mechanism, one dash style per trust model.

# %%
picture = draw_costs(comparison)
picture  # in a script: picture.save("compare.png")
