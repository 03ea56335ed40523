# %% [markdown]
"""
Pipelines that keep the promise
===============================

A scaler or a PCA in front of a private estimator reads all records without noise, and nothing of
what it learned is covered by epsilon. You learn how ``check_pipeline`` finds such steps, what to
write in their place, and how clearly one person shows through the pipeline that everyone writes.
"""

# %%
import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shoal import DPKMeans, Number, Schema, SchemaEncoder, check_pipeline, epsilon_lower_bound
from shoal.plotting import draw_bars

wrong = make_pipeline(StandardScaler(), PCA(2), DPKMeans(3, epsilon=1.0, bounds=(-3.0, 3.0)))
schema = Schema([  # what anyone may enter, known without looking
    Number("age", minimum=0, maximum=120, missing="refuse"),
    Number("income", minimum=0, maximum=200_000, missing="refuse"),
])  # fmt: skip
right = make_pipeline(SchemaEncoder(schema), DPKMeans(3, epsilon=1.0, bounds=(0.0, 1.0)))
print(check_pipeline(wrong), check_pipeline(right), sep="\n\n")

# %% [markdown]
# Is one very rich customer in the table? The attacker knows the other 400 and looks at one number
# of the release: how far the outermost center lies from the middle of the others.

# %%
rng = np.random.default_rng(0)  # of the made-up customers, not of the noise
segment = rng.integers(0, 3, 400)
age = rng.normal(np.array([25.0, 45.0, 70.0])[segment], 6.0)
income = rng.lognormal(np.log([25_000.0, 60_000.0, 35_000.0])[segment], 0.25)
customers = np.column_stack([age, income])
with_rich_customer = np.vstack([customers, [52.0, 40_000_000.0]])

rows = []
for name, pipeline in (("scaler, PCA, DPKMeans", wrong), ("SchemaEncoder, DPKMeans", right)):

    def releases(table, samples, pipeline=pipeline):
        """Return what the attacker looks at, in many releases of one table."""
        centers = (pipeline.fit(table)[-1].cluster_centers_ for _ in range(samples))
        return np.array([np.ptp(one, axis=0).min() for one in centers])

    bound = epsilon_lower_bound(releases, customers, with_rich_customer, samples=100)
    print(f"{name}: {bound}")
    rows.append({"mechanism": name, "measured": bound.epsilon})
print(f"claimed by both: {right[-1].guarantee_}")

# %% [markdown]
# A bound above the claim proves the claim wrong; a bound of 0 proves nothing. No bound from 100
# releases can pass ln(100 / 15), which is 1.9.

# %%
picture = draw_bars(
    rows,
    value="measured",
    value_label="lower bound of epsilon (99.9% confidence)",
    reference={"claimed": 1.0},
)
picture  # in a script: picture.save("pipelines.png")
