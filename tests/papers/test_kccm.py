"""DP-KCCM as published promises nothing, and its experiment judges claims by their intervals."""

import math

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.base import clone

from papers.published import FINE, needs_files
from shoal.audit import epsilon_lower_bound
from shoal.exceptions import DataError, ParameterError
from shoal.papers.kccm import (
    CLAIMS,
    VARIANTS,
    Claim,
    Measurement,
    PublishedKCCM,
    compare_variants,
    judge_claims,
    load_blood,
    measure_published,
    published_merge,
    real_rho,
    real_spend,
)
from shoal.papers.kccm.published_merge import merged_centre
from shoal.papers.kccm.real_spend import FORMULAS

X = np.random.default_rng(3).uniform(-1, 1, (300, 2))
NOISES = ("average", "allocation", "gaussian")


def measured(costs, *, k=3, epsilon=1.0, reference=0.2):
    return [
        Measurement(variant, k, epsilon, 0.0, seed, cost, reference)
        for variant, row in costs.items()
        for seed, cost in enumerate(row)
    ]


def test_what_is_really_spent():
    assert real_spend("pseudo-code", 12) == pytest.approx(86021 / 27720)  # the 12th harmonic number
    assert real_spend("text", 12) == 78.0
    assert real_spend("pseudo-code", 1) == real_spend("text", 1) == 1.0
    assert real_spend("text", 3) == 6.0
    # Rho by its definition, for d = 4: half of (L2 sensitivity / deviation)^2 in each round.
    for formula, deviation in (("pseudo-code", lambda t: 5 * t), ("text", lambda t: 5 / t)):
        by_hand = sum((math.sqrt(5) / deviation(t)) ** 2 / 2 for t in range(1, 13))
        assert real_rho(formula, 12, columns=4) == pytest.approx(by_hand)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("overcluster", [1, 3])
def test_nothing_is_promised_and_the_reason_names_the_spend(formula, noise, overcluster):
    method = PublishedKCCM(2, formula=formula, noise=noise, overcluster=overcluster, random_state=0)
    fitted = clone(method).fit(X)
    assert fitted.cluster_centers_.shape == (2, 2)
    assert np.abs(fitted.cluster_centers_).max() <= 1.0
    assert set(fitted.labels_) <= {0, 1}
    assert np.array_equal(fitted.cluster_centers_, clone(method).fit(X).cluster_centers_)
    for promise in (clone(method).guarantee_, fitted.guarantee_):
        assert promise.notion == "none"
        assert not promise.holds
        assert promise.reason.startswith("as published, no guarantee: ")
    if noise == "gaussian":
        assert f"rho = {real_rho(formula, columns=2):.4g}" in fitted.guarantee_.reason
    else:
        assert f"spend {real_spend(formula):.4g}" in fitted.guarantee_.reason


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("noise", NOISES)
def test_scales_of_the_noise(monkeypatch, formula, noise):
    """Delta = d + 1 = 3; the average scale costs in 12 rounds what the others do."""
    scales = []
    real = np.random.default_rng

    class Listening:
        def __init__(self, words):
            self.generator = real(words)

        def __getattr__(self, law):
            assert law == ("normal" if noise == "gaussian" else "laplace")

            def draw(location, scale, size):
                scales.append((scale, size))
                return getattr(self.generator, law)(location, scale, size)

            return draw

    monkeypatch.setattr(np.random, "default_rng", Listening)
    PublishedKCCM(2, formula=formula, noise=noise, random_state=0).fit(X)
    assert [size for _, size in scales] == [(6, 2), (6,)] * 12
    drawn = [scale for scale, _ in scales[::2]]
    assert drawn == [scale for scale, _ in scales[1::2]]
    if noise == "average":
        assert len(set(drawn)) == 1
        assert sum(3 / scale for scale in drawn) == pytest.approx(real_spend(formula))
    else:
        turns = np.arange(1, 13)
        assert drawn == pytest.approx(3 * turns if formula == "pseudo-code" else 3 / turns)


def test_printed_merge_is_the_weighted_mean():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, q = rng.uniform(-1, 1, (2, 5))
        q[0] = p[0]
        n, m = rng.uniform(1, 300, 2)
        assert merged_centre(p, q, n, m) == pytest.approx((n * p + m * q) / (n + m), abs=1e-12)


