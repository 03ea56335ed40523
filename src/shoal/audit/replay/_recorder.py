"""A observer that records a fit, or shows a second fit what the first one showed."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.noise import Noise, observed
from shoal.privacy import Entry, Event, Ledger

__all__ = ["Recorder", "Recording", "Step", "record"]


@dataclass(frozen=True, eq=False)
class Step:
    """One release: what was hidden, under which law, at which declared cost, and what was shown."""

    exact: Any
    law: Noise[Any, Any]
    cost: float
    shown: Any


class Recorder:
    """Takes note of the releases and spends of one fit.

    Parameters
    ----------
    script : sequence of Step, optional
        Releases of another fit. What they showed is shown again, whatever this fit hides, as long
        as its releases have the same laws and shapes.
    """

    def __init__(self, script: Sequence[Step] = ()) -> None:
        self.steps: list[Step] = []
        self.releases_before_first_spend: int | None = None
        self._script = script

    def release(self, exact: Any, law: Noise[Any, Any], cost: float, shown: Any) -> Any:
        """Take note of a release, and return what is to be shown."""
        place = len(self.steps)
        if place < len(self._script):
            scripted = self._script[place]
            # Values of another shape cannot be shown in place of these; the loss is infinite then.
            if scripted.law == law and math.isfinite(law.privacy_loss(scripted.exact, exact)):
                shown = scripted.shown
        self.steps.append(Step(exact, law, cost, shown))
        return shown

    def spend(self) -> None:
        """Take note of a spend."""
        if self.releases_before_first_spend is None:
            self.releases_before_first_spend = len(self.steps)


class ListeningLedger(Ledger):
    """A ledger without a limit that tells the recorder of each spend.

    Parameters
    ----------
    recorder : Recorder
        Whom to tell.
    delta : float
        The delta of the promise.
    """

    def __init__(self, recorder: Recorder, delta: float) -> None:
        super().__init__(epsilon=1e12, delta=delta)
        self._recorder = recorder

    def spend(self, event: Event, **words: Any) -> Entry:
        """Record the spend and tell of it."""
        entry = super().spend(event, **words)
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
    def said(self) -> dict[str, str]:
        """What leaves the curator in words: the promise, the ledger's entries, warnings."""
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
    """Fit a fresh estimator with a recorder at the door.

    Parameters
    ----------
    make : callable
        Makes the estimator, seeded.
    records : array-like
        What to fit.
    delta : float
        The delta of the promise, for the ledger.
    script : sequence of Step, optional
        As in :class:`Recorder`.

    Returns
    -------
    recording : Recording
        The fitted estimator, and what was heard.
    """
    recorder = Recorder(script)
    model = make()
    ledger = None
    if "ledger" in model.get_params(deep=False):
        ledger = ListeningLedger(recorder, delta)
        model.set_params(ledger=ledger)
    with observed(recorder), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(records)
    return Recording(model, recorder, ledger, tuple(str(one.message) for one in caught))
