"""Names on the command line: what they make, and what is refused."""

import subprocess
import sys
import types

import pytest

from shoal._build import CENTRAL, LOCAL, build_estimator, parse_settings
from shoal.cluster import DPKMeans
from shoal.exceptions import MissingBoundsError, ParameterError


@pytest.mark.parametrize("name", [*CENTRAL, *LOCAL])
def test_every_name(name):
    target = build_estimator(name.upper(), epsilon=0.7, bounds=(0.0, 1.0))
    assert type(target).__name__ == name
    assert (target.epsilon, target.bounds) == (0.7, (0.0, 1.0))
    assert build_estimator(name, bounds=(0.0, 1.0)).epsilon == 1.0


def test_own_object(monkeypatch):
    module = types.ModuleType("somebodys")
    vars(module).update(Model=DPKMeans, model=DPKMeans(4, bounds=(0, 1)))
    monkeypatch.setitem(sys.modules, "somebodys", module)
    assert build_estimator("somebodys:Model", kwargs={"n_clusters": 2}).n_clusters == 2
    assert build_estimator("somebodys:model").n_clusters == 4
    assert build_estimator("somebodys:model", epsilon=3.0).epsilon == 3.0
    with pytest.raises(ParameterError, match="module:object"):
        build_estimator("somebodys:other")
    with pytest.raises(ParameterError, match="module:object"):
        build_estimator("nobodys:model")


@pytest.mark.parametrize(
    ("name", "kwargs", "error", "text"),
    [
        ("KMeans", {}, ParameterError, "one of DPDensity, DPKMeans, DPWaveCluster"),
        ("DPKMeans", {}, MissingBoundsError, "--bounds LOW,HIGH"),
        (
            "DPKMeans",
            {"bounds": (0, 1), "kwargs": {"k": 2}},
            ParameterError,
            "got 'k': it can set column_weights, delta, ",
        ),
    ],
)
def test_refusals(name, kwargs, error, text):
    with pytest.raises(error, match=text):
        build_estimator(name, **kwargs)


def test_settings():
    assert parse_settings(["a=1", "b=(0, 1)", "c=x=y", "d="]) == {
        "a": 1,
        "b": (0, 1),
        "c": "x=y",
        "d": "",
    }
    for bad in ("a", "=1"):
        with pytest.raises(ParameterError, match="name=value"):
            parse_settings([bad])


def test_names_are_read_without_what_no_command_needs_for_them():
    """``shoal cluster`` imports this: it must not load experiments, audits or pictures."""
    code = "import sys, shoal._build; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"numpy", "sklearn", "shoal.audit", "shoal.cluster", "shoal.experiments"}
    heavy |= {"shoal.mechanisms", "shoal.papers", "shoal.plotting"}
    assert not heavy & set(loaded)
