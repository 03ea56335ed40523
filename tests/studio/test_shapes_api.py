"""Shapes: thresholds are moved on what was published; no record is read, nothing is spent."""

import json
from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.studio import studio_here
from shoal.cluster import DPDensity, PrivateCopy
from shoal.datasets import make_circle
from shoal.plotting import shapes_rows
from shoal.privacy import Ledger
from shoal.schema import Category, Date, Number, Place, Schema
from shoal.studio.nobodys_records import explored_records
from shoal.studio.shapes import Thresholds, cut, estimate_density

SCHEMA = Schema(
    [
        Number("age", minimum=18, maximum=98, unit="years"),
        Category("city", ["A", "B"]),
        Number("income", minimum=0, maximum=200_000, scale="log"),
        Date("since", minimum="2000-01-01", maximum="2020-12-31"),
    ]
)


class Closed(Mapping):
    """True records that nobody may read."""

    def _refuse(self, *_):
        raise AssertionError("a true record was read")

    __getitem__ = __iter__ = _refuse

    def __len__(self):
        return 1


@pytest.fixture(scope="module")
def here():
    with studio_here() as running:
        yield running


@pytest.fixture(scope="module")
def workspace(here):
    return here.workspace


@pytest.fixture(scope="module")
def asked(here):
    """Ask the studio for clusters."""

    def ask(table, status=200, **settings):
        answer = here.client.post(f"/api/tables/{table.id}/shapes", json=settings)
        assert answer.status_code == status, answer.text
        return answer.json()

    ask.client = here.client
    return ask


@pytest.fixture(scope="module")
def table(workspace):
    held = workspace.add("people", "upload", Closed(), SCHEMA)
    held.ledger = Ledger(epsilon=3.0)
    held.n_guess = 2_000
    return held


def labels(answer):
    """Return the rectangles of the clusters' map and the numbers on it."""
    rows = answer.get("rows") or answer["spec"]["datasets"]
    return json.dumps([rows[f"rows-{number}"] for number in (5, 12)])


def test_thresholds_move_for_nothing(asked, table):
    first = asked(table, source="shapes", shape="rings")
    assert (first["n_clusters"], first["automatic"]) == (2, {"n_clusters": 2, "same": True})
    have = {"drawn": first["drawn"], "frame": first["frame"], "source": "shapes", "shape": "rings"}
    seen = {labels(first)}
    for moved in ({"level": first["peak"] * 0.9}, {"level": 1.0}, {"min_size": 2_600.0}):
        answer = asked(table, **have, **moved)
        assert not answer["automatic"]["same"]
        assert answer["free"] == "This costs nothing: it uses only what was released."
        seen.add(labels(answer))
        assert "spec" not in answer
        assert "rows-0" not in answer["rows"]  # the density stays as it was drawn
    assert len(seen) == 4
    strict, loose = (asked(table, **have, alpha=alpha)["threshold"] for alpha in (0.001, 0.5))
    assert strict > first["threshold"] > loose
    again = asked(table, **have)
    assert labels(again) == labels(first)
    assert again["automatic"]["same"]
    assert table.ledger.entries == ()


def test_nothing_above_a_level_is_no_cluster(asked, table):
    answer = asked(table, source="shapes", shape="rings", level=1e6)
    assert (answer["n_clusters"], answer["clusters"]) == (0, [])


def test_automatic_is_what_the_estimator_chooses(table):
    density = estimate_density(table, "made-up", columns=(0, 1), epsilon=0.5)
    records = explored_records(table, "made-up").columns
    full = [row for row in zip(records["age"], records["income"], strict=True) if None not in row]
    fields = [Number("age", minimum=18, maximum=98, unit="years", missing="refuse")]
    fields += [Number("income", minimum=0, maximum=200_000, scale="log", missing="refuse")]
    own = DPDensity(epsilon=0.5, schema=Schema(fields), random_state=0)
    own.fit(dict(zip(("age", "income"), np.array(full).T, strict=True)))
    found = cut(density, Thresholds())
    assert found.model.release_ == own.release_
    assert cut(density, Thresholds(alpha=0.05)).model.release_ == own.release_
    assert shapes_rows(found.shown, density.axes) == shapes_rows(own.release_, density.axes)


def test_a_release_is_clustered_again(asked, workspace):
    bought = workspace.add("bought", "upload", Closed(), SCHEMA)
    X = make_circle(3_000, random_state=0).X
    model = DPDensity(epsilon=1.0, bounds=(-1.5, 1.5), ledger=Ledger(epsilon=3.0)).fit(X)
    other = SimpleNamespace(key="means", release=SimpleNamespace(kind="DPKMeans"))
    bought.releases += [other, SimpleNamespace(key="one", release=model.release_)]
    choices = asked.client.get(f"/api/tables/{bought.id}/shapes").json()
    assert choices["releases"] == [{"key": "one", "name": "release 1 (epsilon 1)"}]
    answer = asked(bought, source="release", release="one")
    assert answer["guarantee"] == str(model.guarantee_)
    assert "published density" in answer["words"]
    assert answer["n_clusters"] == model.n_clusters_
    density = estimate_density(bought, "release", release="one")
    assert cut(density, Thresholds()).model.release_ == model.release_
    level = answer["peak"] * 0.9
    assert asked(bought, source="release", release="one", level=level)["n_clusters"] == 1
    assert len(model.ledger.entries) == 1
    for key in ("means", "none"):
        asked(bought, 404, source="release", release=key)


