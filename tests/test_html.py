"""What a notebook shows of a release, a ledger, a schema or an estimator: escaped, and public."""

import numpy as np
import pandas as pd
import pytest

from shoal import _html, load_release
from shoal.cluster import DPKMeans
from shoal.mechanisms import Laplace
from shoal.privacy import Guarantee, Ledger, PureEvent, Release
from shoal.schema import Category, Field, Flag, Number, Schema, Text

EVIL = "<script>alert(1)</script>"
SCHEMA = Schema(
    [
        Number("age", minimum=0, maximum=120, unit=EVIL, scale="log"),
        Category(EVIL, [EVIL, *(f"city {number}" for number in range(20))]),
        Flag("member", missing="fill", fill="false"),
        Field("customer", role="user"),
        Text("comment"),
    ],
    title=EVIL,
)
MARK = 77.123456789


@pytest.fixture(scope="module")
def model():
    people = pd.DataFrame({"age": [30.0] * 200, EVIL: ["city 1"] * 200, "member": ["yes"] * 200})
    people.loc[7] = [MARK, "a private place", "no"]
    people["customer"] = [f"person {number}" for number in range(200)]
    return DPKMeans(2, schema=SCHEMA, epsilon=2.0, random_state=0).fit(people)


def test_nothing_escapes(model):
    release, ledger = model.release_, Ledger(epsilon=1.0)
    ledger.spend(PureEvent(epsilon=0.5), purpose=EVIL)
    shown = [
        SCHEMA._repr_html_(),
        load_release(release)._repr_html_(),
        model._repr_html_(),
        model._repr_mimebundle_()["text/html"],
        Release(EVIL, {EVIL: 1}, Guarantee.none(EVIL))._repr_html_(),
        ledger._repr_html_(),
    ]
    for page in shown:
        assert EVIL not in page
        assert page.count(_html.STYLE) == 1
        assert "&lt;script&gt;" in page


def test_an_estimator_shows_its_promise_and_clusters(model):
    page = model._repr_html_()
    assert "Guarantee (does not hold)" in page  # it has a seed
    assert "cluster 0" in page
    assert "size (noisy)" in page
    for private in ("77.1", "a private place", "person 7", "labels_", ">200<"):
        assert private not in page
    assert "Guarantee" not in DPKMeans(2)._repr_html_()
    mechanism = Laplace(epsilon=1.0, bounds=(0.0, 1.0)).fit(np.zeros((3, 2)))
    assert "Guarantee (holds)" in mechanism._repr_html_()


def test_many_clusters_are_rows(model):
    values = dict(model.release_.values)
    for name in ("centers", "sizes", "radii", "certain"):
        values[name] = np.repeat(values[name], 7, axis=0)
    values["certain"] = np.ones(14, dtype=bool)
    page = load_release(Release("DPKMeans", values, model.guarantee_))._repr_html_()
    assert "<th>cluster</th><th>size (noisy)</th><th>age</th>" in page
    assert page.count("<tr>") == 1 + 14


def test_a_schema_shows_what_anybody_may_enter():
    page = SCHEMA._repr_html_()
    assert "0 to 120, log" in page
    assert "and 13 more" in page
    assert "fill: false" in page
    assert "needs a type" in Schema.from_names(["age"])._repr_html_()