def test_merging_keeps_the_total_and_takes_the_nearest():
    rng = np.random.default_rng(1)
    centres, sizes = rng.uniform(-1, 1, (9, 3)), rng.uniform(1, 50, 9)
    for k in range(1, 10):
        found, counts = published_merge(centres, sizes, k)
        assert found.shape == (k, 3)
        assert counts.sum() == pytest.approx(sizes.sum())
        # Weighted means of weighted means: the centre of all is always the same.
        assert counts @ found == pytest.approx(sizes @ centres)
    pair, _ = published_merge(np.array([[0.0], [0.9], [-0.2]]), np.ones(3), 2)
    assert sorted(pair[:, 0].tolist()) == [-0.1, 0.9]


def test_the_text_formula_is_caught():
    """Two tables of one cluster, one record apart: no epsilon of 3 holds; seen 4.0.

    The last round alone costs 12. A bound is true with probability 0.999.
    """
    rng = np.random.default_rng(0)

    def sizes(table, n):
        method = PublishedKCCM(1, formula="text", overcluster=1, random_state=rng)
        found = [method.fit(table).cluster_sizes_ for _ in range(n)]
        return np.round(np.array(found) / FINE) * FINE

    one = np.zeros((20, 1))
    found = epsilon_lower_bound(sizes, one, one[1:], samples=1000, confidence=0.999)
    assert found.exceeds(3.0)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (PublishedKCCM(0), "n_clusters must be"),
        (PublishedKCCM(formula="code"), "formula must be 'pseudo-code' or 'text', got 'code'"),
        (PublishedKCCM(noise="adaptive"), "noise must be one of"),
        (PublishedKCCM(overcluster=1.5), "overcluster must be"),
        (PublishedKCCM(max_iter=0), "max_iter must be"),
        (PublishedKCCM(random_state="seed"), "random_state must be"),
    ],
)
def test_bad_parameters(method, message):
    with pytest.raises(ParameterError, match=message):
        method.fit(X)


def test_records_outside_the_box_are_refused():
    with pytest.raises(DataError, match=r"X must lie in \[-1, 1\] in every column"):
        PublishedKCCM().fit(2 * X)


def test_experiment_measures_every_variant_and_seed():
    found = compare_variants(X, k=2, epsilons=[2.0, 20.0], seeds=range(3), rounds=4)
    assert len(found) == 2 * 7 * 3
    assert {one.variant for one in found} == {*VARIANTS, "auto"}
    assert len({one.reference for one in found}) == 1
    assert all(one.relative > 0.999 for one in found)
    assert {one.delta > 0 for one in found if one.variant.startswith("gaussian")} == {True}
    assert {one.delta for one in found if not one.variant.startswith("gaussian")} == {0.0}
    again = compare_variants(X, k=2, epsilons=[20.0], seeds=[1], rounds=4, variants=["average nk"])
    assert set(again) <= set(found)
    with pytest.raises(ParameterError, match="variants must be of"):
        compare_variants(X, k=2, variants=["adaptive k"])


def test_as_published_is_labelled_and_priced():
    found = measure_published(X, k=2, seeds=range(2))
    assert len(found) == 2 * 6 * 2
    assert all("as published, no guarantee" in str(one) for one in found)
    laplace = {one.epsilon for one in found if one.delta == 0}
    assert laplace == {real_spend(formula) for formula in FORMULAS}


def test_verdicts_by_the_interval():
    rng = np.random.default_rng(0)
    base = rng.normal(1.0, 0.05, 40)
    claim = Claim("helps", "new", ("old",))
    marked = Claim("helps markedly", "new", ("old",), -0.05)
    denied = Claim("does not help", "new", ("old",), -0.05, denied=True)

    def words(factor, spread):
        new = factor * base + rng.normal(0, spread, 40)
        found = judge_claims(measured({"old": base, "new": new}), claims=[claim, marked, denied])
        return [verdict.judgement for verdict in found[::2]]

    assert words(0.8, 0.02) == ["holds", "holds", "does not hold"]
    assert words(0.98, 0.02) == ["holds", "does not hold", "holds"]
    assert words(1.2, 0.02) == ["does not hold", "does not hold", "holds"]
    assert words(0.95, 0.5) == ["undecided", "undecided", "undecided"]


