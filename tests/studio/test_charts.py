"""Charts of the pages: they follow the window, keep within it, and can be read in all colors."""

import re

import pytest

from helpers.browser import visiting
from helpers.studio import studio_here

WIDE = {"width": 1000, "height": 800}
# A chart as shoal.plotting makes it, whose one mark fills it; labels are wider than its margin.
SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "usermeta": {"shoal": {"width": 400, "margin": 40, "entry": 100, "least": 80, "square": False}},
    "config": {"legend": {"columns": 2}},
    "columns": 1,
    "datasets": {"rows": [{"cost": 1, "name": "a name that is long"}]},
    "concat": [
        {
            "width": 400,
            "height": 200,
            "data": {"name": "rows"},
            "mark": {"type": "bar", "tooltip": {"content": "data"}},
            "encoding": {
                "x": {"field": "cost", "type": "quantitative"},
                "y": {"field": "name", "type": "nominal", "axis": {"labelLimit": 400}},
            },
        }
    ],
}
DRAW = """async (spec) => {
  const { chart } = await import("/static/charts.js");
  const made = chart("Costs");
  document.getElementById("page").replaceChildren(made);
  await made.draw(spec);
  window.made = made;
}"""
SWAP = "(rows) => window.made.swap({ rows })"
ROOM = "(made) => [made.clientWidth, made.scrollWidth, made.querySelector('canvas').clientWidth]"


@pytest.fixture(scope="module")
def address():
    with studio_here() as here:
        yield here.address


@pytest.fixture(params=[pytest.param("light", marks=pytest.mark.full), "dark"])
def shown(request, browser, address):
    """Yield a page with a chart."""
    with visiting(browser, viewport=WIDE, color_scheme=request.param) as visit:
        page = visit.open(f"{address}/ledger")
        page.get_by_role("heading", level=1).wait_for()
        page.evaluate(DRAW, SPEC)
        page.locator('studio-chart[data-drawn="1"]').wait_for()
        yield page


def drawn(page, times):
    page.locator(f'studio-chart[data-drawn="{times}"]').wait_for()
    return page.locator("studio-chart").evaluate(ROOM)


def test_a_chart_follows_the_window_and_keeps_its_rows(shown):
    width, scrolled, first = drawn(shown, 1)
    assert first <= width == scrolled
    shown.evaluate(SWAP, [{"cost": 7, "name": "other name that is as long"}])
    first = drawn(shown, 2)[2]
    for times, window in ((3, 390), (4, WIDE["width"])):
        shown.set_viewport_size({"width": window, "height": 800})
        width, scrolled, canvas = drawn(shown, times)
        assert canvas <= width == scrolled <= window  # labels that are wide, too
        assert (canvas < first) == (window == 390)
    # Drawn again as it was, with the rows that came last: nothing is made anew.
    shown.evaluate("(spec) => window.made.draw(spec)", SPEC)
    drawn(shown, 5)
    assert shown.get_by_role("img", name="Costs").count() == 1


def luminance(color):
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_tooltip_can_be_read_and_holds_text_alone(shown):
    shown.evaluate(SWAP, [{"cost": 7, "name": "<img src=x onerror=alert(1)>"}])
    drawn(shown, 2)
    box = shown.locator("studio-chart canvas").bounding_box()
    shown.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 100)
    tip = shown.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    assert "<img" in tip.inner_text()
    assert tip.locator("img").count() == 0
    colors = "(tip) => [getComputedStyle(tip).color, getComputedStyle(tip).backgroundColor]"
    light, dark = sorted(map(luminance, tip.evaluate(colors)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) > 7
    placed = tip.bounding_box()
    assert placed["x"] + placed["width"] <= WIDE["width"]


def test_the_library_is_asked_for_again_after_it_failed(browser, address):
    with visiting(browser, viewport=WIDE) as visit:
        page = visit.context.new_page()
        page.route(f"{address}/charts.js", lambda route: route.abort(), times=1)
        page.goto(f"{address}/ledger")
        page.get_by_role("heading", level=1).wait_for()
        failed = page.evaluate(
            f"(spec) => ({DRAW})(spec).then(() => '', (error) => error.message)", SPEC
        )
        assert failed == "the library that draws charts could not be loaded"
        page.evaluate(DRAW, SPEC)
        drawn(page, 1)
