"""Devices report, a server clusters the reports, each device finds its own cluster.

Run: python examples/local_reports.py
"""

from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from shoal import Laplace, NoiseAwareKMeans, label_on_device
from shoal.datasets import make_gaussians

people = make_gaussians(2_000, n_clusters=4, random_state=1)

for epsilon in (2.0, 4.0):
    device = Laplace(epsilon, bounds=people.bounds)
    reports = device.fit_transform(people.X)  # on 2,000 devices, one record each

    # The server: reports only, so whatever it does costs nothing more.
    plain = KMeans(4, n_init=5, random_state=0).fit(reports)
    aware = NoiseAwareKMeans(4, mechanism=device, random_state=0).fit(reports)

    print(f"\n{device.guarantee_}")
    print(f"worst case over the box: epsilon = {device.guarantee_.to_local(8**0.5).epsilon:.3g}")
    # Back on each device: the nearest published center of the true record, kept there.
    ours = label_on_device(aware.release_, people.X)
    theirs = label_on_device(plain.cluster_centers_, people.X, metric="euclidean")
    for name, labels in (("k-means", theirs), ("noise-aware", ours)):
        found = adjusted_rand_score(people.y, labels)
        print(f"records that find their cluster, {name}: {found:.2f} (adjusted Rand index)")
