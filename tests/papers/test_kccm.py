"""DP-KCCM as published promises nothing, and its experiment judges claims by their intervals."""

import math

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.base import clone

from papers.published import FINE, needs_files
from shoal.audit import epsilon_lower_bound
from shoal.cluster._centers import pack_spheres
from shoal.cluster.kmeans import _kccm
from shoal.engines import HALF
from shoal.exceptions import DataError, ParameterError
from shoal.metrics import nicv
from shoal.papers.kccm import (
    CLAIMS,
    FORMULAS,
    VARIANTS,
    Claim,
    Measurement,
    PublishedKCCM,
    SharedStart,
    compare_variants,
    fit_on_start,
    judge_claims,
    load_blood,
    measure_published,
    plain_cost,
    published_kccm,
    published_merge,
    published_model,
    real_rho,
    real_spend,
    variant_model,
    without_outliers,
)
from shoal.papers.kccm.published_merge import merged_center

X = np.random.default_rng(3).uniform(-1, 1, (300, 2))
NOISES = ("average", "allocation", "gaussian")


def measured(costs, *, k=3, epsilon=1.0, reference=0.2):
    return [
        Measurement(variant, k, epsilon, 0.0, start, cost, reference)
        for variant, row in costs.items()
        for start, cost in enumerate(row)
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
        assert merged_center(p, q, n, m) == pytest.approx((n * p + m * q) / (n + m), abs=1e-12)


def test_merging_keeps_the_total_and_takes_the_nearest():
    rng = np.random.default_rng(1)
    centers, sizes = rng.uniform(-1, 1, (9, 3)), rng.uniform(1, 50, 9)
    for k in range(1, 10):
        found, counts = published_merge(centers, sizes, k)
        assert found.shape == (k, 3)
        assert counts.sum() == pytest.approx(sizes.sum())
        # Weighted means of weighted means: the center of all is always the same.
        assert counts @ found == pytest.approx(sizes @ centers)
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


def test_experiment_measures_every_variant_and_start():
    words = {"k": 2, "runs": 2, "rounds": 4}
    found = compare_variants(X, epsilons=[2.0, 20.0], starts=range(3), **words)
    assert len(found) == 2 * 7 * 3
    assert {one.variant for one in found} == {*VARIANTS, "auto"}
    assert len({one.reference for one in found}) == 1
    assert found[0].reference == plain_cost(X, 2)
    assert all(one.relative > 0.999 for one in found)
    assert {one.delta > 0 for one in found if one.variant.startswith("gaussian")} == {True}
    assert {one.delta for one in found if not one.variant.startswith("gaussian")} == {0.0}
    again = compare_variants(X, epsilons=[20.0], starts=[1], variants=["average nk"], **words)
    assert set(again) <= set(found)
    other = compare_variants(
        X, epsilons=[20.0], starts=[1], variants=["average nk"], seed=1, **words
    )
    assert not set(other) & set(found)
    with pytest.raises(ParameterError, match="variants must be of"):
        compare_variants(X, k=2, variants=["adaptive k"])
    with pytest.raises(ParameterError, match="variants must be of"):
        measure_published(X, k=2, variants=["auto"])
    with pytest.raises(ParameterError, match="runs must be"):
        compare_variants(X, k=2, runs=0)


def test_a_measurement_is_the_mean_of_its_runs():
    words = {"k": 2, "epsilons": [5.0], "variants": ["average k"], "rounds": 4}
    (whole,) = compare_variants(X, starts=[4], runs=3, **words)
    model = variant_model("average k", k=2, epsilon=5.0, n=len(X), rounds=4)
    costs = [
        nicv(X, fit_on_start(model, X, start=4, seed=0, run=run).cluster_centers_)
        for run in range(3)
    ]
    assert len(set(costs)) == 3
    assert (whole.runs, whole.start) == (3, 4)
    assert (whole.nicv, whole.deviation) == pytest.approx((np.mean(costs), np.std(costs, ddof=1)))


def test_runs_and_noises_share_a_start(monkeypatch):
    """First centers depend on the start and the number of centers; what follows on the run."""
    firsts, lasts = {}, []

    def listening(name, real):
        def listen(*args, **words):
            place = (start, run, name, len(args[1]))
            firsts.setdefault(place, args[1])
            return real(*args, **words)

        return listen

    monkeypatch.setattr(_kccm, "noisy_rounds", listening("corrected", _kccm.noisy_rounds))
    monkeypatch.setattr(
        published_kccm, "_noisy_round", listening("published", published_kccm._noisy_round)
    )
    for start in (0, 1):
        for run in (0, 1):
            for variant in ("average nk", "gaussian nk", "allocation k"):
                for model in (
                    variant_model(variant, k=2, epsilon=1.0, n=len(X), rounds=2),
                    published_model(variant, formula="text", k=2, rounds=2),
                ):
                    fitted = fit_on_start(model, X, start=start, seed=0, run=run)
                    lasts.append(fitted.cluster_centers_.tobytes())
    assert len(set(lasts)) == len(lasts)
    for centers in (2, 6):
        for start in (0, 1):
            packed = pack_spheres(centers, 2, SharedStart(start, b"", centers=centers, columns=2))
            for run in (0, 1):
                assert np.array_equal(firsts[start, run, "published", centers], packed)
                on_lattice = firsts[start, run, "corrected", centers]
                assert np.array_equal(on_lattice, np.rint(packed * HALF))
        other = firsts[1, 0, "published", centers]
        assert not np.array_equal(firsts[0, 0, "published", centers], other)


def test_as_published_is_labeled_and_priced():
    found = measure_published(X, k=2, starts=range(2), runs=2)
    assert len(found) == 2 * 6 * 2
    assert all("as published, no guarantee" in str(one) for one in found)
    laplace = {one.epsilon for one in found if one.delta == 0}
    assert laplace == {real_spend(formula) for formula in FORMULAS}
    (one,) = measure_published(
        X, k=2, starts=[1], runs=2, formulas=["text"], variants=["average nk"]
    )
    assert one in found


def test_verdicts_by_the_interval():
    rng = np.random.default_rng(0)
    base = rng.normal(1.0, 0.05, 40)
    claim = Claim("helps", "new", ("old",))
    marked = Claim("helps markedly", "new", ("old",), -0.05)
    denied = Claim("does not help", "new", ("old",), -0.05, denied=True)

    def words(factor, spread):
        new = factor * base + rng.normal(0, spread, 40)
        found = judge_claims(measured({"old": base, "new": new}), claims=[claim, marked, denied])
        return [verdict.judgment for verdict in found[::2]]

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
    assert verdict(0.8).judgment == "holds"
    assert verdict(1.2).judgment == "does not hold"
    assert verdict(1.2).rival == "a"


def test_starts_must_match():
    costs = {"old": [1.0, 1.1], "new": [1.0, 1.2]}
    claim = Claim("helps", "new", ("old",))
    for broken in (
        [],
        measured(costs)[:-1],
        measured({"old": [1.0], "new": [1.0]}),
        measured(costs) + measured({"old": [1.0, 1.1]}, k=4),
    ):
        with pytest.raises(ParameterError, match="records must have the same two starts or more"):
            judge_claims(broken, claims=[claim])


@needs_files
def test_blood_is_the_table_of_the_source():
    table = load_blood()
    assert table.shape == (748, 4)
    assert (table.min(axis=0) == -1).all()
    assert (table.max(axis=0) == 1).all()


def test_outliers_are_left_out():
    rng = np.random.default_rng(0)
    table = np.vstack([rng.uniform(-1, 1, (200, 2)), [[9.0, 0.0], [0.0, -9.0]]])
    kept = without_outliers(table)
    assert kept.shape == (200, 2)
    assert np.abs(kept).max() == 1.0


@needs_files
def test_claims_quick():
    """At epsilon 2 and 5 on 20 starts: merging costs a fifth, adaptive noise saves a seventh."""
    names = ("average k", "average nk", "allocation k")
    found = compare_variants(
        load_blood(), epsilons=[2.0, 5.0], starts=range(20), runs=3, variants=names
    )
    whole = [one for one in judge_claims(found, claims=CLAIMS[:2]) if one.scope == "all"]
    assert [one.claim.new for one in whole] == ["average nk", "allocation k"]
    assert [one.judgment for one in whole] == ["does not hold"] * 2
