"""A tape of what an estimator does: each spend and each draw of noise, in order."""

import importlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from shoal.noise import Lattice
from shoal.privacy import Event, Ledger

# Where each sampler is called from; test_tape_hears_every_sampler checks that none is missing.
CALLERS = {
    "discrete_laplace": ("shoal.cluster._noise",),
    "discrete_gaussian": ("shoal.cluster._noise",),
    "k_norm": ("shoal.mechanisms.laplace",),
    "planar_laplace": ("shoal.mechanisms.planar",),
    "spherical_laplace": ("shoal.mechanisms.spherical",),
    "two_level": tuple(f"shoal.mechanisms.{name}" for name in ("_window", "duchi", "hybrid")),
    "uniform_integers": tuple(
        f"shoal.mechanisms.{name}" for name in ("_columns", "_window", "duchi", "hybrid")
    ),
}


@dataclass(frozen=True)
class Draw:
    sampler: str
    shape: tuple[int, ...]
    scale: float


@dataclass
class Tape:
    entries: list[Draw | Event] = field(default_factory=list)

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
            shape = size[0] if isinstance(size[0], tuple) else size
            tape.entries.append(Draw(name, tuple(shape), float(next(iter(scale.values())))))
            return real(*size, source=source, **scale)

        return wrapped

    spend = Ledger.spend

    def listening_spend(self, event, **words):
        entry = spend(self, event, **words)
        tape.entries.append(event)
        return entry

    with ExitStack() as stack:
        stack.enter_context(patch.object(Ledger, "spend", listening_spend))
        for name, modules in CALLERS.items():
            for module in map(importlib.import_module, modules):
                stack.enter_context(patch.object(module, name, listen(name, getattr(module, name))))
        yield tape


def lattice_step(lattice: Lattice) -> float:
    return float(lattice.step[0])
