"""Is the promise kept, and what does an attacker learn? Three answers in a few seconds.

Run it with `python examples/audit_and_attack.py`.
"""

import numpy as np
from sklearn.cluster import KMeans

from shoal import DPKMeans, PlanarLaplace, attack_centers, audit_mechanism, replay_estimator
from shoal.audit import advantage_ceiling

BOX = (-1.0, 1.0)

# A replay fits neighboring tables with the same noisy values, and adds up what one record costs.
model = DPKMeans(4, epsilon=1.0, bounds=BOX)
print(replay_estimator(model))

# Sampling looks at the reports themselves, for the two records that show most.
print(audit_mechanism(PlanarLaplace(2.0, bounds=BOX), samples=20_000))

# An attacker knows all 60 records, but not which half of them was clustered.
X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 2))
for name, target in (("without privacy", KMeans(4, n_init=1)), ("epsilon 1", model)):
    print(f"{name}: {attack_centers(target, X, runs=10, shadows=16)}")
ceiling = advantage_ceiling(model.fit(X).guarantee_)
print(f"no attacker on a release of epsilon 1 is right more often than {50 + 50 * ceiling:.0f}")
