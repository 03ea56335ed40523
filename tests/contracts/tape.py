"""A tape of what an estimator does: each spend, each exact statistic, each draw, in order."""

import importlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np

from shoal.noise import Lattice
from shoal.privacy import Event, Ledger

# Where each sampler is called from; test_tape_hears_every_sampler checks that none is missing.
CALLERS = {
    "box_norm": ("shoal.noise.laws",),
    "discrete_laplace": ("shoal.noise.laws", "shoal.noise.sparse_laplace"),
    "discrete_gaussian": ("shoal.noise.laws",),
    "noisy_cells_above": ("shoal.noise.sparse_laplace",),
    "exponential_choice": ("shoal.noise.laws",),
    "k_norm": ("shoal.mechanisms.laplace",),
    "planar_laplace": ("shoal.mechanisms.planar",),
    "spherical_laplace": ("shoal.mechanisms.spherical",),
    "two_level": tuple(f"shoal.mechanisms.{name}" for name in ("_window", "duchi", "hybrid")),
    "uniform_integers": tuple(
        f"shoal.mechanisms.{name}" for name in ("_columns", "_window", "duchi", "hybrid")
    ),
}

# Where exact statistics of the records are asked for, likewise.
STATISTICS = {
    "adaptive_counts": ("shoal.cluster.wavecluster._baseline",),
    "column_counts": ("shoal.cluster.private_copy._fit",),
    "grouped_counts": ("shoal.cluster.private_copy._fit",),
    "sparse_grid_counts": ("shoal.cluster.wavecluster._oneshot",),
    "nearest_statistics": tuple(
        f"shoal.cluster.kmeans.{name}" for name in ("_lloyd", "_grid", "_lsh")
    ),
    "leaf_statistics": ("shoal.cluster.kmeans._lsh",),
    "tree_counts": ("shoal.cluster.kmeans._lsh",),
    "grid_counts": (
        "shoal.cluster.kmeans._grid",
        *(f"shoal.cluster.wavecluster._{name}" for name in ("baseline", "fit", "problem")),
    ),
    "total_weight": tuple(
        f"shoal.cluster.{name}._fit" for name in ("kmeans", "private_copy", "wavecluster")
    ),
    "magnitude_counts": ("shoal.cluster.kmeans._private_bounds",),
}


@dataclass(frozen=True)
class Draw:
    sampler: str
    shape: tuple[int, ...]
    scale: float
    scales: tuple[float, ...] = ()


@dataclass(frozen=True)
class Statistic:
    name: str
    reach: int | None
    shape: str


@dataclass
class Tape:
    entries: list[Draw | Event | Statistic] = field(default_factory=list)

    @property
    def draws(self):
        return [entry for entry in self.entries if isinstance(entry, Draw)]

    @property
    def spends(self):
        return [entry for entry in self.entries if isinstance(entry, Event)]


@contextmanager
def recording():
    tape = Tape()

    def listen(name, real):
        def wrapped(*size, source, **scale):
            shape = size[0] if isinstance(size[0], tuple) else np.shape(size[0]) or size
            width = scale.get("scale", next(iter(scale.values())))
            if name == "box_norm":
                widths = tuple(map(float, width))
                tape.entries.append(Draw(name, (*shape, len(widths)), max(widths), widths))
            else:
                tape.entries.append(Draw(name, tuple(shape), float(width)))
            return real(*size, source=source, **scale)

        return wrapped

    def watch(name, real):
        def wrapped(*arguments, **words):
            reach, shape = words.get("reach"), words.get("shape", "cube")
            tape.entries.append(Statistic(name, reach, shape))
            return real(*arguments, **words)

        return wrapped

    spend = Ledger.spend

    def listening_spend(self, event, **words):
        entry = spend(self, event, **words)
        tape.entries.append(event)
        return entry

    with ExitStack() as stack:
        stack.enter_context(patch.object(Ledger, "spend", listening_spend))
        for table, wrap in ((CALLERS, listen), (STATISTICS, watch)):
            for name, modules in table.items():
                for module in map(importlib.import_module, modules):
                    real = getattr(module, name)
                    stack.enter_context(patch.object(module, name, wrap(name, real)))
        yield tape


def lattice_step(lattice: Lattice) -> float:
    return float(lattice.step[0])
