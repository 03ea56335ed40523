"""A map of clusters of places: kilometers around a public point, with a scale; nothing is loaded.

No streets and no coasts: they would have to come from the web, or show where somebody looked.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal._numbers import readable
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, columns_for, panel, table
from shoal.plotting._data import text
from shoal.plotting._picture import Picture
from shoal.plotting._theme import DARK_GRAY, GRAY, cluster_look, cluster_name
from shoal.schema import Place

__all__ = ["draw_map"]

SIDE = 380  # pixels of a panel
MARGIN = 1.06  # half the width of a panel, of the radius of the disc
LARGEST, SMALLEST = 900.0, 40.0  # area of a center's dot, in pixels
CIRCLE = 180  # corners of the rim
BAR_PART = 0.3  # of the radius, for the scale at most
NICE = (1, 2, 5)


def draw_map(
    features: Mapping[str, Any],
    *,
    center: Sequence[float],
    radius: float,
    records: bool = False,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw clusters of places on a map in kilometers, one panel for each stratum.

    Parameters
    ----------
    features : dict
        GeoJSON FeatureCollection of points or polygons with a ``cluster``, as returned by
        ``outlines`` of :class:`shoal.cluster.DPDensity`; their ``stratum`` gives the panel.
    center : tuple (longitude, latitude)
        Public center of the disc, in degrees.
    radius : float
        Public radius of the disc, in kilometers.
    records : bool, default=False
        Whether it was computed from real records without a privacy guarantee. Such a picture is
        for the curator only, and can be saved as PNG only.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG; if ``records`` is False also SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If the features are not such a collection, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> town = {"type": "Point", "coordinates": [24.9, 60.2]}
    >>> feature = {"type": "Feature", "properties": {"cluster": 0, "size": 120.0}, "geometry": town}
    >>> collection = {"type": "FeatureCollection", "features": [feature]}
    >>> draw_map(collection, center=(24.94, 60.17), radius=50.0)
    Picture(panels=1, records=False)
    """
    place = Place("map", center=center, radius=radius)
    canvas = Canvas(path, title=title, records=records)
    found = [_checked(feature) for feature in features.get("features", ())]
    key = Key(shown=False)
    for cluster in sorted({feature["properties"]["cluster"] for feature in found}):
        key.add(cluster_name(cluster), *cluster_look(cluster))
    strata = list(dict.fromkeys(_stratum(feature) for feature in found)) or [""]
    panels = []
    for stratum in strata:
        own = [feature for feature in found if _stratum(feature) == stratum]
        layer = _layer(canvas, place)
        layers = [*_ground(layer, place), *_clusters(layer, place, own, key)]
        panels.append(panel(*layers, width=SIDE, height=SIDE, title=text(stratum)))
    return canvas.finish(panels, columns=columns_for(len(panels), most=3), key=key, square=True)


def _checked(feature: Mapping[str, Any]) -> Mapping[str, Any]:
    shape = feature.get("geometry")
    kinds = ("Point", "Polygon", "MultiPolygon")
    if not isinstance(shape, Mapping) or shape.get("type") not in kinds:
        raise ParameterError(f"features must have geometries, one of {kinds}, got something else")
    if not isinstance(feature.get("properties", {}).get("cluster"), int):
        raise ParameterError("features must have the property cluster, a whole number, got none")
    return feature


def _stratum(feature: Mapping[str, Any]) -> str:
    levels = feature["properties"].get("stratum", {})
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def _layer(canvas: Canvas, place: Place) -> Callable[..., Any]:
    """Return what draws a layer in kilometers around the center."""
    end = MARGIN * float(place.radius or 0.0)
    longitude, latitude = place.center or (0.0, 0.0)
    east = f"km east of {_degrees(longitude, 'E', 'W')}"
    north = f"km north of {_degrees(latitude, 'N', 'S')}"
    return partial(canvas.layer, x=Axis(east, (-end, end)), y=Axis(north, (-end, end)))


def _degrees(value: float, positive: str, negative: str) -> str:
    return f"{abs(value):.4g}° {positive if value >= 0 else negative}"


def _ground(layer: Callable[..., Any], place: Place) -> list[Any]:
    """Return the rim of the public disc, its middle, and a scale of some kilometers."""
    radius = float(place.radius or 0.0)
    turn = np.linspace(0, 2 * np.pi, CIRCLE + 1)
    rim = table(x=radius * np.cos(turn), y=radius * np.sin(turn), order=np.arange(CIRCLE + 1))
    length = _nice(BAR_PART * radius)
    end, low = 0.98 * radius, -0.95 * radius
    bar = table(x=[end - length, end], y=[low, low], order=[0, 1])
    words = table(x=[end - length / 2], y=[low + 0.05 * radius], words=[f"{length:g} km"])
    return [
        layer(rim, "line", color=GRAY, strokeDash=[4, 3], strokeWidth=1),
        layer(table(x=[0.0], y=[0.0]), "point", shape="cross", color=GRAY),
        layer(bar, "line", color=DARK_GRAY, strokeWidth=3),
        layer(words, "text", color=DARK_GRAY, fontSize=11),
    ]


def _nice(most: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is at most this."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in NICE if step * power <= most * (1 + 1e-9))


def _clusters(
    layer: Callable[..., Any],
    place: Place,
    features: Sequence[Mapping[str, Any]],
    key: Key,
) -> list[Any]:
    """Return outlines and dots of clusters with their numbers."""
    layers = []
    largest = max((float(one["properties"].get("size", 1.0)) for one in features), default=1.0)
    for feature in features:
        cluster, size = feature["properties"]["cluster"], feature["properties"].get("size", 1.0)
        name = cluster_name(cluster)
        note = f"{name}, about {readable(float(size))} records"
        told = {"note": " "}
        shape = feature["geometry"]
        if shape["type"] == "Point":
            at = place.project([shape["coordinates"]])
            area = max(LARGEST * float(size) / max(largest, 1.0), SMALLEST)
            dots = table(name=[name], x=at[:, 0], y=at[:, 1], note=[note])
            look = {"filled": True, "opacity": 0.55, "size": area, "shape": "circle"}
            layers.append(layer(dots, "point", key=key, told=told, **look))
            middle = at[0]
        else:
            several = shape["type"] == "MultiPolygon"
            polygons = shape["coordinates"] if several else [shape["coordinates"]]
            rings = [place.project(ring) for polygon in polygons for ring in polygon]
            for ring in rings:
                corners = table(
                    name=[name] * len(ring),
                    x=ring[:, 0],
                    y=ring[:, 1],
                    order=np.arange(len(ring)),
                    note=[note] * len(ring),
                )
                layers.append(layer(corners, "line", key=key, told=told, strokeWidth=2))
            middle = _middle(max(rings, key=_area))
        words = table(x=[middle[0]], y=[middle[1]], words=[str(cluster)])
        layers.append(layer(words, "text", fontSize=12))
    return layers


def _area(ring: Floats) -> float:
    x, y = ring.T
    return abs(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))) / 2


def _middle(ring: Floats) -> Floats:
    middle: Floats = (ring.min(axis=0) + ring.max(axis=0)) / 2
    return middle
