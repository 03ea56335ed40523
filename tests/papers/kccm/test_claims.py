"""Claims of DP-KCCM are judged by intervals over starts; wrong ones are told from right ones."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from helpers.paper_data import needs_files
from shoal.exceptions import ParameterError
from shoal.papers.kccm import FORMULAS, KccmStudy, Plan, real_spend
from shoal.papers.kccm.claims import (
    CONTRASTS,
    Contrast,
    compare_all,
    judge_contrast,
    relative_costs,
)
from shoal.papers.kccm.experiments import DATASET, TRIMMED

# Costs for which the source is right in everything, and what makes each of its findings wrong.
PRAISED = {
    "average k": 1.0,
    "average nk": 0.9,
    "allocation k": 0.99,
    "allocation nk": 0.8,
    "gaussian k": 0.7,
    "gaussian nk": 0.6,
}
WRONG = [
    ("finding 1", {"average nk": 1.1}),
    ("finding 2", {"allocation k": 0.8}),
    ("finding 2", {"allocation nk": 0.99}),
    ("finding 3", {"gaussian nk": 0.85}),
    ("finding 3", {"gaussian k": 1.05}),
]
HELPS = Contrast("helps", "new", ("old",))


def rows_of(costs, *, k=3, epsilon=1.0, reference=0.2, **columns):
    return [
        {"variant": variant, "k": k, "epsilon": epsilon, "repeat": start, "nicv": cost}
        | {"reference": reference, **columns}
        for variant, some in costs.items()
        for start, cost in enumerate(some)
    ]


def judged(contrast, costs):
    settings = relative_costs(rows_of(costs), (contrast.new, *contrast.old))
    return judge_contrast(contrast, list(settings.values()))


def test_judgments_by_the_interval():
    rng = np.random.default_rng(0)
    base = rng.normal(1.0, 0.05, 40)
    markedly = Contrast("helps markedly", "new", ("old",), -0.05)
    denied = Contrast("does not help", "new", ("old",), -0.05, denied=True)

    def judgments(factor, spread):
        costs = {"old": base, "new": factor * base + rng.normal(0, spread, 40)}
        return [judged(contrast, costs)[0] for contrast in (HELPS, markedly, denied)]

    assert judgments(0.8, 0.02) == ["holds", "holds", "does not hold"]
    assert judgments(0.98, 0.02) == ["holds", "does not hold", "holds"]
    assert judgments(1.2, 0.02) == ["does not hold", "does not hold", "holds"]
    assert judgments(0.95, 0.5) == ["undecided", "undecided", "undecided"]


def test_interval_is_paired_and_that_of_student():
    """Where the old costs are all the same the interval is the textbook's."""
    new = np.array([1.1, 1.3, 1.0, 1.2])
    _, change = judged(HELPS, {"old": [1.0] * 4, "new": new})
    margin = student.ppf(0.975, 3) * new.std(ddof=1) / 2
    assert (change.mean, change.low, change.high) == pytest.approx(
        (0.15, 0.15 - margin, 0.15 + margin)
    )
    old = np.array([0.5, 1.0, 2.0, 4.0])
    _, pairs = judged(HELPS, {"old": old, "new": 1.1 * old})
    assert (pairs.low, pairs.high) == pytest.approx((0.1, 0.1))


def test_settings_count_the_same_whatever_their_costs():
    settings = relative_costs(
        rows_of({"old": [1.0, 1.1], "new": [1.0, 1.1]})
        + rows_of({"old": [50.0, 55.0], "new": [60.0, 66.0]}, epsilon=0.1),
        ("old", "new"),
    )
    _, change = judge_contrast(HELPS, list(settings.values()))
    assert change.mean == pytest.approx(0.1)


def test_best_of_several_needs_all_of_them():
    rng = np.random.default_rng(1)
    costs = {name: rng.normal(mean, 0.05, 40) for name, mean in (("a", 1.0), ("b", 1.5))}
    best = Contrast("is best", "new", ("a", "b"))
    alike = {"a": [1.0] * 4, "b": [1.0] * 4, "new": [1.1, 1.3, 1.0, 1.2]}
    _, shared = judged(best, alike)
    error = np.std([1.1, 1.3, 1.0, 1.2], ddof=1) / 2
    assert shared.high - shared.mean == pytest.approx(student.ppf(1 - 0.05 / 4, 3) * error)
    assert judged(best, {**costs, "new": rng.normal(0.8, 0.05, 40)})[0] == "holds"
    judgment, change = judged(best, {**costs, "new": rng.normal(1.2, 0.05, 40)})
    assert judgment == "does not hold"
    assert change.mean == pytest.approx(0.2, abs=0.05)  # over a, the better rival


def test_starts_must_match():
    costs = {"old": [1.0, 1.1], "new": [1.0, 1.2]}
    for broken in (
        [],
        rows_of(costs)[:-1],
        rows_of({"old": [1.0], "new": [1.0]}),
        rows_of(costs) + rows_of({"old": [1.0, 1.1]}, k=4),
    ):
        with pytest.raises(ParameterError, match="records must have the same two starts or more"):
            relative_costs(broken, ("old", "new"))


