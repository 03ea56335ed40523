"""Experiments as data: trials, seeds, fingerprints, and what is refused."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.experiments.spec import ExperimentSpec
from shoal.experiments.trial import Component

SPEC = ExperimentSpec(
    name="all kinds",
    datasets=("heart", 'my "own" (1).csv'),
    mechanisms=(
        Component("DPKMeans", n_clusters=3, bounds=[[0.0, 0.5], [1e-7, 1e300]]),
        Component("nd"),
    ),
    clusterers=(Component("KMeans", n_clusters=4, init="k\\é", tol=math.inf, refine=True),),
    epsilons=(0.1, 2, math.inf, 1e-5),
    dimensions=(3, 2),
    repeats=4,
    measures=("ami", "distance"),
    seed=2**70,
)


def test_trials_are_the_product_in_a_fixed_order():
    trials = SPEC.trials()
    assert len(trials) == len({trial.key for trial in trials}) == 2 * 2 * 2 * 1 * 4 * 4
    assert [trial.repeat for trial in trials[:5]] == [0, 1, 2, 3, 0]
    assert [trial.epsilon for trial in trials[:16:4]] == [0.1, 2.0, math.inf, 1e-5]
    assert [trial.mechanism.name for trial in trials[:32:16]] == ["DPKMeans", "nd"]
    assert [trial.columns for trial in trials[:64:32]] == [3, 2]
    assert [trial.dataset for trial in trials[::64]] == list(SPEC.datasets)
    assert trials == SPEC.trials() == pickle.loads(pickle.dumps(trials))
    assert {trial.measures for trial in trials} == {("ami", "distance")}


def test_what_is_left_out_is_none():
    spec = ExperimentSpec(name="x", datasets=["a"], mechanisms=["DPKMeans"], epsilons=[1])
    (trial,) = spec.trials()
    assert (trial.columns, trial.clusterer) == (None, None)
    assert trial.key == "a | all columns | DPKMeans | no clusterer | epsilon 1.0 | repeat 0"
    assert list(trial.fields) == [
        "dataset",
        "columns",
        "mechanism",
        "clusterer",
        "epsilon",
        "repeat",
    ]


def test_seeds_of_old_trials_stay_when_trials_are_added(subtests):
    for more in [
        {"epsilons": (0.05, 0.1, 2.0, math.inf, 1e-5, 9.0)},
        {"repeats": 6},
        {"datasets": ("seeds", *SPEC.datasets)},
        {"mechanisms": (*SPEC.mechanisms, Component("Laplace"))},
        {"measures": ("ami",)},
        {"name": "another"},
    ]:
        with subtests.test(more=more):
            old = {trial.key: trial.seed for trial in SPEC.trials()}
            spec = replace(SPEC, **more)
            new = {trial.key: trial.seed for trial in spec.trials()}
            assert old.items() <= new.items()
            assert spec.fingerprint != SPEC.fingerprint


def test_seeds_differ_from_trial_to_trial_and_with_the_spec():
    seeds = {trial.seed for trial in SPEC.trials()}
    assert len(seeds) == len(SPEC.trials())
    assert not seeds & {trial.seed for trial in replace(SPEC, seed=1).trials()}
    assert max(seeds) < 2**32


def test_the_fingerprint_changes_with_anything_in_the_spec_and_with_the_version(monkeypatch):
    """Its text is fixed: stores of records are found again by it."""
    monkeypatch.setattr("shoal.experiments.spec.__version__", "1")
    assert SPEC.fingerprint == ("dc147c9214308eb541fe496553cae625be6d25413bce40109bc77aceac5234f3")
    others = [
        replace(SPEC, **{key: value})
        for key, value in {
            "name": "other",
            "datasets": ("heart",),
            "mechanisms": (SPEC.mechanisms[0],),
            "clusterers": (),
            "epsilons": (0.1,),
            "dimensions": (),
            "repeats": 5,
            "measures": ("ami",),
            "seed": 0,
        }.items()
    ]
    prints = {spec.fingerprint for spec in (SPEC, *others)}
    monkeypatch.setattr("shoal.experiments.spec.__version__", "2")
    assert len(prints | {SPEC.fingerprint}) == len(others) + 2


def test_bad_values_give_one_line(subtests):
    for key, value, says in [
        ("epsilons", [1, 0], "epsilons must be a finite number > 0, got 0"),
        ("epsilons", [math.nan], "epsilons must be a finite number > 0, got nan"),
        ("epsilons", [True], "epsilons must be a finite number > 0, got True"),
        ("epsilons", ["1"], "epsilons must be a finite number > 0, got '1'"),
        ("epsilons", 1, "epsilons must be a list, got 1"),
        ("epsilons", [], "epsilons must hold at least one value, got none"),
        ("epsilons", [1, 1.0], "epsilons must not repeat a value, got 1.0"),
        ("datasets", "a", "datasets must be a list, got 'a'"),
        ("datasets", ["a|b"], r"datasets must be text on one line without \|, got 'a|b'"),
        ("datasets", ["a\nb"], "datasets must be text on one line"),
        ("datasets", [" "], "datasets must be text on one line"),
        ("mechanisms", [3], "mechanisms must be names or components, got 3"),
        ("mechanisms", ["m(k=2)"], r"mechanisms: name must be without \| and parentheses"),
        ("name", 3, r"name must be text on one line without \|, got 3"),
        ("repeats", 0, "repeats must be a whole number .* got 0"),
        ("seed", -1, "seed must be .* integer >= 0, got -1"),
        ("dimensions", [2.5], "dimensions must be a whole .* got 2.5"),
    ]:
        with subtests.test(key=key, value=value, says=says):
            with pytest.raises(ParameterError, match=says) as refused:
                replace(SPEC, **{key: value})
            assert "\n" not in str(refused.value)


def test_components_are_written_alike_whatever_was_passed():
    one = Component("m", b=np.float64(0.5), a=np.array([1, 2]), c=np.int64(3))
    two = Component("m", c=3, a=(1, 2), b=0.5)
    assert one == two
    assert hash(one) == hash(two)
    assert str(one) == "m(a=(1, 2), b=0.5, c=3)"
    with pytest.raises(ParameterError, match=r"m.a must be text, .*got None"):
        Component("m", a=None)
    with pytest.raises(ParameterError, match=r"m.a must be text on one line"):
        Component("m", a="x\ny")
    with pytest.raises(ParameterError, match=r"parameters of m must .* got 'a b'"):
        Component("m", **{"a b": 1})


def test_quick_keeps_three_epsilons_and_two_repeats():
    quick = replace(SPEC, epsilons=(4.0, 0.5, 1.0, 8.0, 2.0), repeats=10).quick()
    assert quick.epsilons == (0.5, 8.0, 2.0)
    assert quick.repeats == 2
    assert quick.quick() == quick
    small = replace(SPEC, epsilons=(3.0, 1.0), repeats=1)
    assert small.quick() == small
    whole = {trial.key: trial.seed for trial in SPEC.trials()}
    assert {trial.key: trial.seed for trial in SPEC.quick().trials()}.items() <= whole.items()
