# %% [markdown]
"""
The same bits from Spark
========================

The estimators need counts and sums of the records and nothing else, so a cluster of machines can
add them up. You learn that a Spark job is the same line of code and gives the same bits. It needs
``pip install ".[plot,spark]"`` in a clone, and Java, and says which of them is missing.
"""

# %%
import importlib.util
import os
import shutil
import sys
import warnings

import numpy as np
from sklearn.base import clone

from shoal import DPKMeans
from shoal.datasets import make_gaussians
from shoal.plotting import draw_release

data = make_gaussians(20_000, n_clusters=5, random_state=3)
missing = []
if importlib.util.find_spec("pyspark") is None:
    missing.append('pyspark (pip install ".[spark]" in a clone of shoal)')
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    missing.append("Java (such as apt-get install default-jre-headless)")

# %% [markdown]
# The job runs on this machine, in two threads; on a cluster the session is the one that you have.

# %%
records = data.X
if missing:
    print(f"Spark cannot run here, so records stay in memory; missing: {', '.join(missing)}")
else:
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    records = spark.createDataFrame(data.X.tolist(), ["x", "y"])

# %% [markdown]
# Noise is drawn once, by the driver. A seed shows that the bits are the same; it voids the promise,
# so the release itself has none.

# %%
model = DPKMeans(5, epsilon=1.0, bounds=data.bounds)
seeded = [clone(model).set_params(random_state=0).fit(one) for one in (data.X, records)]
same = np.array_equal(*(one.cluster_centers_ for one in seeded))
print(f"the same bits from {'memory' if missing else 'Spark'}: {same}")
model.fit(records)
print(model.guarantee_)
if not missing:
    spark.stop()

# %% [markdown]
# Released centers, as large as their noisy sizes, in the public box.

# %%
picture = draw_release(model.release_, ["x", "y"])
picture  # in a script: picture.save("spark.png")
