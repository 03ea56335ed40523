"""A finished chart: shown in notebooks, saved, put into pages; nothing is loaded from the web.

A chart holds the values it draws to every digit. So one of records is a raster image only: its
file is a PNG, and no page that may be published takes it.
"""

import base64
import copy
import html
import json
import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal._files import atomic_write
from shoal._optional import require
from shoal.exceptions import ParameterError

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        """Load Altair when it is first used: that takes a second."""

        def __getattr__(self, name: str) -> Any:
            return getattr(require("altair", extra="plot"), name)

    alt = _Altair()

__all__ = ["CHART_STYLE", "Picture", "alt", "chart_library", "check_path", "page_scripts"]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name: nobody fetches it
ENDINGS = (".png", ".svg", ".pdf", ".html", ".json")
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
SCALE = 2.0  # pixels of a PNG for each unit of the chart

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>body {{ margin: 1rem; }} {style}</style></head><body>
{body}
{scripts}</body></html>
"""
#: CSS for a page with charts: wide charts scroll, and cells of a grid have sharp edges.
CHART_STYLE = """
div.chart, div.image { overflow-x: auto; } div.chart .mark-rect { shape-rendering: crispEdges; }
"""

# A chart is drawn when it comes near the screen: a page may hold dozens. On a narrow screen its
# panels shrink, down to 190 pixels; then they and the entries of the legend form more rows.
DRAW = """
const fit = (spec, room) => {
  const {width, margin, entry, least, square} = spec.usermeta.shoal;
  const narrowest = Math.max(least, Math.min(width, 190)) + margin;
  spec.columns = Math.max(1, Math.min(spec.columns, Math.floor(room / narrowest)));
  const share = Math.max(least / width, Math.min(1, (room / spec.columns - margin) / width));
  const legend = spec.config.legend;
  legend.columns = Math.max(1, Math.min(legend.columns, Math.floor(room / entry)));
  for (const one of spec.concat) {
    one.width *= share;
    if (square) one.height *= share;
  }
  return spec;
};
const seen = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    const spec = JSON.parse(target.nextElementSibling.textContent);
    target.style.minHeight = "";
    vegaEmbed(target, fit(spec, target.clientWidth),
              {mode: "vega-lite", renderer: "svg", actions: false});
  }
}, {rootMargin: "600px"});
document.querySelectorAll("div.chart").forEach((place) => seen.observe(place));
"""


class Picture:
    """A chart, as returned by every ``draw_`` function.

    A notebook displays it as a PNG image. Nothing is ever loaded from the web, and Altair's own
    settings are neither used nor changed.

    Parameters
    ----------
    spec : dict
        Vega-Lite specification, including the data.
    records : bool, default=False
        Whether it shows real records, or values computed from them without a privacy guarantee.
        Such a picture can be saved as PNG only.

    Examples
    --------
    >>> from shoal.plotting import draw_lines
    >>> rows = {"mechanism": ["Laplace"] * 2, "epsilon": [1, 2], "ami": [0.4, 0.5]}
    >>> picture = draw_lines(rows, x="epsilon", y="ami")
    >>> picture
    Picture(panels=1, records=False)
    >>> type(picture.chart).__name__
    'ConcatChart'
    """

    def __init__(self, spec: dict[str, Any], *, records: bool = False) -> None:
        marks = {**spec.get("usermeta", {}).get("shoal", {}), "records": records}
        self._spec = _drawable({**spec, "usermeta": {"shoal": marks}})
        self._records = records

    def __repr__(self) -> str:
        return f"Picture(panels={len(self._spec['concat'])}, records={self._records})"

    @property
    def records(self) -> bool:
        """Whether the chart shows records, so that it can be saved as PNG only."""
        return self._records

    @property
    def spec(self) -> dict[str, Any]:
        """The chart in Vega-Lite, including the data."""
        self._check_released("spec")
        return copy.deepcopy(self._spec)

    @property
    def chart(self) -> "alt.ConcatChart":
        """The chart as an Altair object, to be changed or combined with others."""
        self._check_released("chart")
        return alt.ConcatChart.from_dict(self._spec)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file, completely or not at all; the ending gives the format.

        Parameters
        ----------
        path : path
            A name that ends in ``.png``, ``.svg`` or ``.pdf``; in ``.html`` for a self-contained
            page that shows values under the pointer; or in ``.json`` for Vega-Lite.

        Returns
        -------
        path : Path
            The file that was written.

        Raises
        ------
        ParameterError
            If the file has another ending or cannot be written, or the picture shows records and
            the file is not a PNG; an existing file is then unchanged.
        MissingPackageError
            If the extra ``plot`` is not installed.

        Examples
        --------
        >>> from tempfile import mkdtemp
        >>> from shoal.plotting import draw_bars
        >>> picture = draw_bars({"mechanism": ["Laplace"], "ami": [0.4]}, value="ami")
        >>> picture.save(Path(mkdtemp()) / "ami.json").name
        'ami.json'
        """
        file = check_path(path, records=self._records)
        ways: dict[str, Callable[[], bytes | str]] = {
            ".png": self.to_png,
            ".svg": self.to_svg,
            ".pdf": self.to_pdf,
            ".html": self.to_html,
            ".json": self.to_json,
        }
        content = ways[file.suffix.lower()]()
        try:
            with atomic_write(file) as part:
                part.write_bytes(content if isinstance(content, bytes) else content.encode())
        except OSError as failure:
            raise ParameterError(
                f"path must be a file that can be written, got {str(file)!r}: {failure.strerror}"
            ) from None
        return file

    def to_png(self) -> bytes:
        """Return a PNG image at twice the size of the chart."""
        return bytes(_converter().vegalite_to_png(self._spec, scale=SCALE, allowed_base_urls=[]))

    def to_svg(self) -> str:
        """Return an SVG image."""
        self._check_released(".svg")
        return str(_converter().vegalite_to_svg(self._spec, allowed_base_urls=[]))

    def to_pdf(self) -> bytes:
        """Return a PDF file of one page."""
        self._check_released(".pdf")
        return bytes(_converter().vegalite_to_pdf(self._spec, allowed_base_urls=[]))

    def to_json(self) -> str:
        """Return the chart in Vega-Lite."""
        self._check_released(".json")
        return json.dumps({"$schema": SCHEMA, **self._spec}, ensure_ascii=False)

    def to_html(self) -> str:
        """Return a self-contained HTML page."""
        self._check_released(".html")
        title = html.escape(str(self._spec.get("title", {}).get("text", "shoal")))
        body = self.to_fragment("chart")
        return PAGE.format(title=title, style=CHART_STYLE, body=body, scripts=page_scripts())

    def to_fragment(self, label: str) -> str:
        """Return the picture as HTML for a page that ends with ``page_scripts``.

        Parameters
        ----------
        label : str
            Description of the chart for screen readers.

        Returns
        -------
        fragment : str
            HTML; an embedded PNG if the picture shows records.
        """
        words = html.escape(label)
        if self._records:
            data = base64.b64encode(self.to_png()).decode()
            return (
                f'<div class="image"><img src="data:image/png;base64,{data}" alt="{words}"></div>'
            )
        height = sum(panel.get("height", 0) for panel in self._spec["concat"][:1])
        # Text of a chart may hold anything, the end of a script included.
        inside = json.dumps(self._spec, separators=(",", ":")).replace("<", "\\u003c")
        return (
            f'<div class="chart" role="img" aria-label="{words}" style="min-height:{height}px">'
            f'</div><script type="application/json">{inside}</script>'
            "<noscript>This figure needs JavaScript.</noscript>"
        )

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        """Show the picture in a notebook."""
        image = self.to_png()
        # The header of a PNG file holds its width as a big-endian integer.
        width = int(int.from_bytes(image[16:20]) / SCALE)
        shown = {"image/png": base64.b64encode(image).decode(), "text/plain": repr(self)}
        return shown, {"image/png": {"width": width}}

    def _check_released(self, wanted: str) -> None:
        if self._records:
            raise ParameterError(
                f"a picture of records holds them to every digit, got a request for {wanted}: "
                "save it as .png, or draw released values"
            )


