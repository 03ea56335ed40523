"""The vectors of encoding, cells and labels are what Python computes today."""

import functools
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKERS = runpy.run_path(str(ROOT / "tools" / "data_vectors.py"))["VECTORS"]


@functools.cache
def made_today(name):
    return json.dumps(MAKERS[name]())


def without_results(cases):
    """Take the results out of records, for cases whose last bits are those of the machine."""
    results = [record.pop("result", None) for case in cases for record in case["records"]]
    return [number for result in results if result is not None for number in result]


@pytest.mark.parametrize("name", MAKERS)
def test_vectors_are_those_of_today(name):
    text = (ROOT / "clients" / "vectors" / f"{name}.json").read_text(encoding="utf-8")
    kept, made = json.loads(text), json.loads(made_today(name))
    rounded = [[case for case in cases if case.get("tolerance")] for cases in (kept, made)]
    numbers = [without_results(cases) for cases in rounded]
    np.testing.assert_allclose(*numbers, rtol=1e-12, atol=0)
    assert kept == made


def test_every_metric_and_every_type_has_vectors():
    kinds = {
        field["type"]
        for case in json.loads(made_today("encoding"))
        if case["mechanism"]["parameters"]["schema"]
        for field in case["mechanism"]["parameters"]["schema"]["fields"]
    }
    metrics = {case["release"]["values"].get("metric") for case in json.loads(made_today("labels"))}
    assert kinds >= {"number", "string", "boolean", "date", "geopoint"}
    assert metrics >= {"bounds", "schema", "cosine", "euclidean", "cells", "boxes", "strata"}
