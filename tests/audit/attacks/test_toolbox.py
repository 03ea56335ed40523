"""The toolbox comes in through a door that leaves the home directory alone; its scores are used."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from helpers.attack_data import coin_classes, needs_toolbox
from shoal.audit.attacks._forests import Forest
from shoal.audit.attacks._toolbox import SHADOW_THRESHOLD, learn_shadow_attack

ATTACK = """
import numpy as np
from shoal.audit.attacks import membership_inference
X = np.random.default_rng(0).uniform(size=(40, 2))
print(membership_inference(None, X, attack={attack!r}, runs=1, random_state=0))
"""


def run(code, home):
    """Run code in a fresh interpreter with another home directory; warnings are errors there."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "HOME": str(home), "USERPROFILE": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_toolbox
def test_nothing_is_written_to_the_home_directory(tmp_path):
    code = (
        ATTACK.format(attack="shadow")
        + "import os, art, art.config; print(os.environ['HOME']); print(art.config.ART_DATA_PATH)"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    sentence, home, data = done.stdout.splitlines()
    assert sentence.startswith("shadow models: right about membership")
    assert home == str(tmp_path)
    assert data == str(tmp_path / ".art" / "data")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
@needs_toolbox
def test_settings_that_are_there_are_kept(tmp_path):
    (tmp_path / ".art").mkdir()
    settings = {"ART_DATA_PATH": str(tmp_path / "mine")}
    (tmp_path / ".art" / "config.json").write_text(json.dumps(settings))
    code = (
        "from shoal.audit.attacks._toolbox import load_toolbox; load_toolbox(); load_toolbox()\n"
        "import art.config; print(art.config.ART_DATA_PATH)"
    )
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == settings["ART_DATA_PATH"]


@pytest.mark.full
def test_without_the_toolbox(tmp_path):
    block = "import sys; sys.modules['art'] = None\n"
    code = block + "".join(ATTACK.format(attack=name) for name in ("yeom", "label-only", "shadow"))
    done = run(code, tmp_path)
    assert done.returncode == 1
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [
        "threshold on the loss",
        "label only",
    ]
    *_, last = done.stderr.splitlines()
    assert "MissingPackageError: art" in last
    assert "pip install '.[attacks]'" in last


@needs_toolbox
def test_members_of_an_overfitted_forest_score_higher():
    X, y = coin_classes(300)
    scorer = learn_shadow_attack(X[:200], y[:200], 2, shadow_models=3, seed=0)
    forest = Forest(2, 2, seed=1).fit(X[200:250], y[200:250])
    members = scorer(forest, X[200:250], y[200:250])
    others = scorer(forest, X[250:], y[250:])
    assert ((members >= 0) & (members <= 1)).all()
    assert members.mean() > others.mean() + 0.2
    # The same guesses as the toolbox makes, which rounds.
    assert np.array_equal(members >= SHADOW_THRESHOLD, np.round(members) == 1)
    assert np.round(0.5) == 0 < SHADOW_THRESHOLD - 0.5


@pytest.mark.full
@needs_toolbox
@pytest.mark.parametrize("missing", ["from the shadow models", "from the target"])
def test_a_class_that_some_forest_never_saw(missing):
    X, y = coin_classes(80)
    rare = y.copy()
    rare[0] = 2
    shadow, target = (
        (slice(1, 60), slice(60, 70))
        if missing == "from the shadow models"
        else (slice(0, 60), slice(60, 70))
    )
    scorer = learn_shadow_attack(X[shadow], rare[shadow], 3, shadow_models=3, seed=0)
    forest = Forest(3, 2, seed=1).fit(X[target], rare[target])
    assert forest.predict_proba(X)[:, 2].max() == 0.0
    assert np.isfinite(scorer(forest, X, rare)).all()
