"""A curator publishes the centers of generated records, twice, until the ledger says stop.

Run: python examples/central_kmeans.py
"""

from shoal import DPKMeans, Ledger
from shoal.datasets import make_gaussians
from shoal.exceptions import BudgetExceededError
from shoal.metrics import cost_ratio

data = make_gaussians(20_000, n_clusters=4, random_state=1)
ledger = Ledger(epsilon=1.0)

for epsilon in (0.3, 0.6, 0.3):
    model = DPKMeans(4, epsilon=epsilon, bounds=data.bounds, ledger=ledger)
    try:
        model.fit(data.X)
    except BudgetExceededError as refused:
        print(f"\nrefused: {refused}")
        continue
    print(f"\n{model.guarantee_}")
    print(f"centers:\n{model.cluster_centers_.round(2)}")
    print(f"sizes: {model.cluster_sizes_}")
    # Measured on the records themselves: for the curator's eyes only.
    print(f"cost over plain k-means: {cost_ratio(data.X, model.cluster_centers_):.2f}")

print(f"\n{ledger}")
