"""The WaveCluster study: its records survive a stop, and its report is whole.

Sets are small generated ones, so nothing here needs SHOAL_DATA.
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from shoal.exceptions import DataError
from shoal.papers import run_study
from shoal.papers.wavecluster import FigureSet, WaveClusterStudy, load_figure_set, study

FIGURES = [
    *("k", "dsg", "f_measure", "ocm", "two_ce"),
    *("gowalla_cells", "gowalla_records"),
    *(
        f"cells_{name}_{version}"
        for name in ("ds1", "ds2", "ds3", "gowalla")
        for version in ("as_published", "corrected")
    ),
]


def small(name):
    """Two round clusters, of other records for each set."""
    rng = np.random.default_rng(list(name.encode()))
    X = np.vstack([rng.normal(0.3, 0.05, (500, 2)), rng.normal(0.7, 0.05, (500, 2))])
    return FigureSet(name, X, 12, 0.2)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(study, "QUICK_EPSILONS", (1.0,))
    monkeypatch.setattr(study, "QUICK_RUNS", 2)
    monkeypatch.setattr(study, "QUICK_FOURTH_RUNS", 1)
    return WaveClusterStudy(small)


@pytest.fixture
def silent(few, monkeypatch):
    """The same without its pictures, which take longer than the records."""
    monkeypatch.setattr(few, "render", lambda report, measurements: None)
    return few


class StopError(Exception):
    pass


@pytest.mark.full  # tests/experiments/test_runner.py tears off the same store
def test_a_run_that_was_torn_off_ends_like_an_unbroken_one(silent, tmp_path):
    unbroken = run_study(silent, folder=tmp_path / "unbroken", seed=3)

    def stop(done, total):
        if done == 20:
            raise StopError

    with pytest.raises(StopError):
        run_study(silent, folder=tmp_path / "torn", seed=3, progress=stop)
    store = tmp_path / "torn" / "techniques.csv"
    store.write_bytes(store.read_bytes()[:-30])
    begun = []
    torn = run_study(
        silent, folder=tmp_path / "torn", seed=3, progress=lambda done, _: begun.append(done)
    )
    assert begun[0] == 19  # what was whole is not done again
    assert torn.measurements == unbroken.measurements
    assert torn.verdicts == unbroken.verdicts


def test_records_of_a_trial_do_not_depend_on_others(few):
    techniques, gowalla, clusters = few.experiments(full=False, seed=0)
    assert pickle.loads(pickle.dumps(clusters.work)) == clusters.work
    assert gowalla.work == techniques.work
    trial = techniques.spec.trials()[3]
    first = list(techniques.work(trial))
    assert list(pickle.loads(pickle.dumps(techniques.work))(trial)) == first
    assert list(techniques.work(replace(trial, spec_seed=1))) != first
    assert [record["version"] for record in first] == ["as published", "corrected"]
    ours = next(one for one in techniques.spec.trials() if one.mechanism.name == "oneshot")
    assert [record["version"] for record in techniques.work(ours)] == ["corrected"]


def test_full_is_at_least_as_large_as_the_source():
    techniques, gowalla, clusters = WaveClusterStudy(small).experiments(full=True, seed=5)
    assert techniques.spec.repeats >= gowalla.spec.repeats >= 10
    assert (min(techniques.spec.epsilons), max(techniques.spec.epsilons)) == (0.1, 2.0)
    assert techniques.spec.datasets == ("ds1", "ds2", "ds3")
    assert clusters.spec.datasets == ("ds1", "ds2", "ds3", "gowalla")
    assert {part.spec.seed for part in (techniques, gowalla, clusters)} == {5}


def test_what_is_missing_is_said_before_any_work(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOAL_DATA", raising=False)

    def nothing(name):
        return load_figure_set(name, data_dir=tmp_path)

    with pytest.raises(DataError, match=r"^wavecluster_ds1 needs the file \S+ds1.csv[^\n]*$"):
        run_study(WaveClusterStudy(nothing), folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_report_has_every_figure(few, tmp_path):
    found = run_study(few, folder=tmp_path)
    assert sorted(path.stem for path in (tmp_path / "figures").glob("*.svg")) == sorted(FIGURES)
    page = found.report.read_text(encoding="utf-8")
    for words in ("finding 4", "PrivTHR_EM", "true maximum", "131.2", "The fourth set: Gowalla"):
        assert words in page
    assert 'src="http' not in page
    assert all(one.claim.text.split("'")[0] in page for one in found.verdicts)
