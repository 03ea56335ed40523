# %% [markdown]
"""
Who was in the table?
=====================

An attacker knows 60 people and wants to know which half of them was clustered. You learn to run
that attack on plain k-means and on a private release, and to read it beside the ceiling that
epsilon puts on every attack.
"""

# %%
import numpy as np
from sklearn.cluster import KMeans

from shoal import DPKMeans, attack_centers
from shoal.audit import advantage_ceiling
from shoal.plotting import draw_roc

EPSILON = 1.0
people = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 2))  # made up
targets = {
    "KMeans": KMeans(8, n_init=1),
    "DPKMeans": DPKMeans(8, epsilon=EPSILON, bounds=(-1.0, 1.0)),
}

# %% [markdown]
# Few records and many clusters: on k-means without privacy the attack works. The attacker learns
# from releases of their own, with the same estimator.

# %%
results = {name: attack_centers(one, people, runs=10, shadows=16) for name, one in targets.items()}
for name, result in results.items():
    print(f"{name}: {result}")

# %% [markdown]
# No attack on the release can do better than the promise allows, whatever the attacker knows.

# %%
guarantee = targets["DPKMeans"].fit(people).guarantee_
print(guarantee)
print(f"right in at most {50 + 50 * advantage_ceiling(guarantee):.0f} of 100 guesses")

# %% [markdown]
# Members found against non-members accused, on plain and on logarithmic axes; gray is what epsilon
# rules out. The left end of a curve is a handful of guesses, and may stray by chance.

# %%
picture = draw_roc({name: result.roc for name, result in results.items()}, epsilon=EPSILON)
picture  # in a script: picture.save("attack.png")
