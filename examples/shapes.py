"""A ring, a crescent and a spot in a city: clusters of any shape, and their outlines for a map.

Run: python examples/shapes.py
"""

import json
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

from shoal import DPDensity, Ledger

rng = np.random.default_rng(0)
turn = rng.uniform(0.0, 2 * np.pi, 6000)
ring = 0.06 * np.column_stack([np.cos(turn), np.sin(turn)])
crescent = [0.17, 0.02] + 0.05 * np.column_stack([np.cos(turn / 2), -np.sin(turn / 2)])
places = np.concatenate([ring, crescent, np.zeros((4000, 2))])
places += rng.normal([13.34, 52.5], 0.005, size=places.shape)
records = pd.DataFrame(places, columns=["lon", "lat"])

ledger = Ledger(epsilon=1.0)
bounds = ([13.2, 52.4], [13.6, 52.6])  # public: the map, not the records
model = DPDensity(epsilon=1.0, bounds=bounds, ledger=ledger).fit(records)
print(model.guarantee_)
print(f"{model.n_clusters_} clusters of about {model.cluster_sizes_.round()} records")

# Looking at the release again costs nothing.
two = model.refine(n_clusters=2)
print(f"{two.n_clusters_} where 2 are asked for; entries of the ledger: {len(ledger)}")

path = Path(mkdtemp()) / "clusters.geojson"
path.write_text(json.dumps(model.outlines()), encoding="utf-8")
print(f"outlines, for any map: {path}")
