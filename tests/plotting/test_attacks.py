"""Attacks and audits: curves, what a promise rules out, and the claim beside the bound."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.charts import AUDIT, column, layers, legend
from shoal.audit import AttackResult, Evidence
from shoal.exceptions import ParameterError
from shoal.experiments import AttackRow
from shoal.plotting import draw_audit, draw_rates, draw_roc

RNG = np.random.default_rng(0)
CURVE = [0.0, 0.1, 1.0], [0.0, 0.4, 1.0]


def test_curves_by_both_spellings_and_what_epsilon_rules_out():
    curves = {"one": CURVE, "other": SimpleNamespace(fpr=CURVE[0], tpr=CURVE[1])}
    picture = draw_roc(curves, epsilon=1.0)
    for panel, log in enumerate((False, True)):
        (band,) = layers(picture, panel, "area")
        _, one, other = layers(picture, panel, "line")
        assert column(one.rows, "x") == column(other.rows, "x")
        assert one.mark["strokeDash"] != other.mark["strokeDash"]
        assert one.mark["interpolate"] == "step-after"
        assert (one.encoding["x"]["scale"].get("type") == "log") is log
        # Each attack of a release with epsilon = 1 has tpr <= e fpr and 1 - fpr <= e (1 - tpr).
        fpr, low = (np.array(column(band.rows, name)) for name in ("x", "y"))
        assert (low <= math.e * fpr + 1e-5).all()
        assert (1 - fpr <= math.e * (1 - low) + 1e-5).all()
        assert (low - fpr).max() == pytest.approx((math.e - 1) / (math.e + 1), abs=0.01)
    assert [*legend(picture)] == ["ruled out by ε = 1", "one", "other", "guessing"]


def test_without_a_promise_nothing_is_ruled_out():
    assert not layers(draw_roc({"one": CURVE}), mark="area")
    (band,) = layers(draw_roc({"one": CURVE}, epsilon=1e6), mark="area")  # beyond float64
    assert None not in column(band.rows, "y")


@pytest.mark.parametrize(
    ("curves", "given", "message"),
    [
        ({}, {}, "curves must be a dict of at least one curve, got dict"),
        ({"a": 3}, {}, "curves must be pairs .* got a int for 'a'"),
        ({"a": ([0, 1], [0])}, {}, r"as many fpr as tpr, got shapes \(2,\) and \(1,\)"),
        ({"a": ([0, 1], [0, 1.5])}, {}, "curves must hold shares from 0 to 1"),
        ({"a": CURVE}, {"epsilon": -1}, "epsilon must be a finite number >= 0, got -1"),
    ],
)
def test_bad_curves(curves, given, message):
    with pytest.raises(ParameterError, match=message):
        draw_roc(curves, **given)


@pytest.mark.parametrize("ceiling", [None, 0.0, 0.462, 1.0])
def test_rates_beside_those_without_privacy(ceiling):
    runs = [(RNG.normal(0.5, 1, 60), RNG.normal(0, 1, 60)) for _ in range(3)]
    result = AttackResult.from_runs("loss", runs, threshold=0.2)
    picture = draw_rates([AttackRow("yeom", result, result, ceiling)])
    assert bool(layers(picture, mark="area")) is (ceiling is not None)
    _, ours, control = layers(picture, mark="line")
    assert ours.mark["strokeWidth"] > control.mark["strokeWidth"]
    (dot,) = layers(picture, mark="circle")
    assert dot.rows[0]["y"] == pytest.approx(result.tpr, rel=1e-5)
    assert "loss, without privacy" in legend(picture)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("seen", [True, False])
def test_audit(columns, seen):
    values = np.append(RNG.normal(size=500), [-np.inf, np.inf])
    evidence = Evidence("a very long name of a score " * 4, ">=", 1.0, values, values + 1)
    picture = draw_audit(
        points={"records": np.zeros((4, columns)), "added": np.ones((1, columns))},
        sides=("without", "with"),
        evidence=evidence if seen else None,
        searched={f"pair {place}": place / 10 for place in range(20)},
        measured=0.4,
        claimed=1.0 if seen else None,
        unit=" per unit of distance",
    )
    records, added = layers(picture, 0, "point")
    assert (len(records.rows), len(added.rows)) == (4, 1)
    (bars,) = layers(picture, 2, "bar")
    assert len(bars.rows) == 11  # the bound and the ten largest
    assert bars.rows[0]["x"] == 0.4
    if not seen:
        assert layers(picture, 1, "text")[0].rows[0]["words"] == "no event tells the two apart"
        assert not layers(picture, 2, "rule")
        return
    shares = dict.fromkeys(("without", "with"), 0.0)
    for row in layers(picture, 1, "rect")[0].rows:
        shares[row["name"]] += row["y"]
    assert shares == pytest.approx({"without": 1.0, "with": 1.0}, abs=1e-4)
    assert layers(picture, 1, "rule")[0].rows[0]["x"] == 1.0
    assert layers(picture, 2, "rule")[0].rows[0]["x"] == 1.0
    assert not picture.records  # nobody's: an audit makes its records up


def test_audit_of_a_score_that_never_varies():
    same = Evidence("size", "<", 0.0, np.full(50, -np.inf), np.full(50, -np.inf))
    assert draw_audit(**AUDIT | {"evidence": same, "searched": {}, "claimed": None})
