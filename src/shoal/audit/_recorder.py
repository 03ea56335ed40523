"""An observer that records the releases of a fit, or repeats those of another fit."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.noise import Noise, current_part, observed
from shoal.privacy import Entry, Event, Ledger

__all__ = ["Recorder", "Recording", "Step", "record"]


@dataclass(frozen=True, eq=False)
class Step:
    """One release: exact value, noise, declared cost, released value, and whose records."""

    exact: Any
    noise: Noise[Any, Any]
    cost: float
    released: Any
    part: str = ""  # one of several disjoint parts of the table; empty for all of it


class Recorder:
    """The releases and spends of one fit, in order.

    Parameters
    ----------
    script : sequence of Step, optional
        Releases of another fit. Their released values are released again, whatever this fit's exact
        ones are, as long as its releases have the same noise and shapes.
    """

    def __init__(self, script: Sequence[Step] = ()) -> None:
        self.steps: list[Step] = []
        self.releases_before_first_spend: int | None = None
        self._script = script

    def release(self, exact: Any, noise: Noise[Any, Any], cost: float, released: Any) -> Any:
        """Record a release, and return the value to release."""
        index = len(self.steps)
        if index < len(self._script):
            scripted = self._script[index]
            # Values of another shape cannot replace these; the loss is infinite then.
            if scripted.noise == noise and math.isfinite(noise.privacy_loss(scripted.exact, exact)):
                released = scripted.released
        self.steps.append(Step(exact, noise, cost, released, current_part()))
        return released

    def spend(self) -> None:
        """Record a spend."""
        if self.releases_before_first_spend is None:
            self.releases_before_first_spend = len(self.steps)


class ObservedLedger(Ledger):
    """A ledger without a limit that reports each spend to the recorder.

    Parameters
    ----------
    recorder : Recorder
        Where spends are recorded.
    delta : float
        The delta of the promise.
    """

    def __init__(self, recorder: Recorder, delta: float) -> None:
        super().__init__(epsilon=1e12, delta=delta)
        self._recorder = recorder

    def spend(self, event: Event, **kwargs: Any) -> Entry:
        """Record the spend here and with the recorder."""
        entry = super().spend(event, **kwargs)
        self._recorder.spend()
        return entry


@dataclass(frozen=True, eq=False)
class Recording:
    """A fit with its releases, the order of its first spend, its ledger if any, and warnings."""

    model: Any
    recorder: Recorder
    ledger: Ledger | None
    warnings: tuple[str, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """All text that leaves the curator: the promise, the ledger's entries, warnings."""
        entries = () if self.ledger is None else self.ledger.entries
        promise = getattr(self.model, "guarantee_", None)
        return {
            "the guarantee": str(None if promise is None else promise.to_dict()),
            "the ledger's entry": "; ".join(
                f"{entry.purpose}, {entry.event}, {entry.columns}, {entry.privacy_unit}"
                for entry in entries
            ),
            "a warning": "; ".join(self.warnings),
        }


def record(
    make: Callable[[], Any], records: Any, *, delta: float, script: Sequence[Step] = ()
) -> Recording:
    """Fit a fresh estimator while a recorder observes its releases."""
    recorder = Recorder(script)
    model = make()
    ledger = None
    if "ledger" in model.get_params(deep=False):
        ledger = ObservedLedger(recorder, delta)
        model.set_params(ledger=ledger)
    with observed(recorder), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(records)
    return Recording(model, recorder, ledger, tuple(str(one.message) for one in caught))
