"""Pictures are written for one, two and many columns, and for what is missing."""

import json

import numpy as np
import pytest

from shoal.audit import AttackResult, Evidence
from shoal.cluster import DPKMeans
from shoal.experiments.attack_suite import AttackRow
from shoal.plotting import draw_audit, draw_rates, draw_release

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("columns", [1, 2, 5, 40])
def test_release(columns, tmp_path):
    model = DPKMeans(3, bounds=(-1.0, 1.0), random_state=0)
    model.fit(RNG.uniform(-1.0, 1.0, (200, columns)))
    names = [f"${place} <b>" for place in range(columns)]
    assert draw_release(tmp_path / "a.png", model.release_, names).stat().st_size > 5_000


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_centers_that_may_be_noise_are_hollow(columns, tmp_path):
    model = DPKMeans(3, epsilon=5.0, bounds=(-1.0, 1.0), random_state=0)
    model.fit(np.full((500, columns), -0.9))
    assert model.certain_.any()
    assert not model.certain_.all()
    path = draw_release(tmp_path / "a.json", model.release_, [f"c{i}" for i in range(columns)])
    marks = [trace for trace in json.loads(path.read_text())["data"] if "marker" in trace]
    names = [trace["name"] for trace in marks]
    assert {"center", "may be noise alone"} <= set(names)
    said = json.dumps([trace for trace in marks if trace["name"] == "may be noise alone"])
    assert "cluster" in said
    assert "may be noise alone" in said


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("evidence", [True, False])
def test_audit(columns, evidence, tmp_path):
    values = np.append(RNG.normal(size=500), [-np.inf, np.inf])
    seen = Evidence("a very long name of a score " * 4, ">=", 1.0, values, values + 1)
    path = draw_audit(
        tmp_path / "a.png",
        points={"records": np.zeros((4, columns)), "added": np.ones((1, columns))},
        sides=("without", "with"),
        evidence=seen if evidence else None,
        searched={f"pair {place}": place / 10 for place in range(20)},
        measured=0.4,
        claimed=1.0 if evidence else None,
        unit=" per unit of distance",
    )
    assert path.stat().st_size > 5_000


def test_audit_of_a_score_that_never_varies(tmp_path):
    same = Evidence("size", "<", 0.0, np.full(50, -np.inf), np.full(50, -np.inf))
    points = {"records": np.zeros((1, 2)), "added": np.ones((1, 2))}
    words = {"sides": ("a", "b"), "searched": {}, "measured": 0.0, "claimed": None}
    assert draw_audit(tmp_path / "a.png", points=points, evidence=same, **words).exists()


@pytest.mark.parametrize("ceiling", [None, 0.0, 0.462, 1.0])
def test_rates(ceiling, tmp_path):
    runs = [(RNG.normal(0.5, 1, 60), RNG.normal(0, 1, 60)) for _ in range(3)]
    result = AttackResult.from_runs("loss", runs, threshold=0.2)
    rows = [AttackRow("yeom", result, result, ceiling)] * 4
    assert draw_rates(tmp_path / "a.svg", rows).stat().st_size > 5_000
