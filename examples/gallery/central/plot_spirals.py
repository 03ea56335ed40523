# %% [markdown]
"""
Spirals with WaveCluster
========================

Three spirals wind around each other, and k-means cuts across all of them. You learn what private
WaveCluster releases, how it compares with the same method without privacy, and how to try other
thresholds on the release at no cost.
"""

# %%
from sklearn.metrics import adjusted_rand_score

from shoal import DPKMeans, DPWaveCluster
from shoal.datasets import make_spirals
from shoal.plotting import draw_thresholds

data = make_spirals(30_000, random_state=0)


def agreement(model):
    """Return how well clusters agree with the true arms; for the curator only."""
    return adjusted_rand_score(data.y, model.labels_)


# %% [markdown]
# The grid is public. Epsilon pays for noise on the values of its average band.

# %%
round_clusters = DPKMeans(3, epsilon=0.5, bounds=data.bounds).fit(data.X)
print(f"k-means at epsilon 0.5: adjusted Rand index {agreement(round_clusters):.2f}")
for epsilon in (0.1, 0.5, float("inf")):
    model = DPWaveCluster(epsilon=epsilon, bounds=data.bounds, grid=64, threshold=0.4).fit(data.X)
    print(f"{model.n_clusters_} clusters, adjusted Rand index {agreement(model):.2f}")
    print(f"    {model.guarantee_}")

# %% [markdown]
# On the left the noisy cells, on the right the clusters that other thresholds would give: both are
# post-processing of one release.

# %%
private = DPWaveCluster(epsilon=0.5, bounds=data.bounds, grid=64, threshold=0.4).fit(data.X)
picture = draw_thresholds(private.release_)
picture  # in a script: picture.save("thresholds.png")
