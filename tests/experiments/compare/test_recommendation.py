"""The recommendation follows its rule, whatever the numbers are."""

from dataclasses import replace

import pytest

from helpers.made_up_comparison import comparison, row
from shoal.experiments import Estimate
from shoal.experiments.compare import recommend
from shoal.experiments.compare.recommendation import not_better_than_blind


def test_best_of_each_model_at_the_middle_epsilon():
    found = comparison(
        *[row("A", "central", epsilon, cost) for epsilon, cost in ((0.5, 9.0), (1, 1.2), (2, 1.1))],
        *[row("B", "central", epsilon, cost) for epsilon, cost in ((0.5, 1.0), (1, 2.0), (2, 1.0))],
        *[row("C", "local", epsilon, cost) for epsilon, cost in ((0.5, 9.0), (1, 2.5), (2, 1.0))],
    )
    sentence = recommend(found)
    assert sentence.startswith("At a worst-case epsilon of 1, with a curator")
    assert "take A (ahead of all others): its centers cost 1.20 ± 0.10 times" in sentence
    assert "from reports alone, take C: its centers cost 2.50 ± 0.10 times" in sentence
    assert "2 points spread blindly over the box cost 6 times as much" in sentence
    assert "one center alone 5 times" in sentence
    assert "shuffler" not in sentence, "nothing was run behind one"
    assert sentence.count(".") == sentence.count("0.") + sentence.count("1.2") + 2
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_level_methods_are_named():
    rows = [row("A", "central", 1, 1.2), row("B", "central", 1, 1.3), row("C", "central", 1, 1.35)]
    assert "take A (these runs cannot tell it from B and 1 more)" in recommend(comparison(*rows))
    assert "take A (these runs cannot tell it from B)" in recommend(comparison(*rows[:2]))


@pytest.mark.parametrize(
    ("cost", "words"),
    [(2.89, "take A"), (2.95, "undecided"), (3.05, "undecided"), (3.11, "no method is useful")],
)
def test_useful_is_surely_nearer_to_kmeans_than_to_no_clusters(cost, words):
    sentence = recommend(comparison(row("A", "central", 1, cost)))
    for other in ("take A", "undecided", "no method is useful"):
        assert (other in sentence) == (other == words)
    assert ("run with --runs 40" in sentence) == (words == "undecided")


@pytest.mark.parametrize("runs", [1, 2, 4])
def test_few_runs_recommend_nothing(runs):
    """Two runs used to print 3.10 ± 15.04, and a recommendation."""
    sentence = recommend(comparison(row("A", "central", 1, 1.1), runs=runs))
    assert sentence.startswith("Undecided: ")
    assert sentence.endswith("(at least 5 are needed); run with --runs 10.")
    assert "take" not in sentence


def test_a_weaker_promise_is_not_recommended():
    weak = replace(row("own:Sketch", "central", 1, 1.0), equal=False)
    sentence = recommend(comparison(weak, row("A", "central", 1, 1.5)))
    assert "take A:" in sentence
    assert "Sketch" not in sentence
    assert "none is recommended" in recommend(comparison(weak))


def test_nothing_useful_names_the_least_epsilon_that_is():
    costs = ((0.5, 4.0), (1, 4.0), (2, 4.0), (4, 2.0), (8, 1.0))
    rows = [row("A", "local", epsilon, cost) for epsilon, cost in costs]
    sentence = recommend(comparison(*rows))
    assert "from reports alone, no method is useful: the lowest cost, that of A" in sentence
    assert "A becomes useful at 4, the smallest tried that is enough" in sentence
    sentence = recommend(comparison(*rows[:3]))
    assert "no epsilon that was tried is enough" in sentence


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (4.0, "better than blind, but closer to blind than to k-means"),
        (5.8, "better than blind, but"),
        (5.95, "privacy, not better than blind"),
        (6.05, "privacy, not better than blind"),
        (6.2, "privacy, worse than blind"),
    ],
)
@pytest.mark.parametrize("model", ["central", "shuffled", "local"])
def test_what_is_not_useful_is_compared_with_blind_points(cost, words, model):
    """In all trust models by the same rule: points that nobody looked at a record for."""
    sentence = recommend(comparison(row("A", model, 1, cost)))
    assert "no method is useful: the lowest cost, that of A" in sentence
    assert words in sentence


def test_three_trust_models_are_recommended_by_their_own_numbers():
    shuffled = replace(row("C", "shuffled", 1, 1.1), own_epsilon=5.6)
    sentence = recommend(
        comparison(row("A", "central", 1, 1.0), shuffled, row("C", "local", 1, 5.9))
    )
    assert "with a curator who holds the records, take A: its centers cost 1.00" in sentence
    assert (
        "from reports behind a shuffler, take C at a local epsilon of 5.6 (delta 1e-06): its "
        "centers cost 1.10" in sentence
    )
    assert "from reports alone, no method is useful" in sentence


def test_not_better_than_blind():
    rows = [
        row("A", "central", 1, 5.85),
        row("B", "local", 1, 5.95),
        row("C", "shuffled", 1, 6.1),
        row("W", "central", 1, None),
    ]
    assert not_better_than_blind(comparison(*rows)) == ["B", "C"]
    # Few runs have no interval.
    assert not_better_than_blind(comparison(*rows, runs=2)) == ["C"]


def test_cells_alone():
    assert "none is recommended" in recommend(comparison(row("W", "central", 1, None)))


def test_estimates():
    found = Estimate.of([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.low == pytest.approx(2.0 - 4.302653 / 3**0.5, abs=1e-5)
    assert found.brief == "2.00 ± 2.48"
    assert str(found) == "2.000 [-0.484, 4.484]"
    assert Estimate.of([1.5]).brief == "1.50"
    assert Estimate.of([1.0, 2.0, 9.0], lowest=0.0).brief == "4.00 [0.00, 14.83]"
    assert Estimate(112.3, 110.3, 114.3).brief == "112 ± 2"
    assert not Estimate(1, 0.9, 1.1).overlaps(Estimate(2, 1.2, 2.8))


def test_more_runs_are_asked_for_as_the_reader_can():
    few = comparison(row("A", "central", 1, 1.2), runs=2)
    assert recommend(few).endswith("(at least 5 are needed); run with --runs 10.")
    assert recommend(few, more="ask for {} runs").endswith(
        "(at least 5 are needed); ask for 10 runs."
    )
    open_ = comparison(row("A", "central", 1, 2.95))
    assert "--runs" not in recommend(open_, more="ask for {} runs")
    assert "ask for 40 runs" in recommend(open_, more="ask for {} runs")
