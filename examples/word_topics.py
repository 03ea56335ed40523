"""Private topics of word embeddings: what the vectors are about is published, no vector is.

The records are private: each row is the vector of a word that somebody used. The vocabulary is
public: the words of a language and their vectors are in everybody's hands, so naming each released
center by the public words nearest to it is post-processing, and costs nothing.

Run it with `python examples/word_topics.py`; it needs the extra `plot`. It takes the 50,000 words
of GloVe in the folder SHOAL_DATA, or makes up vectors of made-up words where they are not there.
"""

import os
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from shoal import DPKMeans
from shoal.plotting import draw_release

TOPICS = 32

glove = Path(os.environ.get("SHOAL_DATA", "data"), "embeddings", "glove_words_50k.npz")
file = glove if glove.exists() else Path(mkdtemp()) / "made_up.npz"
if file is not glove:
    rng = np.random.default_rng(0)
    topic = rng.integers(TOPICS, size=20_000)
    words = [f"{'bdfglmnr'[one % 8]}{'aeio'[one // 8]}{number}" for number, one in enumerate(topic)]
    vectors = rng.normal(size=(TOPICS, 50))[topic] + rng.normal(0.0, 0.7, (len(topic), 50))
    np.savez(file, words=words, vectors=vectors.astype(np.float16))

# What somebody used: here each word once. Their directions count, so no bounds are needed.
model = DPKMeans(TOPICS, epsilon=1.0, delta=1e-6, metric="cosine").fit(file)
print(model.guarantee_)
print(f"method {model.method_}: {model.reason_}\n")

# From here on, only the release is used, and what everybody knows: the words, without signs.
public = np.load(file)
alike = np.char.isalnum(public["words"])
words, vectors = public["words"][alike], public["vectors"][alike].astype(np.float32)
vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
centers, sizes = model.cluster_centers_, model.cluster_sizes_
distances = (centers**2).sum(axis=1) - 2 * vectors @ centers.T  # squared, but for the same 1
closest = distances.argmin(axis=1)
names = []
for number in range(TOPICS):  # a word names one topic only, that of its closest center
    own = np.flatnonzero(closest == number)
    names.append(words[own[distances[own, number].argsort()[:6]]].tolist())
for number in np.argsort(-sizes):
    unsure = "" if model.certain_[number] else "  (may be noise alone)"
    print(f"about {sizes[number]:6,} words like {', '.join(names[number]) or 'none'}{unsure}")

# Centers of many columns are turned into the plane in which they lie furthest apart.
path = Path(mkdtemp()) / "topics.png"
columns = [f"column {number}" for number in range(model.n_features_in_)]
labels = [", ".join(nearest[:2]) for nearest in names]
draw_release(model.release_, columns, labels=labels, path=path)
print(f"\npicture for all: {path}")