def _drawable(value: Any) -> Any:
    """Replace characters that XML cannot hold: the converter ends the whole process at one."""
    if isinstance(value, str):
        return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_drawable(name): _drawable(one) for name, one in value.items()}
    return [_drawable(one) for one in value] if isinstance(value, list) else value


def check_path(path: str | os.PathLike[str], *, records: bool = False) -> Path:
    """Return the path if a picture can be saved in the format that it ends with."""
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise ParameterError(f"path must end with {', '.join(ENDINGS)}, got {file.name!r}")
    if records and file.suffix.lower() != ".png":
        raise ParameterError(
            f"path must end with .png where records are shown, got {file.name!r}: other formats "
            "hold them to every digit; save it as .png, or draw released values"
        )
    return file


def page_scripts() -> str:
    """Return the scripts that draw all charts of a page; put them once at its end.

    Examples
    --------
    >>> from shoal.plotting import page_scripts
    >>> page_scripts().lstrip().startswith("<script")
    True
    """
    return f"<script>{chart_library()}</script>\n<script>{DRAW}</script>\n"


@lru_cache(maxsize=1)
def chart_library() -> str:
    """Return the JavaScript libraries that draw charts (Vega, Vega-Lite and Vega-Embed) as text.

    Examples
    --------
    >>> from shoal.plotting import chart_library
    >>> "vegaEmbed" in chart_library()
    True
    """
    return str(_converter().javascript_bundle())


def _converter() -> Any:
    return require("vl_convert", extra="plot")