def made_up(published=PRAISED, corrected=PRAISED, *, trimmed=None, spread=0.01, starts=8):
    """Measurements with these mean costs; those of the table without outliers may be others."""
    rng = np.random.default_rng(0)

    def rows(costs, epsilon, k, dataset, formula=None):
        drawn = {name: cost * (1 + rng.normal(0, spread, starts)) for name, cost in costs.items()}
        return [
            {
                **row,
                "runs": 3,
                "real_epsilon": real_spend(formula) if formula else epsilon,
                "real_delta": 1e-4 if row["variant"].startswith("gaussian") else 0.0,
            }
            for row in rows_of(
                drawn, k=k, epsilon=epsilon, reference=0.5, dataset=dataset, formula=formula
            )
        ]

    by = {DATASET: corrected, TRIMMED: corrected if trimmed is None else trimmed}
    printed = published if set(published) == set(FORMULAS) else dict.fromkeys(FORMULAS, published)
    return {
        "epsilon": [
            row for name in by for at in (1.0, 25.0) for row in rows(by[name], at, 3, name)
        ],
        "k": [row for at in (1.0, 25.0) for row in rows(corrected, at, 2, DATASET)],
        "published": [
            row
            for name in by
            for formula in FORMULAS
            for k in (2, 3)
            for row in rows(printed[formula], math.inf, k, name, formula)
        ],
    }


def outcomes(*args, **kwargs):
    return {one.claim.name: one.outcome for one in KccmStudy().judge(made_up(*args, **kwargs))}


def test_claims_are_reproduced_where_the_source_is_right():
    assert outcomes() == dict.fromkeys(("finding 1", "finding 2", "finding 3"), "reproduced")


@pytest.mark.parametrize(("finding", "change"), WRONG)
def test_a_wrong_claim_is_told_from_the_right_ones(finding, change):
    """Spread and starts are such that a verdict is wrong with a probability far below 1e-6."""
    wrong = {**PRAISED, **change}
    # That something does not help needs no leak.
    lost = "only as published" if "allocation k" in change else "cannot be private"
    for kwargs, expected in (
        ({"published": wrong}, "not reproduced"),
        ({"published": wrong, "corrected": wrong}, "not reproduced"),
        ({"corrected": wrong}, lost),
    ):
        found = outcomes(**kwargs)
        assert found.pop(finding) == expected
        assert set(found.values()) == {"reproduced"}


def test_one_of_two_formulas_is_enough_but_not_one_of_two_tables():
    wrong = {**PRAISED, "average nk": 1.1, "gaussian nk": 0.85}
    for formula in FORMULAS:
        found = outcomes({**dict.fromkeys(FORMULAS, PRAISED), formula: wrong})
        assert set(found.values()) == {"reproduced"}
    found = outcomes(trimmed=wrong)
    assert found.pop("finding 3") == "cannot be private"
    assert set(found.values()) == {"reproduced"}


def test_an_interval_with_the_limit_in_it_decides_nothing():
    found = KccmStudy().judge(made_up(spread=0.5))
    assert {one.outcome for one in found} == {"undecided"}
    for one in found:
        assert "undecided" in one.evidence
        assert one.evidence.count("[") >= 3
        assert "really epsilon 3.1" in one.evidence
        assert "really epsilon 78" in one.evidence


def test_every_contrast_on_every_table_and_version():
    comparisons = compare_all(made_up())
    assert len(comparisons) == len(CONTRASTS) * 2 * 3
    assert {one.settings for one in comparisons if one.reading == "corrected"} == {2, 4}
    assert {one.settings for one in comparisons if one.reading != "corrected"} == {2}
    first = comparisons[0]
    assert (first.judgment, first.held, str(first.contrast)) == (
        "holds", 2, "average nk over average k",
    )  # fmt: skip
    assert first.change.mean == pytest.approx(-0.1, abs=0.01)


@needs_files
def test_claims_quick():
    """At epsilon 2 and 5 on 20 starts: merging costs a fifth, adaptive noise saves a seventh."""
    names = ("average k", "average nk", "allocation k")
    plan = Plan(epsilons=(2.0, 5.0), clusters=(2,), starts=20, runs=1)
    experiment = KccmStudy(quick=plan).experiments(full=False, seed=0)[0]
    rows = [
        {**trial.fields, **record}
        for trial in experiment.spec.trials()
        if trial.mechanism.name in names and trial.dataset == DATASET
        for record in experiment.work(trial)
    ]
    settings = list(relative_costs(rows, names).values())
    found = [judge_contrast(contrast, settings) for contrast in CONTRASTS[:2]]
    assert [judgment for judgment, _ in found] == ["does not hold"] * 2
    merging, adaptive = (change.mean for _, change in found)
    assert (merging, adaptive) == (pytest.approx(0.2, abs=0.1), pytest.approx(-0.14, abs=0.07))
