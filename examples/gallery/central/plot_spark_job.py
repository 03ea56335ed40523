# %% [markdown]
"""
The same bits from Spark
========================

The estimators need counts and sums of the records and nothing else, so a cluster of machines can
add them up. You learn that a Spark job is the same line of code and gives the same bits; it needs
``pip install "shoal[plot,spark]"`` and Java, and says what is missing where they are not there.
"""

# %%
import importlib.util
import os
import shutil
import sys

import numpy as np

from shoal import DPKMeans
from shoal.datasets import make_gaussians
from shoal.plotting import draw_release

data = make_gaussians(20_000, n_clusters=5, random_state=3)
missing = []
if importlib.util.find_spec("pyspark") is None:
    missing.append('pyspark (pip install "shoal[spark]")')
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    missing.append("Java (such as apt-get install default-jre-headless)")

# %% [markdown]
# Noise is drawn once, by the driver. The seed is here to show that the bits are the same: it voids
# the promise, and the guarantee says so.

# %%
model = DPKMeans(5, epsilon=1.0, bounds=data.bounds, random_state=0).fit(data.X)
print(model.guarantee_)
if missing:
    print(f"Spark cannot run here, so this is the fit in memory; missing: {', '.join(missing)}")
else:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.createDataFrame(data.X.tolist(), ["x", "y"])
    in_memory = model.cluster_centers_
    model = DPKMeans(5, epsilon=1.0, bounds=data.bounds, random_state=0).fit(frame)
    print(f"the same bits from Spark: {np.array_equal(model.cluster_centers_, in_memory)}")
    spark.stop()

# %% [markdown]
# Released centers, as large as their noisy sizes, in the public box.

# %%
picture = draw_release(model.release_, ["x (units of the box)", "y (units of the box)"])
picture  # in a script: picture.save("spark.png")
