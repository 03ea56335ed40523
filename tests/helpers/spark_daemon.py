"""What Spark forks its Python workers from, here with all loaded that they need.

Otherwise each worker loads it anew, and tests that end workers start many. After every task a
worker collects garbage: what is loaded is left out of that.
"""

import gc

import numpy  # noqa: F401
import pyarrow  # noqa: F401
from pyspark import daemon

import shoal.engines
import shoal.tables  # noqa: F401

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    daemon.manager()
