"""Three spirals that k-means cannot find: private WaveCluster, and a picture from its release.

Run: python examples/spirals.py
"""

from pathlib import Path
from tempfile import mkdtemp

from shoal import DPWaveCluster
from shoal.datasets import make_spirals
from shoal.plotting import draw_thresholds

data = make_spirals(30_000, random_state=0)

for epsilon in (0.1, 0.5, float("inf")):
    model = DPWaveCluster(epsilon=epsilon, bounds=data.bounds, grid=64, threshold=0.4).fit(data.X)
    print(f"\n{model.guarantee_}")
    print(f"{model.n_clusters_} clusters, {model.n_significant_} significant cells")

private = DPWaveCluster(epsilon=0.5, bounds=data.bounds, grid=64, threshold=0.4).fit(data.X)
path = Path(mkdtemp()) / "thresholds.png"
draw_thresholds(private.release_, path=path)
print(f"\nepsilon = 0.5, other thresholds: {path}")
