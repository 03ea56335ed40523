"""Pictures of the sets of `shapes.py`: noisy density, clusters and their tree, from the releases.

`python benchmarks/shape_pictures.py [--sets moons,circles] [--epsilon 1] [--out build/shapes]`

The noise has a seed, so that pictures can be compared from one change of the code to the next: they
promise nothing and say so.
"""

import argparse
from pathlib import Path

from shape_sets import DESIGN

from shoal.cluster import DPDensity
from shoal.plotting import draw_release


def main() -> None:
    """Draw one picture for each set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(DESIGN), help="names, with commas")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/shapes"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.sets.split(","):
        shapes = DESIGN[name]()
        model = DPDensity(epsilon=given.epsilon, bounds=shapes.bounds, random_state=given.seed)
        model.fit(shapes.X)
        path = given.out / f"{name}_{given.epsilon:g}.png"
        draw_release(model.release_, ["x", "y"], path=path)
        print(f"{name}: {model.n_clusters_} clusters on {model.cells_.size} cells, {path}")


if __name__ == "__main__":
    main()
