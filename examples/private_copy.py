"""A private copy of a table: released once, then experimented with as often as you like.

Run it with `python examples/private_copy.py`; it needs the extra `plot`.
"""

from pathlib import Path
from tempfile import mkdtemp

from sklearn.cluster import KMeans

from shoal import Ledger, PrivateCopy
from shoal.datasets import make_gaussians
from shoal.metrics import cost_ratio
from shoal.plotting import draw_scatter

data = make_gaussians(20_000, n_clusters=6, random_state=0)

ledger = Ledger(epsilon=1.0)
copy = PrivateCopy(epsilon=0.5, bounds=data.bounds, ledger=ledger).fit(data.X)
records = copy.sample()  # as often as you like: this costs nothing
print(copy.guarantee_)
print(ledger)

centers = KMeans(6, n_init=5, random_state=0).fit(records).cluster_centers_
print(f"k-means of the copy costs {cost_ratio(data.X, centers):.2f} times that of the records")

# The left panel shows raw records: such a picture stays with the curator, and is a PNG only.
path = Path(mkdtemp()) / "copy.png"
draw_scatter(
    {"records": data.X, "private copy": records}, centers={"private copy": centers}, path=path
)
print(f"picture for the curator: {path.name}")

# What was released may leave, as a page that needs nothing else.
released = {"private copy": records}
path = Path(mkdtemp()) / "copy.html"
draw_scatter(released, centers={"private copy": centers}, records=False, path=path)
print(f"picture for all: {path.name}")
