"""Experiments as data: cells, seeds, files, and what is refused."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from shoal.exceptions import ParameterError
from shoal.experiments.choice import Choice
from shoal.experiments.spec import ExperimentSpec

SPEC = ExperimentSpec(
    name="all kinds",
    datasets=("heart", 'my "own" (1).csv'),
    mechanisms=(Choice("DPKMeans", n_clusters=3, bounds=[[0.0, 0.5], [1e-7, 1e300]]), Choice("nd")),
    clusterers=(Choice("KMeans", n_clusters=4, init="k\\é", tol=math.inf, refine=True),),
    epsilons=(0.1, 2, math.inf, 1e-5),
    dimensions=(3, 2),
    repeats=4,
    measures=("ami", "distance"),
    seed=2**70,
)


def test_cells_are_the_product_in_a_fixed_order():
    cells = SPEC.cells()
    assert len(cells) == len({cell.key for cell in cells}) == 2 * 2 * 2 * 1 * 4 * 4
    assert [cell.repeat for cell in cells[:5]] == [0, 1, 2, 3, 0]
    assert [cell.epsilon for cell in cells[:16:4]] == [0.1, 2.0, math.inf, 1e-5]
    assert [cell.mechanism.name for cell in cells[:32:16]] == ["DPKMeans", "nd"]
    assert [cell.columns for cell in cells[:64:32]] == [3, 2]
    assert [cell.dataset for cell in cells[::64]] == list(SPEC.datasets)
    assert cells == SPEC.cells() == pickle.loads(pickle.dumps(cells))
    assert {cell.measures for cell in cells} == {("ami", "distance")}


def test_what_is_left_out_is_none():
    spec = ExperimentSpec(name="x", datasets=["a"], mechanisms=["DPKMeans"], epsilons=[1])
    (cell,) = spec.cells()
    assert (cell.columns, cell.clusterer) == (None, None)
    assert cell.key == "a | all columns | DPKMeans | no clusterer | epsilon 1.0 | repeat 0"
    assert list(cell.fields) == [
        "dataset",
        "columns",
        "mechanism",
        "clusterer",
        "epsilon",
        "repeat",
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"epsilons": (0.05, 0.1, 2.0, math.inf, 1e-5, 9.0)},
        {"repeats": 6},
        {"datasets": ("seeds", *SPEC.datasets)},
        {"mechanisms": (*SPEC.mechanisms, Choice("Laplace"))},
        {"measures": ("ami",)},
        {"name": "another"},
    ],
)
def test_seeds_of_old_cells_stay_when_cells_are_added(more):
    old = {cell.key: cell.seed for cell in SPEC.cells()}
    spec = replace(SPEC, **more)
    new = {cell.key: cell.seed for cell in spec.cells()}
    assert old.items() <= new.items()
    assert spec.fingerprint != SPEC.fingerprint


def test_seeds_differ_from_cell_to_cell_and_with_the_spec():
    seeds = {cell.seed for cell in SPEC.cells()}
    assert len(seeds) == len(SPEC.cells())
    assert not seeds & {cell.seed for cell in replace(SPEC, seed=1).cells()}
    assert max(seeds) < 2**32


def test_toml_round_trip(tmp_path):
    path = tmp_path / "spec.toml"
    SPEC.to_toml(path)
    again = ExperimentSpec.from_toml(path)
    assert again == SPEC
    assert again.cells() == SPEC.cells()
    assert again.fingerprint == SPEC.fingerprint
    assert [file.name for file in tmp_path.iterdir()] == ["spec.toml"]
    types = [type(value) for _, value in again.clusterers[0].pairs]
    assert types == [str, int, bool, float]


def test_toml_by_hand(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        'name = "x"\ndatasets = ["a"]\nmechanisms = ["Laplace", {name = "nd", k = 2}]\n'
        "epsilons = [1, 2.5]\n",
        encoding="utf-8",
    )
    spec = ExperimentSpec.from_toml(path)
    assert spec.mechanisms == (Choice("Laplace"), Choice("nd", k=2))
    assert spec.epsilons == (1.0, 2.5)
    assert (spec.repeats, spec.seed, spec.dimensions) == (1, 0, ())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("epsilons = [1]", "epsilons = [1, 0]", "epsilons must be a finite number > 0, got 0"),
        ("epsilons = [1]", "epsilons = [nan]", "epsilons must be a finite number > 0, got nan"),
        ("epsilons = [1]", "epsilons = [true]", "epsilons must be a finite number > 0, got True"),
        ("epsilons = [1]", 'epsilons = ["1"]', "epsilons must be a finite number > 0, got '1'"),
        ("epsilons = [1]", "epsilons = 1", "epsilons must be a list, got 1"),
        ("epsilons = [1]", "epsilons = []", "epsilons must hold at least one value, got none"),
        ("epsilons = [1]", "epsilons = [1, 1.0]", "epsilons must not repeat a value, got 1.0"),
        ("epsilons = [1]", "epsilon = [1]", "keys must be among name, .* got 'epsilon'"),
        ("epsilons = [1]", "", "epsilons must be given, got nothing"),
        ('["a"]', '"a"', "datasets must be a list, got 'a'"),
        ('["a"]', '["a|b"]', r"datasets must be text on one line without \|, got 'a|b'"),
        ('["a"]', '["a\\nb"]', "datasets must be text on one line"),
        ('["a"]', '[" "]', "datasets must be text on one line"),
        ('["m"]', "[3]", "mechanisms must be names, or tables that have a name, got 3"),
        ('["m"]', "[{k = 1}]", "mechanisms must be names, or tables that have a name, got {'k'"),
        ('["m"]', '[{name = "m", "a b" = 1}]', "mechanisms: parameters of m must .* got 'a b'"),
        ('["m"]', '[{name = "m", k = 07:30:00}]', "mechanisms: m.k must be text, a number"),
        ('["m"]', '["m(k=2)"]', r"mechanisms: name must be without \| and parentheses"),
        ('name = "x"', "name = 3", "name must be text on one line without |, got 3"),
        ('name = "x"', 'name = "x"\nrepeats = 0', "repeats must be a whole number .* got 0"),
        ('name = "x"', 'name = "x"\nseed = -1', "seed must be .* integer >= 0, got -1"),
        ('name = "x"', 'name = "x"\ndimensions = [2.5]', "dimensions must be a whole .* got 2.5"),
        ('name = "x"', "name = x", "the spec must be TOML, got .*line 1"),
        ('name = "x"', 'name = "\xff"', "the spec must be text in UTF-8"),
    ],
)
def test_bad_files_give_one_line(tmp_path, old, new, says):
    path = tmp_path / "spec.toml"
    text = 'name = "x"\ndatasets = ["a"]\nmechanisms = ["m"]\nepsilons = [1]\n'
    assert old in text
    path.write_text(text.replace(old, new), encoding="latin-1")
    with pytest.raises(ParameterError, match=says) as refused:
        ExperimentSpec.from_toml(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_files_that_cannot_be_used_give_one_line(tmp_path):
    with pytest.raises(ParameterError, match=r"a file that can be read, got .*No such file"):
        ExperimentSpec.from_toml(tmp_path / "none.toml")
    with pytest.raises(ParameterError, match=r"a file that can be written, got .*No such file"):
        SPEC.to_toml(tmp_path / "none" / "spec.toml")
    with pytest.raises(ParameterError, match=r"a file that can be written, got .*Is a directory"):
        SPEC.to_toml(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_choices_are_written_alike_whatever_was_passed():
    one = Choice("m", b=np.float64(0.5), a=np.array([1, 2]), c=np.int64(3))
    two = Choice("m", c=3, a=(1, 2), b=0.5)
    assert one == two
    assert hash(one) == hash(two)
    assert str(one) == "m(a=(1, 2), b=0.5, c=3)"
    with pytest.raises(ParameterError, match=r"m.a must be text, .*got None"):
        Choice("m", a=None)
    with pytest.raises(ParameterError, match=r"m.a must be text on one line"):
        Choice("m", a="x\ny")


def test_quick_keeps_three_epsilons_and_two_repeats():
    quick = replace(SPEC, epsilons=(4.0, 0.5, 1.0, 8.0, 2.0), repeats=10).quick()
    assert quick.epsilons == (0.5, 8.0, 2.0)
    assert quick.repeats == 2
    assert quick.quick() == quick
    small = replace(SPEC, epsilons=(3.0, 1.0), repeats=1)
    assert small.quick() == small
    whole = {cell.key: cell.seed for cell in SPEC.cells()}
    assert {cell.key: cell.seed for cell in SPEC.quick().cells()}.items() <= whole.items()
