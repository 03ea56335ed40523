"""Names on the command line: what they make, and what is refused."""

import sys
import types

import pytest

from shoal.cluster import DPKMeans
from shoal.exceptions import MissingBoundsError, ParameterError
from shoal.experiments.targets import CENTRAL, LOCAL, build_target, parse_words


@pytest.mark.parametrize("name", [*CENTRAL, *LOCAL])
def test_every_name(name):
    target = build_target(name.upper(), epsilon=0.7, bounds=(0.0, 1.0))
    assert type(target).__name__ == name
    assert (target.epsilon, target.bounds) == (0.7, (0.0, 1.0))
    assert build_target(name, bounds=(0.0, 1.0)).epsilon == 1.0


def test_own_object(monkeypatch):
    module = types.ModuleType("somebodys")
    module.Model, module.model = DPKMeans, DPKMeans(4, bounds=(0, 1))
    monkeypatch.setitem(sys.modules, "somebodys", module)
    assert build_target("somebodys:Model", words={"n_clusters": 2}).n_clusters == 2
    assert build_target("somebodys:model").n_clusters == 4
    assert build_target("somebodys:model", epsilon=3.0).epsilon == 3.0
    with pytest.raises(ParameterError, match="module:object"):
        build_target("somebodys:other")
    with pytest.raises(ParameterError, match="module:object"):
        build_target("nobodys:model")


@pytest.mark.parametrize(
    ("name", "words", "error", "text"),
    [
        ("KMeans", {}, ParameterError, "one of DPKMeans, DPWaveCluster"),
        ("DPKMeans", {}, MissingBoundsError, "--bounds LOW,HIGH"),
        (
            "DPKMeans",
            {"bounds": (0, 1), "words": {"k": 2}},
            ParameterError,
            "got 'k': it can set delta, ",
        ),
    ],
)
def test_refusals(name, words, error, text):
    with pytest.raises(error, match=text):
        build_target(name, **words)


def test_words():
    assert parse_words(["a=1", "b=(0, 1)", "c=x=y", "d="]) == {
        "a": 1,
        "b": (0, 1),
        "c": "x=y",
        "d": "",
    }
    for bad in ("a", "=1"):
        with pytest.raises(ParameterError, match="name=value"):
            parse_words([bad])
