"""The recommendation follows its rule, whatever the numbers are."""

import pytest

from shoal.experiments.compare import Comparison, Frame, MethodRow, recommend
from shoal.experiments.compare.frame import Baselines
from shoal.experiments.compare.recommend import useless
from shoal.experiments.estimate import Estimate

FRAME = Frame(
    file="people.csv",
    names=("a", "b"),
    label=None,
    low=(0.0, 0.0),
    high=(1.0, 1.0),
    clusters=2,
    centres=((0.0, 0.0), (1.0, 1.0)),
    records=100,
    baselines=Baselines(middle=9.0, even=6.0, mean=5.0),
    even_ami=0.1,
    kmeans_label=None,
    wave_label=None,
)


def row(method, model, epsilon, cost, half=0.1):
    found = None if cost is None else Estimate(cost, cost - half, cost + half)
    return MethodRow(method, method, model, epsilon, epsilon, found, None, None, 0.1, {})


def comparison(*rows):
    epsilons = tuple(sorted({one.epsilon for one in rows}))
    return Comparison(FRAME, rows, epsilons, 10, {}, ())


def test_best_of_each_model_at_the_middle_epsilon():
    found = comparison(
        *[row("A", "central", epsilon, cost) for epsilon, cost in ((0.5, 9.0), (1, 1.2), (2, 1.1))],
        *[row("B", "central", epsilon, cost) for epsilon, cost in ((0.5, 1.0), (1, 2.0), (2, 1.0))],
        *[row("C", "local", epsilon, cost) for epsilon, cost in ((0.5, 9.0), (1, 2.5), (2, 1.0))],
    )
    sentence = recommend(found)
    assert sentence.startswith("At a worst-case epsilon of 1, with a curator")
    assert "take A (ahead of all others): its centres cost 1.20 ± 0.10 times" in sentence
    assert "without one, take C: its centres cost 2.50 ± 0.10 times" in sentence
    assert sentence.count(".") == sentence.count("0.") + sentence.count("1.2") + 2
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_level_methods_are_named():
    rows = [row("A", "central", 1, 1.2), row("B", "central", 1, 1.3), row("C", "central", 1, 1.35)]
    assert "take A (level with B and 1 more)" in recommend(comparison(*rows))
    assert "take A (level with B)" in recommend(comparison(*rows[:2]))


@pytest.mark.parametrize(("cost", "useful"), [(2.99, True), (3.01, False)])
def test_useful_is_nearer_to_kmeans_than_to_no_clusters(cost, useful):
    assert ("take A" in recommend(comparison(row("A", "central", 1, cost)))) == useful


def test_nothing_useful_names_the_least_epsilon_that_is():
    costs = ((0.5, 4.0), (1, 4.0), (2, 4.0), (4, 2.0), (8, 1.0))
    rows = [row("A", "local", epsilon, cost) for epsilon, cost in costs]
    sentence = recommend(comparison(*rows))
    assert "without one, nothing is useful: the least cost, that of A" in sentence
    assert "A is at 4, the least that was tried" in sentence
    sentence = recommend(comparison(*rows[:3]))
    assert "no epsilon that was tried is enough" in sentence


def test_worse_than_knowing_nothing():
    rows = [row("A", "central", 1, 5.9), row("B", "local", 1, 6.1), row("W", "central", 1, None)]
    assert useless(comparison(*rows)) == ["B"]


def test_cells_alone():
    assert "none is recommended" in recommend(comparison(row("W", "central", 1, None)))


def test_estimates():
    found = Estimate.of([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.low == pytest.approx(2.0 - 4.302653 / 3**0.5, abs=1e-5)
    assert found.brief == "2.00 ± 2.48"
    assert str(found) == "2.000 [-0.484, 4.484]"
    assert Estimate.of([1.5]).brief == "1.50"
    assert Estimate(112.3, 110.3, 114.3).brief == "112 ± 2"
    assert not Estimate(1, 0.9, 1.1).overlaps(Estimate(2, 1.2, 2.8))