def test_interval_is_paired_and_that_of_student():
    """Where the old costs are all the same the interval is the textbook's."""
    new = np.array([1.1, 1.3, 1.0, 1.2])
    claim = Claim("helps", "new", ("old",))
    whole, cell = judge_claims(measured({"old": [1.0] * 4, "new": new}), claims=[claim])
    margin = student.ppf(0.975, 3) * new.std(ddof=1) / 2
    assert (whole.low, whole.high) == pytest.approx((0.15 - margin, 0.15 + margin))
    assert whole.difference == pytest.approx(0.15 / 0.2)  # in costs without privacy
    assert (whole.scope, cell.scope) == ("all", "k = 3, epsilon 1")
    assert cell.change == whole.change
    old = np.array([0.5, 1.0, 2.0, 4.0])
    (pairs, _) = judge_claims(measured({"old": old, "new": 1.1 * old}), claims=[claim])
    assert (pairs.low, pairs.high) == pytest.approx((0.1, 0.1))


def test_best_of_several_needs_all_of_them():
    rng = np.random.default_rng(1)
    costs = {name: rng.normal(mean, 0.05, 40) for name, mean in (("a", 1.0), ("b", 1.5))}
    claim = Claim("is best", "new", ("a", "b"))

    def verdict(mean):
        return judge_claims(measured({**costs, "new": rng.normal(mean, 0.05, 40)}), claims=[claim])[
            0
        ]

    alike = measured({"a": [1.0] * 4, "b": [1.0] * 4, "new": [1.1, 1.3, 1.0, 1.2]})
    shared = judge_claims(alike, claims=[claim])[0]
    error = np.std([1.1, 1.3, 1.0, 1.2], ddof=1) / 2
    assert shared.high - shared.change == pytest.approx(student.ppf(1 - 0.05 / 4, 3) * error)
    assert verdict(0.8).judgement == "holds"
    assert verdict(1.2).judgement == "does not hold"
    assert verdict(1.2).rival == "a"


def test_seeds_must_match():
    costs = {"old": [1.0, 1.1], "new": [1.0, 1.2]}
    claim = Claim("helps", "new", ("old",))
    for broken in (
        [],
        measured(costs)[:-1],
        measured({"old": [1.0], "new": [1.0]}),
        measured(costs) + measured({"old": [1.0, 1.1]}, k=4),
    ):
        with pytest.raises(ParameterError, match="records must have the same two seeds or more"):
            judge_claims(broken, claims=[claim])


@needs_files
def test_blood_is_the_table_of_the_source():
    table = load_blood()
    assert table.shape == (748, 4)
    assert (table.min(axis=0) == -1).all()
    assert (table.max(axis=0) == 1).all()


@needs_files
def test_claims_quick():
    """At epsilon 5 with 15 seeds: merging costs a quarter, adaptive noise alone saves a tenth."""
    found = compare_variants(load_blood(), epsilons=[5.0], seeds=range(15), variants=VARIANTS)
    by = {verdict.claim.text: verdict for verdict in judge_claims(found) if verdict.scope == "all"}
    assert by["merging helps"].judgement == "does not hold"
    assert by["adaptive noise alone does not help significantly"].judgement == "does not hold"


@needs_files
@pytest.mark.full
def test_claims_over_epsilons_and_clusters():
    """Which claims hold once every variant keeps its promise; run with -s for the table.

    Seeds are fixed, so it passes or fails for good. With 100 seeds every change asserted here is
    at least three margins of its interval from the threshold. "Markedly" is not asserted: over
    epsilons the change was -2.3% +- 2.5% against a threshold of -5%.
    """
    table, seeds = load_blood(), range(60)
    by_epsilon = compare_variants(table, seeds=seeds, variants=VARIANTS)
    by_clusters = [
        one
        for k in range(2, 9)
        for one in compare_variants(table, k=k, epsilons=[1.0], seeds=seeds, variants=VARIANTS)
    ]
    for found in (by_epsilon, by_clusters):
        verdicts = judge_claims(found)
        print(*verdicts, sep="\n")  # noqa: T201
        whole = {one.claim.text: one.judgement for one in verdicts if one.scope == "all"}
        assert set(whole) == {claim.text for claim in CLAIMS}
        assert whole["merging helps"] == "does not hold"
        assert whole["adaptive noise alone does not help significantly"] == "does not hold"
        assert whole["adaptive noise adds to merging"] == "holds"
        assert whole["Gaussian is the best noise, merging"] == "holds"
        assert whole["Gaussian is the best noise, not merging"] == "holds"
        assert whole["Gaussian with merging is the best of all"] == "does not hold"
