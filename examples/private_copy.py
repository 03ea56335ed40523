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

# The left panel shows raw records: such a picture stays with the curator.
picture = draw_scatter(
    Path(mkdtemp()) / "copy.html",
    {"records": data.X, "private copy": records},
    centers={"private copy": centers},
)
print(f"picture, in Plotly: {picture.name}")
