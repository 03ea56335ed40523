"""Devices report, a server clusters the reports, each device finds its own cluster.

Run: python examples/local_reports.py
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from shoal import Laplace
from shoal.datasets import make_gaussians

people = make_gaussians(20_000, n_clusters=4, random_state=1)

for epsilon in (2.0, 4.0, 8.0):
    device = Laplace(epsilon, bounds=people.bounds)
    reports = device.transform(people.X)  # on 20,000 devices, one record each

    # The server: reports only. Restarts cost nothing, reports are public.
    centres = KMeans(4, n_init=5, random_state=0).fit(reports).cluster_centers_

    # Back on each device: the nearest published centre of the true record, kept there.
    gaps = np.linalg.norm(people.X[:, None, :] - centres, axis=2)
    found = adjusted_rand_score(people.y, gaps.argmin(axis=1))

    print(f"\n{device.guarantee_}")
    print(f"worst case over the box: epsilon = {device.guarantee_.to_local(8**0.5).epsilon:.3g}")
    print(f"records that find their cluster (adjusted Rand index): {found:.2f}")
