# %% [markdown]
"""
Private topics of embeddings
============================

Each record is the vector of a message that somebody wrote; topics are published, and no vector is.
You learn how to cluster embeddings by direction, without bounds, and how to name each topic by the
public words nearest to its center, which costs nothing.
"""

# %%
import numpy as np

from shoal import DPKMeans
from shoal.plotting import draw_release

TOPICS = {
    "food": "apple bread cheese soup rice honey",
    "travel": "train ticket harbor luggage hotel border",
    "sport": "goal referee sprint stadium coach relay",
    "health": "doctor fever vaccine nurse clinic pulse",
    "money": "bank loan salary budget invoice tax",
    "music": "piano melody drummer chorus violin tempo",
    "garden": "tulip soil rake hedge compost seedling",
    "weather": "storm drizzle frost humid breeze thunder",
}
COLUMNS = 50
rng = np.random.default_rng(0)  # of the made-up vectors, not of the noise
directions = rng.normal(size=(len(TOPICS), COLUMNS))
words = np.array([word for names in TOPICS.values() for word in names.split()])
vocabulary = np.repeat(directions, 6, axis=0) + rng.normal(0.0, 0.5, (len(words), COLUMNS))
messages = vocabulary[rng.integers(len(words), size=20_000)]
messages += rng.normal(0.0, 0.5, messages.shape)

# %% [markdown]
# ``metric="cosine"`` brings each record to length 1, so its size is known in public.

# %%
model = DPKMeans(len(TOPICS), epsilon=1.0, delta=1e-6, metric="cosine").fit(messages)
print(model.guarantee_)
print(f"method {model.method_}: {model.reason_}")

# %% [markdown]
# From here on only the release and public knowledge are used: the words of a language and their
# vectors. Naming the centers by them is post-processing.

# %%
public = vocabulary / np.linalg.norm(vocabulary, axis=1, keepdims=True)
nearest = np.argsort(-model.cluster_centers_ @ public.T, axis=1)[:, :3]
names = [", ".join(words[one]) for one in nearest]
for size, name in sorted(zip(model.cluster_sizes_, names, strict=True), reverse=True):
    print(f"about {size:,} messages like {name}")

# %% [markdown]
# The centers are turned into the plane in which they lie furthest apart.

# %%
picture = draw_release(model.release_, labels=[", ".join(words[one[:2]]) for one in nearest])
picture  # in a script: picture.save("topics.png")
