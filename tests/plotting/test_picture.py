"""Pictures: every kind compiles, opens offline, and those of records leave as PNG only."""

import base64
import copy
import json
import pickle
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from helpers.charts import (
    CLUSTERED,
    EVIL,
    GRID,
    PICTURES,
    POINTS,
    ROWS,
    released_band,
    released_centers,
    released_density,
)
from shoal import plotting
from shoal.exceptions import MissingPackageError, ParameterError
from shoal.plotting import Picture, page_scripts

vl_convert = pytest.importorskip("vl_convert")

EVERY = pytest.mark.parametrize("name", PICTURES)
ENDINGS = ("png", "svg", "pdf", "html", "json")
STARTS = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!doctype", "json": b"{"}
RECORDS = {
    "points": lambda **path: plotting.draw_scatter(
        {"records": POINTS}, **CLUSTERED_RECORDS, **path
    ),
    "cells": lambda **path: plotting.draw_cells({"exact": GRID}, records=True, **path),
    "centers": lambda **path: plotting.draw_release(
        released_centers(2, holds=False), ["a", "b"], **path
    ),
    "density": lambda **path: plotting.draw_release(
        released_density(holds=False), ["a", "b"], **path
    ),
    "band": lambda **path: plotting.draw_thresholds(released_band(holds=False), **path),
}
CLUSTERED_RECORDS = {"labels": {"records": CLUSTERED["labels"]["clusters"]}}


def small():
    table = {"mechanism": ["a", "a"], "epsilon": [1, 2], "ami": [0.25, 0.75]}
    return plotting.draw_lines(table, x="epsilon", y="ami", title=EVIL)


def test_every_function_that_draws_is_in_the_gallery():
    names = {name for name in plotting.__all__ if name.startswith("draw_")}
    assert {draw.func.__name__ for draw in PICTURES.values()} == names


@cache
def drawn(name):
    return PICTURES[name]()


@EVERY
def test_every_kind_compiles_without_warnings(name, capfd):
    picture = drawn(name)
    assert not picture.records
    spec = json.loads(picture.to_json())
    assert spec["usermeta"]["shoal"]["records"] is False
    vega = vl_convert.vegalite_to_vega(spec, show_warnings=True)
    assert "WARN" not in "".join(capfd.readouterr())
    assert not re.search(r'"url"', json.dumps(vega["data"]))  # all rows are inside
    assert max(map(len, spec["datasets"].values())) <= 5_000
    # Axes without a title hold names, not numbers.
    for panel in spec["concat"]:
        for layer in panel["layer"]:
            for side in ("x", "y"):
                axis = layer.get("encoding", {}).get(side, {}).get("axis")
                if axis and not axis.get("title"):
                    assert (
                        "labelExpr" in axis
                        or "labels" in axis
                        or "labelAngle" in axis
                        or (layer["encoding"][side]["type"] == "nominal")
                    )


@EVERY
def test_fragments_are_harmless_and_load_nothing(name):
    text = drawn(name).to_fragment(EVIL)
    assert text.count("</script>") == 1  # that of the chart itself
    assert not re.search(r"https?:|//cdn|<link|@import|\bsrc\s*=|url\(", text)
    inside = text.partition('<script type="application/json">')[2].partition("</script>")[0]
    assert json.loads(inside) == drawn(name).spec
    assert "&lt;/script&gt;" in text


def test_the_ending_is_the_format_and_the_file_repeats(tmp_path):
    for ending in ENDINGS:
        first, second = (small().save(tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
        assert first.startswith(STARTS[ending])
        assert first == second or ending == "pdf"  # a PDF holds its date
    assert len(list(tmp_path.iterdir())) == 2 * len(ENDINGS)


def test_page_opens_offline():
    page = small().to_html()
    scripts = page_scripts()
    assert page.count(scripts) == 1
    own = page.replace(scripts, "")
    assert not re.search(r"https?:|//cdn|<link|@import|\bsrc\s*=|url\(", own)
    assert "&lt;b&gt; of $5" in own
    assert own.count("</script>") == 1
    assert "actions: false" in scripts  # no link to an editor on the web
    assert scripts.count("</script>") == 2
    assert len(scripts) < 1_000_000


def test_path_is_checked_before_anything_is_drawn(tmp_path):
    for name in ("a.bmp", "a"):
        with pytest.raises(ParameterError, match=r"^path must end with \.png, \.svg") as caught:
            plotting.draw_lines(None, x="x", y="y", path=tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match=r"path must be a file that can be written.*No such"):
        small().save(tmp_path / "none" / "a.json")
    assert not list(tmp_path.iterdir())


def test_older_file_stays_where_drawing_fails(monkeypatch, tmp_path):
    path = small().save(tmp_path / "a.svg")
    older = path.read_bytes()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[plot\]'"):
        small().save(path)
    assert path.read_bytes() == older
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingPackageError, match=r"altair .*pip install '\.\[plot\]'"):
        small()


@pytest.mark.parametrize("draw", RECORDS.values(), ids=RECORDS)
def test_records_leave_as_png_only(draw, tmp_path):
    picture = draw()
    assert picture.records
    assert picture._spec["usermeta"]["shoal"]["records"] is True
    for ending in ENDINGS[1:]:
        for save in (picture.save, lambda path: draw(path=path)):
            with pytest.raises(
                ParameterError, match=r"save it as \.png, or draw released"
            ) as caught:
                save(tmp_path / f"a.{ending}")
            assert "\n" not in str(caught.value)
    for way in ("to_svg", "to_pdf", "to_html", "to_json"):
        with pytest.raises(ParameterError, match=r"save it as \.png"):
            getattr(picture, way)()
    for way in ("spec", "chart"):
        with pytest.raises(ParameterError, match=r"save it as \.png"):
            getattr(picture, way)
    assert not list(tmp_path.iterdir())
    assert picture.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_no_digit_of_a_record_is_in_what_a_page_or_a_notebook_gets():
    sentinel = 0.123456
    points = np.full((3, 2), sentinel)
    picture = plotting.draw_scatter({"records": points})
    assert str(sentinel) in json.dumps(picture._spec)
    shown, _ = picture._repr_mimebundle_()
    assert set(shown) == {"image/png", "text/plain"}
    for text in (picture.to_fragment("x"), repr(picture), shown["text/plain"]):
        assert str(sentinel) not in text
        assert "application/json" not in text
    for copied in (copy.deepcopy(picture), pickle.loads(pickle.dumps(picture))):
        assert copied.records


def test_a_notebook_shows_our_own_image():
    shown, about = small()._repr_mimebundle_(include=None, exclude=None)
    image = base64.b64decode(shown["image/png"])
    assert image.startswith(b"\x89PNG")
    assert int.from_bytes(image[16:20]) == 2 * about["image/png"]["width"]
    assert shown["text/plain"] == "Picture(panels=1, records=False)"


def test_the_users_altair_is_neither_used_nor_changed():
    altair = pytest.importorskip("altair")
    expected = small().to_json()
    with (
        altair.theme.enable("dark"),
        altair.data_transformers.enable("json"),
        altair.renderers.enable("mimetype"),
    ):
        assert small().to_json() == expected
        assert altair.theme.active == "dark"
        assert altair.data_transformers.active == "json"


def test_the_chart_is_altairs_and_holds_the_same():
    picture = small()
    assert picture.chart.to_dict()["concat"] == picture.spec["concat"]
    spec = picture.spec
    spec["datasets"].clear()
    assert picture.spec["datasets"]  # a copy


def test_numbers_are_short():
    table = {"mechanism": ["a"], "epsilon": [1], "ami": [1 / 3]}
    picture = plotting.draw_lines(table, x="epsilon", y="ami")
    assert "0.333333" in picture.to_json()
    assert str(1 / 3) not in picture.to_json()


def test_many_rows_are_thinned_evenly():
    n = 12_001
    table = {"mechanism": ["a"] * n, "epsilon": range(1, n + 1), "ami": np.zeros(n)}
    spec = plotting.draw_lines(table, x="epsilon", y="ami").spec
    at = [row["x"] for row in spec["datasets"]["rows-0"]]
    assert len(at) == 5_000
    assert (at[0], at[-1]) == (1, n)
    assert max(np.diff(at)) <= 3


def test_importing_loads_no_altair():
    code = (
        "import sys, shoal.plotting, shoal.experiments; "
        "assert not {'altair', 'vl_convert'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_narrow_screens_get_what_they_need():
    about = plotting.draw_lines(ROWS, x="epsilon", y="ami", panels="clusterer").spec["usermeta"]
    assert set(about["shoal"]) == {"width", "margin", "entry", "least", "square", "records"}
    assert 190 + about["shoal"]["margin"] < 390  # panels shrink to 190 pixels
    assert isinstance(Picture({"concat": []}).spec, dict)


def test_characters_that_no_picture_can_hold_are_replaced():
    """The converter would end the process, and what was paid for would be lost with it."""
    rows = {"mechanism": ["a\x1b[31m"], "ami": [0.4]}
    picture = plotting.draw_bars(rows, value="ami")
    assert "\x1b" not in picture.to_json().encode().decode("unicode_escape")
    assert picture.to_png()[:4] == b"\x89PNG"
