"""Replay a fit on a neighbouring table: same noisy values, so every difference is the record's own.

The first fit records what every release hid and what it showed. The second fit, on a table with one
record more, is shown the same values whatever it hides. If the estimator keeps its word, it asks
for the same statistics about the same public points in the same order, and each differs by no more
than one record may move it.
"""

import importlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from contracts.tape import STATISTICS
from shoal.cluster._noise import PureNoise, ZCDPNoise
from shoal.engines import magnitude_edges


@dataclass
class Step:
    kind: str
    hidden: tuple[np.ndarray, ...]
    shown: object
    words: dict[str, object]


def replay(estimator, X, neighbour, **fit_words):
    """Return the steps of a fit on X, and those of its replay on the neighbour."""
    first = _run(estimator, X, None, fit_words)
    second = _run(estimator, neighbour, list(first), fit_words)
    return first, second


def moves_as_declared(estimator, X, neighbour, *, unit=1, **fit_words):
    """Raise AssertionError unless the replay differs by at most one record."""
    first, second = replay(estimator, X, neighbour, **fit_words)
    assert [step.kind for step in first] == [step.kind for step in second], "other releases"
    for one, two in zip(first, second, strict=True):
        if one.kind == "statistic":
            for a, b in zip(one.hidden, two.hidden, strict=True):
                assert np.array_equal(a, b), "statistics about points that depend on records"
            continue
        assert one.words == two.words, "another share or reach"
        gaps = [np.abs(a - b) for a, b in zip(one.hidden, two.hidden, strict=True)]
        if one.kind == "counts":
            (gap,) = gaps
            # A table of magnitudes has one row a column; a record is in one bin of each.
            magnitudes = gap.ndim == 2 and gap.shape[1] == len(magnitude_edges()) - 1
            per_row = gap if magnitudes else gap.reshape(1, -1)
            declared = unit * one.words["unit"]
            assert (per_row.sum(axis=1) <= declared).all(), "a count moves by more than a record"
        else:
            counts, sums = gaps
            reach = one.words["reach"]
            assert counts.sum() <= unit, "counts move by more than a record"
            rows = sums.any(axis=1)
            assert rows.sum() <= 1, "a record is in two rows"
            ball = one.words["shape"] == "ball"
            size = np.sqrt((sums.astype(float) ** 2).sum()) if ball else sums.max()
            assert size <= unit * reach, "a sum moves by more than the reach"


def _run(estimator, X, script, fit_words):
    steps = []
    with ExitStack() as stack:
        stack.enter_context(_noise(steps, script))
        for name, modules in STATISTICS.items():
            for module in map(importlib.import_module, modules):
                real = getattr(module, name)
                stack.enter_context(patch.object(module, name, _watched(real, steps)))
        clone(estimator).set_params(random_state=3).fit(X, **fit_words)
    return steps


def _watched(real, steps):
    def wrapped(records, *public, **words):
        arrays = [np.asarray(value) for value in public]
        arrays += [np.asarray(value) for _, value in sorted(words.items())]
        # Magnitudes come with the records' own weights: nothing public to compare.
        if real.__name__ == "magnitude_counts":
            arrays = []
        steps.append(Step("statistic", tuple(arrays), None, {}))
        return real(records, *public, **words)

    return wrapped


@contextmanager
def _noise(steps, script):
    def listening(kind, real):
        def wrapped(self, exact, share, *, source, **words):
            # Drawn in the replay too, so that the source stays in step.
            shown = real(self, exact, share, source=source, **words)
            hidden = (exact,) if kind == "counts" else (exact.counts, exact.sums)
            if script is not None and len(steps) < len(script):
                shown = script[len(steps)].shown
            said = {"share": share, "shape": self.shape, **words}
            steps.append(Step(kind, hidden, shown, said))
            return shown

        return wrapped

    with ExitStack() as stack:
        for law in (PureNoise, ZCDPNoise):
            for kind in ("counts", "pairs"):
                wrapped = listening(kind, getattr(law, kind))
                stack.enter_context(patch.object(law, kind, wrapped))
        yield
