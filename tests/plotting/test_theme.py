"""Looks: the mechanism's own in any company, different in gray too."""

import itertools

import numpy as np
import pytest

from shoal._registry import METHODS
from shoal.plotting._theme import (
    COLORS,
    GROWING,
    LOOKS,
    PALETTE,
    cluster_look,
    line_glyph,
    looks,
)


def lightness(color):
    return np.dot([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)], [0.299, 0.587, 0.114])


def test_looks_are_the_mechanisms_own_in_any_company():
    alone = looks(["Piecewise"])["Piecewise"]
    assert looks(["mine", "Laplace(window=2)", "piecewise"])["piecewise"] == alone
    assert looks(["SphericalLaplace"]).popitem()[1] == LOOKS["nd-laplace"]
    for names in (["SphericalLaplace", "nd-Laplace"], [*map(str, range(30))], ["a", *LOOKS]):
        chosen = looks(names)
        assert list(chosen) == names
        assert len(set(chosen.values())) == len(names)


@pytest.mark.parametrize(
    "together",
    [
        ["thr", "thr-em", "qt", "baseline", "oneshot"],
        ["average k", "average nk", "allocation k", "allocation nk", "gaussian k", "gaussian nk"],
        [name for name in LOOKS if name.startswith(("dpkmeans-", "dpwavecluster-"))],
        ["laplace", "kdlaplace-grid", "kdlaplace-bayes", "piecewise", "hybrid", "duchi"],
        ["nd-laplace", "piecewise", *"abcdef"],
    ],
)
def test_those_drawn_together_differ_in_color_and_marker(together):
    chosen = looks(together).values()
    assert len({look.color for look in chosen}) == len(together)
    assert len({look.marker for look in chosen}) == len(together)


@pytest.mark.parametrize(
    "names",
    [
        ["nd-laplace", "grid-nd-laplace", "density-nd-laplace", "piecewise"],
        ["thr", "thr-em", "qt", "baseline"],
    ],
)
def test_colors_of_one_source_differ_in_lightness(names):
    assert min(np.diff(sorted(lightness(COLORS[name]) for name in names))) > 0.03


def test_methods_that_are_compared_differ_in_color_and_those_of_one_model_in_gray():
    compared = [method for method in METHODS if method.compared]
    assert len({COLORS[method.name.lower()] for method in compared}) == len(compared)
    for model in ("central", "local"):
        names = [method.name.lower() for method in compared if method.trust_model == model]
        assert len({LOOKS[name].marker for name in names}) == len(names)


def test_the_scale_of_a_map_can_be_read_in_gray():
    shades = [lightness(color) for color in GROWING]
    assert all(one < other for one, other in itertools.pairwise(shades))


def test_clusters_keep_their_looks_and_noise_has_its_own():
    assert cluster_look(3).color == PALETTE[3]
    assert len({cluster_look(number) for number in range(-1, 100)}) == 101


def test_glyphs_of_lines_have_their_dashes():
    assert line_glyph().count("M") == 1
    assert line_glyph((7, 3.5)).count("M") == 2
    assert line_glyph((2, 2.5)).count("M") == 4
