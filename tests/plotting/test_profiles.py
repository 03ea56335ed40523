"""Charts and pages of profiles hold what was released, and nothing else."""

import re

import pytest

from helpers.charts import column, layers, legend, released_profile, titles
from shoal.exceptions import ParameterError
from shoal.plotting import draw_profile, profile_page

PROFILE = released_profile()


def test_a_panel_for_each_cluster_and_field():
    picture = draw_profile(PROFILE)
    assert len(titles(picture)) == 8
    assert titles(picture)[0] == "cluster 0: age (5% missing)"
    assert titles(picture)[-1].startswith("no cluster: city")
    assert "all records" in legend(picture)


def test_bars_are_shares_of_values_that_are_there():
    bars = layers(draw_profile(PROFILE, fields=["age"]), mark="rect")[0]
    assert len(bars.rows) == 10  # two bins in each
    assert sum(column(bars.rows, "y")) == pytest.approx(1, abs=1e-4)
    assert (bars.rows[0]["x"], bars.rows[-1]["x2"]) == (0, 100)


def test_levels_have_bars_marks_and_intervals():
    drawn = layers(draw_profile(PROFILE, clusters=[0], fields=["city </script>"]))
    assert [one.type for one in drawn] == ["bar", "tick", "rule", "point"]
    assert column(drawn[0].rows, "y") == ["A", "a much too long…", "missing"]


@pytest.mark.parametrize("kwargs", [{"fields": ["height"]}, {"clusters": [7]}, {"clusters": []}])
def test_what_is_not_there_is_refused(kwargs):
    with pytest.raises(ParameterError, match="must be some of"):
        draw_profile(PROFILE, **kwargs)
    with pytest.raises(ParameterError, match="ClusterProfile"):
        draw_profile("profile.json", **kwargs)


def test_a_page_needs_nothing_else():
    page = profile_page(PROFILE)
    assert page.count('<div class="chart"') == 2
    assert "cluster 0: &lt;/script&gt;" in page
    assert "a promise" in page
    assert "bread &lt;b&gt;" in page
    assert not re.search(r'(src|href)="http', page)
    assert "prefers-color-scheme: dark" in page
