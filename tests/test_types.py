"""What mypy prints of shoal's names; `make test` holds the same by typed_names.py."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # mypy once more
ROOT = Path(__file__).parents[1]
ASKED = """
import numpy as np
import shoal
from shoal import DPKMeans

reveal_type(shoal.DPKMeans)
reveal_type(shoal.DPKMeans.fit)
reveal_type(DPKMeans(3, bounds=(-1.0, 1.0)).fit(np.zeros((9, 2))))
reveal_type(shoal.Laplace(1.0, bounds=(-1.0, 1.0)).guarantee_)
reveal_type(shoal.Ledger(epsilon=1.0).entries)
reveal_type(shoal.audit_estimator)
shoal.DPKMeans(clusters=3)
shoal.DPKmeans
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what mypy says of each line."""
    script = tmp_path_factory.mktemp("typed") / "script.py"
    script.write_text(ASKED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(script)],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ASKED.splitlines()
    said = re.findall(r"^\S*script\.py:(\d+): (.*)$", done.stdout, re.MULTILINE)
    assert said, done.stdout + done.stderr
    told = dict.fromkeys(lines, "")
    for number, text in said:
        told[lines[int(number) - 1]] += f"{text}\n"
    return told


def test_the_class_is_known(told):
    assert "-> shoal.cluster.kmeans" in told["reveal_type(shoal.DPKMeans)"]
    assert "n_clusters:" in told["reveal_type(shoal.DPKMeans)"]


def test_the_signature_of_fit_is_known(told):
    signature = told["reveal_type(shoal.DPKMeans.fit)"]
    assert re.search(r"def \[(\w+) <: shoal\.cluster\.kmeans\.\S*DPKMeans\] \(\1, X: ", signature)
    assert "sample_weight: " in signature
    assert "user_ids: " in signature


def test_a_fit_gives_the_estimator(told):
    line = "reveal_type(DPKMeans(3, bounds=(-1.0, 1.0)).fit(np.zeros((9, 2))))"
    assert re.search(r'"shoal\.cluster\.kmeans\.\S*DPKMeans"', told[line])


def test_attributes_and_functions_are_known(told):
    guarantee = told["reveal_type(shoal.Laplace(1.0, bounds=(-1.0, 1.0)).guarantee_)"]
    assert "shoal.privacy.guarantee.Guarantee" in guarantee
    assert "shoal.privacy" in told["reveal_type(shoal.Ledger(epsilon=1.0).entries)"]
    assert "def (estimator:" in told["reveal_type(shoal.audit_estimator)"]
    for text in told.values():
        assert 'Revealed type is "Any"' not in text


def test_wrong_names_are_errors(told):
    assert 'Unexpected keyword argument "clusters"' in told["shoal.DPKMeans(clusters=3)"]
    assert 'Module has no attribute "DPKmeans"' in told["shoal.DPKmeans"]
