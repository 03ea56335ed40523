"""A tape of what an estimator does: each spend, each exact statistic, each draw, in order."""

import functools
import importlib
import pkgutil
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np

import shoal.cluster
import shoal.engines
import shoal.mechanisms
import shoal.noise
from shoal.noise import TreeShapeNoise
from shoal.privacy import Event, Ledger

# test_promises checks that none is missing.
SAMPLERS = (
    "box_norm",
    "discrete_laplace",
    "elliptic_k_norm",
    "exponential_choice",
    "k_norm",
    "noisy_cells_above",
    "planar_laplace",
    "randomized_response",
    "rounded_gaussian",
    "spherical_laplace",
    "two_level",
    "uniform_integers",
)
STATISTICS = (
    "adaptive_counts",
    "column_counts",
    "grid_counts",
    "grouped_counts",
    "dyadic_counts",
    "magnitude_counts",
    "nearest_statistics",
    "radius_counts",
    "second_moments",
    "sparse_grid_counts",
    "total_weight",
    "window_statistics",
)


@dataclass(frozen=True)
class Draw:
    sampler: str
    shape: tuple[int, ...]
    scale: float
    scales: tuple[float, ...] = ()


@dataclass(frozen=True)
class Statistic:
    name: str
    clip_radius: int | None
    shape: str
    radii: tuple[int, ...] = ()


@dataclass
class Tape:
    entries: list[Draw | Event | Statistic] = field(default_factory=list)

    @property
    def draws(self):
        return [entry for entry in self.entries if isinstance(entry, Draw)]

    @property
    def spends(self):
        return [entry for entry in self.entries if isinstance(entry, Event)]


@functools.cache
def holders(package, name):
    """Return every module of the estimators that holds this function, wherever it is defined."""
    function = getattr(package, name)
    for parent in (shoal.noise, shoal.engines, shoal.cluster, shoal.mechanisms):
        for module in pkgutil.walk_packages(parent.__path__, f"{parent.__name__}."):
            importlib.import_module(module.name)
    loaded = [module for key, module in sys.modules.items() if key.split(".")[0] == "shoal"]
    return [module for module in loaded if vars(module).get(name) is function]


@contextmanager
def recording():
    """Record every spend, statistic and draw; what one of them calls for itself is not."""
    tape, inside = Tape(), []

    def once(entry, call):
        if not inside:
            tape.entries.append(entry)
        inside.append(entry)
        try:
            return call()
        finally:
            inside.pop()

    def record_draw(name, real):
        def wrapped(*size, source, **scale):
            shape = size[0] if isinstance(size[0], tuple) else np.shape(size[0]) or size
            width = scale.get("scale", next(iter(scale.values())))
            if name == "box_norm":
                widths = tuple(map(float, width))
                entry = Draw(name, (*shape, len(widths)), max(widths), widths)
            elif np.ndim(width):  # one for each column, or for each entry
                widths = tuple(map(float, np.ravel(width)))
                entry = Draw(name, tuple(shape), max(widths), widths)
            else:
                entry = Draw(name, tuple(shape), float(np.max(width)))
            return once(entry, lambda: real(*size, source=source, **scale))

        return wrapped

    def record_statistic(name, real):
        def wrapped(*args, **kwargs):
            radius, shape = kwargs.get("clip_radius"), kwargs.get("shape", "cube")
            radii = tuple(args[2].tolist()) if name == "window_statistics" else ()
            return once(Statistic(name, radius, shape, radii), lambda: real(*args, **kwargs))

        return wrapped

    shape = TreeShapeNoise.sample

    def recorded_shape(self, exact, source):
        sizes = (self.depth - self.roots, self.decay)
        return once(Draw("tree_shape", sizes, self.scale), lambda: shape(self, exact, source))

    spend = Ledger.spend

    def recorded_spend(self, event, **kwargs):
        entry = spend(self, event, **kwargs)
        tape.entries.append(event)
        return entry

    with ExitStack() as stack:
        stack.enter_context(patch.object(Ledger, "spend", recorded_spend))
        stack.enter_context(patch.object(TreeShapeNoise, "sample", recorded_shape))
        for package, names, record in (
            (shoal.noise, SAMPLERS, record_draw),
            (shoal.engines, STATISTICS, record_statistic),
        ):
            for name in names:
                wrapped = record(name, getattr(package, name))
                for module in holders(package, name):
                    stack.enter_context(patch.object(module, name, wrapped))
        yield tape
