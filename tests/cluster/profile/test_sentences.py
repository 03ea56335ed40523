"""Sentences: nothing is said of noise, and numbers are written for people."""

import numpy as np
import pytest

from shoal.cluster import ClusterProfile
from shoal.cluster.profile._sentences import format_range, format_size
from shoal.privacy import Guarantee, Release
from shoal.schema import Category, Date, Number, Schema

SCHEMA = Schema(
    [
        Number("x", minimum=0, maximum=1),
        Category("kind", list("ABCDEFGH"), role="describe"),
        Number("y", minimum=0, maximum=100, role="describe"),
        Date("day", minimum="2020-01-01", maximum="2024-12-31", role="describe"),
    ]
)
TWO = Release(
    "made up",
    {
        "centers": np.array([[0.25], [0.75]]),
        "weights": np.full(2, 0.5),
        "center_radius": np.zeros(2),
        "low": np.zeros(1),
        "high": np.ones(1),
        "half": 1024,
        "metric": "bounds",
        "columns": ["x"],
    },
    Guarantee("central", epsilon=1.0),
)


def alike_table():
    """Two clusters that differ in x alone, of which each group of others has both."""
    rng = np.random.default_rng(0)
    others = {
        "kind": rng.choice(list("ABCDEFGH"), 400).tolist(),
        "y": rng.uniform(0, 100, 400).tolist(),
        "day": ["2022-05-01"] * 400,
    }
    return {"x": [0.25] * 400 + [0.75] * 400, **{name: two * 2 for name, two in others.items()}}


def test_where_clusters_do_not_differ_nothing_is_said():
    """At most 5% of profiles say anything of fields that are alike: of 20 at most 5 (p < 0.001)."""
    table = alike_table()
    false = 0
    for seed in range(20):
        model = ClusterProfile(TWO, schema=SCHEMA, epsilon=1.0, random_state=seed).fit(table)
        text = " ".join(model.describe())
        false += any(f"{name} " in text.replace("x ", "") for name in ("kind", "y", "day"))
    assert false <= 5


def test_where_they_differ_it_is_said():
    table = alike_table()
    table["kind"] = ["A"] * 300 + ["B"] * 500
    sentences = (
        ClusterProfile(TWO, schema=SCHEMA, epsilon=2.0, random_state=1).fit(table).describe()
    )
    assert "kind A 73% against 36% overall" in sentences[0]
    assert "kind B" in sentences[1]
    assert "day" not in " ".join(sentences)


@pytest.mark.parametrize(
    ("kind", "low", "high", "text"),
    [
        ("numbers", 21_300.0, 35_200.0, "21 to 35"),
        ("numbers", 22.4, 41.2, "22 to 41"),
        ("numbers", 31.0, 31.0, "31"),
        ("numbers", 1200.0, 1460.0, "1,200 to 1,460"),
        ("dates", 18_000.0, 19_000.0, "2019-04 to 2022-01"),
        ("dates", 18_000.0, 18_010.0, "2019-04-14 to 2019-04-24"),
    ],
)
def test_ranges(kind, low, high, text):
    edges = np.linspace(low - 2, high + 2, 100)
    assert format_range({"kind": kind, "edges": edges}, low, high) == text


@pytest.mark.parametrize(
    ("size", "half", "text"),
    [(4123.4, 37.0, "about 4,120"), (4123.4, 120.0, "about 4,100"), (17.2, 0.5, "about 17")],
)
def test_sizes_have_as_many_digits_as_noise_leaves(size, half, text):
    assert format_size(size, half) == text