@pytest.mark.parametrize(("shape", "count"), [("moons", 2), ("spirals", 3)])
def test_generated_shapes_are_found(asked, table, shape, count):
    answer = asked(table, source="shapes", shape=shape)
    assert answer["n_clusters"] == count
    assert answer["words"].startswith("generated shapes (")
    assert sum(one["share"] for one in answer["clusters"]) == pytest.approx(1, abs=0.15)


def test_only_what_changed_is_sent(asked, table):
    first = asked(table, source="shapes", shape="rings")
    assert first["spec"]["concat"][0]["layer"]
    have = {"drawn": first["drawn"], "frame": first["frame"]}
    other = asked(table, source="shapes", shape="moons", **have)
    assert other["frame"] == first["frame"]
    assert set(other["rows"]) == set(first["spec"]["datasets"])  # another density, the same frame
    line = asked(table, columns=[2], **have)
    assert line["frame"] != first["frame"]
    assert len(line["spec"]["concat"]) == 3


def test_files_have_names_and_say_what_they_show(asked, table):
    settings = {"source": "shapes", "shape": "rings", "level": 1.0}
    path = f"/api/tables/{table.id}/shapes/files/"

    def file(kind, **changed):
        wanted = {"settings": json.dumps({**settings, **changed})}
        return asked.client.get(path + kind, params=wanted)

    svg, outlines = file("svg"), file("geojson")
    assert "Generated shapes (" in svg.text
    name = 'attachment; filename="shapes-rings-age-years-income.geojson"'
    assert outlines.headers["content-disposition"] == name
    held = json.loads(outlines.text)
    assert held["shoal"]["thresholds"] == "cut at density 1"
    assert "epsilon = 1" in held["shoal"]["guarantee"]
    assert "Generated shapes" in held["shoal"]["records"]
    assert len(held["features"]) == asked(table, **settings)["n_clusters"] > 0
    ring = np.array(held["features"][0]["geometry"]["coordinates"][0][0])
    assert (ring >= [18, 0]).all()
    assert (ring <= [98, 200_000]).all()
    assert ring[:, 1].max() > 1_000  # in the unit of the field, not of the encoded space
    assert file("pdf").status_code == 404
    assert file("png", epsilon="much").status_code == 422


def test_what_cannot_be_shown_is_said_in_one_line(asked, workspace, table):
    words = workspace.add("words", "upload", Closed(), Schema([Category("city", ["A", "B"])]))
    assert asked.client.get(f"/api/tables/{words.id}/shapes").json()["fields"] == []
    assert "no shape" in asked(words, 422)["detail"]
    assert "no private copy" in asked(table, 422, source="copy")["detail"]
    assert "no longer in this table" in asked(table, 422, columns=[7])["detail"]
    one = workspace.add("one", "made-up", {}, Schema([Number("age", minimum=0, maximum=9)]))
    assert "two columns" in asked(one, 422, source="shapes")["detail"]
    numbers = [Number(f"n{index}", minimum=0, maximum=1) for index in range(5)]
    wide = workspace.add("wide", "made-up", {}, Schema(numbers))
    assert "at most 4" in asked(wide, 422, columns=[0, 1, 2, 3, 4])["detail"]
    wide.n_guess = 300
    assert [axis.name for axis in estimate_density(wide, "made-up").axes] == ["n0", "n1"]
    open_ended = workspace.add("open", "made-up", {}, Schema([Number("age")]))
    assert "minimum" in asked(open_ended, 422)["detail"]
    for wrong in ({"epsilon": 99.0}, {"alpha": 0.0}, {"shape": "x"}, {"more": 1}, {"level": -1.0}):
        asked(table, 422, **wrong)


@pytest.mark.full
def test_a_picture(asked, table):
    wanted = {"settings": json.dumps({"source": "shapes", "shape": "rings"})}
    png = asked.client.get(f"/api/tables/{table.id}/shapes/files/png", params=wanted)
    assert png.content.startswith(b"\x89PNG")
    assert png.headers["content-type"] == "image/png"


@pytest.mark.full
def test_places_and_the_private_copy(asked, workspace):
    home = Place("home", longitude="lon", latitude="lat", center=(24.9, 60.2), radius=20.0)
    schema = Schema([home, Category("kind", ["A", "B"])])
    held = workspace.add("homes", "upload", Closed(), schema)
    answer = asked(held, source="shapes", shape="rings")
    assert answer["n_clusters"] == 2
    path = f"/api/tables/{held.id}/shapes/files/geojson"
    wanted = {"settings": json.dumps({"source": "shapes", "shape": "rings"})}
    features = json.loads(asked.client.get(path, params=wanted).text)["features"]
    ring = np.array(features[0]["geometry"]["coordinates"][0][0])
    assert np.abs(ring - [24.9, 60.2]).max() < 0.5  # in degrees
    ages = Schema([Number("age", minimum=0, maximum=100, missing="refuse")])
    copied = workspace.add("ages", "upload", Closed(), ages)
    records = {"age": np.repeat([20.0, 80.0], 500)}
    copied.copy = PrivateCopy(epsilon=5.0, schema=ages, random_state=0).fit(records)
    answer = asked(copied, source="copy")
    assert answer["words"].startswith("a private copy")
    assert answer["n_clusters"] == 2
