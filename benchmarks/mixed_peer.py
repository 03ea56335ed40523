"""diffprivlib's KMeans on encoded records, in an environment of its own.

It needs an older scikit-learn than ours. `make bench` makes that environment in the folder `peers`
of this one's; where there is none, one is made once in shoal's cache folder. Where that fails (no
network), the others are compared, and a line says so.
"""

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from timing import PEERS

from shoal.datasets.fetching import cache_folder

PACKAGES = ("diffprivlib", "scikit-learn<1.9")

# Fits for each pair of an epsilon and a seed; writes their centers.
FITTER = """
import json, sys, warnings
import numpy as np
from diffprivlib.models import KMeans
warnings.simplefilter("ignore")
folder, k, pairs = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
X, widths = np.load(folder + "/X.npy"), np.load(folder + "/widths.npy")
bounds = (np.zeros_like(widths), widths)
centers = [
    KMeans(k, epsilon=epsilon, bounds=bounds, random_state=seed).fit(X).cluster_centers_
    for epsilon, seed in pairs
]
np.save(folder + "/centers.npy", np.array(centers))
"""


def peer_python() -> Path | None:
    """Return the Python that has diffprivlib, after making its environment if there is none."""
    own = cache_folder() / "peers" / "bin" / "python"
    for python in (PEERS, own):
        if python.exists():
            return python
    folder = own.parents[1]
    print(f"making an environment for diffprivlib in {folder}", flush=True)
    venv.create(folder, with_pip=True)
    install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    if subprocess.run(install, check=False).returncode:
        own.unlink()
        print("diffprivlib cannot be installed: compared without it")
        return None
    return own


def peer_centers(
    python: Path, X: np.ndarray, widths: np.ndarray, k: int, pairs: Sequence[tuple[float, int]]
) -> np.ndarray:
    """Return diffprivlib's centers for each epsilon and seed, in one process."""
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "widths.npy", widths)
        command = [python, "-c", FITTER, folder, str(k), json.dumps(pairs)]
        subprocess.run(command, check=True, stderr=sys.stderr)
        return np.load(Path(folder) / "centers.npy")
