"""Parameters are read once: of lists and arrays, of files, of one record, and of the fit itself."""

from array import array
from collections import deque

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from shoal.cluster import DPKMeans
from shoal.mechanisms import Duchi, KdLaplace, Laplace, PartitionResponse, Piecewise
from shoal.privacy import Ledger
from shoal.tables import ArrowTable

RECORDS = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
CORNERS = ([-1.0, -1.0], [1.0, 1.0])


class Hooked(Ledger):
    """A ledger that calls a function after a spend, or after a check."""

    def __init__(self, *, after_spend=lambda: None, after_check=lambda: None, **limits):
        super().__init__(**limits)
        self.after_spend, self.after_check = after_spend, after_check

    def spend(self, event, **kwargs):
        entry = super().spend(event, **kwargs)
        self.after_spend()
        return entry

    def check(self, event, **kwargs):
        super().check(event, **kwargs)
        self.after_check()


def doubles(values):
    return array("d", values)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, deque, doubles])
def test_bounds_that_change_in_place_move_nothing(kind):
    """They follow records where whoever changes them has seen the records."""
    expected = DPKMeans(2, bounds=CORNERS, random_state=0).fit(RECORDS)
    low, high = kind([-1.0, -1.0]), kind([1.0, 1.0])

    def widen():
        high[0] = 400.0

    ledger = Hooked(epsilon=1.0, after_spend=widen)
    model = DPKMeans(2, bounds=(low, high), ledger=ledger, random_state=0).fit(RECORDS)
    assert high[0] == 400.0
    assert (model.cluster_centers_ == expected.cluster_centers_).all()
    assert model.bounds_.high.tolist() == [1.0, 1.0]

    low, high = kind([-1.0, -1.0]), kind([1.0, 1.0])
    ledger = Hooked(epsilon=1.0, after_spend=widen)
    device = Piecewise(1.0, bounds=(low, high), ledger=ledger, random_state=0)
    reports = device.fit_transform(RECORDS)
    assert high[0] == 400.0
    assert (reports == Piecewise(1.0, bounds=CORNERS, random_state=0).fit_transform(RECORDS)).all()


@pytest.mark.parametrize("kind", [PartitionResponse, Piecewise, Duchi])
def test_reports_of_files_are_charged_as_they_were_drawn(tmp_path, kind):
    """Reports of files are drawn before the charge: a smaller epsilon would hide their cost."""
    records = tmp_path / "records.parquet"
    parquet.write_table(pa.table({"x": RECORDS[:, 0], "y": RECORDS[:, 1]}), records)
    table = ArrowTable(records, columns=["x", "y"])
    ledger = Hooked(epsilon=10.0)
    mechanism = kind(4.0, bounds=CORNERS, ledger=ledger, random_state=0).fit(table)
    ledger.after_check = lambda: mechanism.set_params(epsilon=0.1)
    mechanism.transform(table, out=tmp_path / "reports")
    assert mechanism.epsilon == 0.1
    (entry,) = ledger.entries
    assert entry.event.epsilon == 4.0
    assert mechanism.guarantee_.epsilon == 4.0


def test_one_record_is_charged_as_it_was_drawn():
    """The fast path for one record keeps what it needs from one call to the next."""
    ledger = Hooked(epsilon=100.0)
    mechanism = PartitionResponse(0.1, bounds=CORNERS, ledger=ledger, random_state=0).fit(RECORDS)
    ledger.after_spend = lambda: mechanism.set_params(epsilon=30.0)
    mechanism.randomize([0.5, 0.5])
    mechanism.set_params(epsilon=0.1)
    assert mechanism.guarantee_.epsilon == 0.1
    mechanism.set_params(epsilon=2.0)
    mechanism.randomize([0.5, 0.5])
    assert [entry.event.epsilon for entry in ledger.entries] == [0.1, 2.0]


def test_a_fit_keeps_the_parameters_that_were_set_meanwhile():
    ledger = Hooked(epsilon=10.0)
    model = DPKMeans(2, bounds=CORNERS, ledger=ledger, random_state=0)

    def change():
        model.set_params(n_clusters=3, epsilon=2.0)
        model.note = "set by a hook"

    ledger.after_spend = change
    assert model.fit(RECORDS) is model
    assert (model.n_clusters, model.epsilon, model.note) == (3, 2.0, "set by a hook")
    assert len(model.cluster_centers_) == 2
    assert (model.labels_ == model.predict(RECORDS)).all()
    ledger.after_spend = lambda: None
    model.fit(RECORDS)
    assert len(model.cluster_centers_) == 3
    assert (model.labels_ == model.predict(RECORDS)).all()
    assert model.guarantee_.epsilon == 2.0


class Passing(Piecewise):
    """A subclass whose constructor names one parameter and passes the others on."""

    def __init__(self, epsilon=1.0, **others):
        super().__init__(epsilon, **others)


def test_parameters_that_a_subclass_passes_on_are_parameters():
    high = [1.0, 1.0]
    ledger = Hooked(epsilon=2.0)
    device = Passing(bounds=([-1.0, -1.0], high), ledger=ledger, random_state=0).fit(RECORDS)

    def change():
        high[0] = 400.0
        device.set_params(epsilon=0.5)

    ledger.after_spend = change
    reports = device.transform(RECORDS)
    assert (reports == Piecewise(1.0, bounds=CORNERS, random_state=0).fit_transform(RECORDS)).all()
    assert device.epsilon == 0.5


def test_a_remapped_report_is_charged_to_the_ledger_of_its_call(monkeypatch):
    """Another thread may ask the same transformer, with another ledger, or with none."""
    ledger = Ledger(epsilon=1.0, metric_epsilon=9.0, metric_unit="km")
    remapped = KdLaplace(1.0, unit="km", bounds=CORNERS, remap=None, ledger=ledger).fit(RECORDS)
    transform = Laplace.transform

    def interrupted(self, X):
        remapped.mechanism_.set_params(ledger=None)
        return transform(self, X)

    monkeypatch.setattr(Laplace, "transform", interrupted)
    remapped.transform(RECORDS)
    assert len(ledger.entries) == 2
