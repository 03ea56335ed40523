"""Vectors of reports: Python draws the same bytes from the same words, and uses as many of them."""

import json
import runpy
from pathlib import Path

import pytest

from shoal.mechanisms import documents, load_mechanism

ROOT = Path(__file__).parents[2]
FILE = ROOT / "clients" / "vectors" / "reports.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))
KINDS = sorted({case["mechanism"]["mechanism"] for case in CASES})


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(ROOT / "tools" / "report_vectors.py"))


@pytest.mark.parametrize("kind", KINDS)
def test_python_draws_the_same_reports_again(tool, kind):
    for case in CASES:
        if case["mechanism"]["mechanism"] != kind:
            continue
        mechanism = load_mechanism(case["mechanism"])
        assert mechanism.report_format().to_dict() == case["report_format"]
        encoded = mechanism.of_encoded()
        for vector in case["reports"]:
            source = tool["GivenWords"].read(vector)
            report = encoded.set_params(random_state=source).randomize(vector["record"])
            assert mechanism.encode(report).hex() == vector["report"], vector["note"]
            assert source.used == vector["used"], vector["note"]


def test_every_mechanism_of_a_campaign_has_vectors():
    assert set(KINDS) == documents.KINDS


@pytest.mark.full
def test_vectors_are_as_python_makes_them(tool, tmp_path):
    tool["main"](tmp_path)
    made = (tmp_path / "reports.json").read_text(encoding="utf-8")
    assert made == FILE.read_text(encoding="utf-8"), "run: python tools/report_vectors.py"
