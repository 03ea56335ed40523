"""Where the clusters of a release lie, as GeoJSON: from the release alone, so nothing is spent.

Corners of cells are joined by straight lines, as GeoJSON has it, which in a disc of a city or a
country are hardly bent by the projection.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.density import (
    outline_boxes,
    outline_grid,
    outline_intervals,
    place_cells,
    to_geojson,
)
from shoal.exceptions import ParameterError
from shoal.schema import Category, Date, Number, Ordinal, Place, Schema

__all__ = [
    "find_longitude",
    "outline_release",
    "place_of_release",
    "release_geojson",
]

# Names by which columns of places are known.
EAST = frozenset({"lon", "lng", "long", "longitude", "x"})
NORTH = frozenset({"lat", "latitude", "y"})
PLANE = 2
MEASURED = Number | Date | Ordinal


def release_geojson(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return where clusters are in degrees: centers as points, cells as polygons."""
    place = place_of_release(values)
    if place is None:
        raise ParameterError(
            "release must be of a schema with a place and no other numbers for a map, got another"
        )
    if "centers" not in values:
        return outline_release(values, None)
    schema = _schema(values)
    decoded = schema.decode(values["centers"])
    longitude, latitude = (decoded[name] for name in place.degree_names)
    sizes = values.get("sizes", values.get("weights"))
    features = [
        {
            "type": "Feature",
            "properties": {"cluster": cluster, "size": float(size)},
            "geometry": {"type": "Point", "coordinates": [float(lon), float(lat)]},
        }
        for cluster, (lon, lat, size) in enumerate(zip(longitude, latitude, sizes, strict=True))
    ]
    return {"type": "FeatureCollection", "features": features}


def place_of_release(values: Mapping[str, Any]) -> Place | None:
    """Return the place that the clusters of a release lie in, if they lie in nothing else.

    Categories beside it are strata of cells; centers have them as coordinates.
    """
    fields = _schema(values).features if "schema" in values else ()
    kept = [field for field in fields if "centers" in values or not isinstance(field, Category)]
    alone = kept[0] if len(kept) == 1 else None
    return alone if isinstance(alone, Place) else None


def outline_release(values: Mapping[str, Any], longitude: int | str | None) -> dict[str, Any]:
    """Return a feature for each cluster: polygons in two columns, intervals in one."""
    columns = len(values["low"])
    if columns > PLANE:
        raise ParameterError(
            f"outlines must be of clusters in 1 or 2 columns, got {columns}: use predict, or "
            "fit two of the columns"
        )
    strata = values.get("strata", [values])
    total = max(float(values["records"]), float(np.sum(values["sizes"])))
    features: list[dict[str, Any]] = []
    first = 0
    for one in strata:
        own = _outline_stratum({**values, **one}, longitude, total)
        for feature in own:
            feature["properties"]["cluster"] += first
            if "levels" in one:
                feature["properties"]["stratum"] = dict(one["levels"])
        features += own
        first += len(one["sizes"])
    return {"type": "FeatureCollection", "features": features}


def _outline_stratum(
    values: Mapping[str, Any], longitude: int | str | None, total: float
) -> list[dict[str, Any]]:
    """Return a feature for each cluster of one stratum."""
    known = {
        cluster: {"size": float(size), "share": float(size) / total}
        for cluster, size in enumerate(values["sizes"])
    }
    if len(values["low"]) == PLANE:
        place = place_of_release(values)
        x = 0 if place is not None else find_longitude(_cell_columns(values), longitude)
        collection = to_geojson(_polygons(values, place), x=x, y=1 - x, properties=known)
        features: list[dict[str, Any]] = collection["features"]
        return features
    low, high = (_placed(values, part) for part in place_cells(values))
    intervals = outline_intervals(low, high, values["clusters"]) if len(low) else {}
    return [
        {
            "type": "Feature",
            "properties": {"cluster": cluster, **known[cluster], "intervals": list(map(list, own))},
            "geometry": None,
        }
        for cluster, own in intervals.items()
    ]


def find_longitude(columns: Sequence[str] | None, longitude: int | str | None) -> int:
    """Return which of two columns goes east: the one that is named, or known by its name.

    >>> find_longitude(["lat", "lon"], None), find_longitude(["age", "height"], None)
    (1, 0)
    """
    names = list(columns or ())
    if longitude is None:
        plain = [name.strip().lower() for name in names]
        if len(plain) != PLANE:
            return 0
        first, second = plain
        known = (second in EAST and first not in EAST) or (first in NORTH and second not in NORTH)
        return int(known)
    if longitude in names:
        return names.index(str(longitude))
    if isinstance(longitude, str) or longitude not in (0, 1):
        raise ParameterError(
            f"longitude must be 0, 1 or one of the columns {names}, got {longitude!r}"
        )
    return int(longitude)


def _polygons(values: Mapping[str, Any], place: Place | None) -> dict[int, list[list[Floats]]]:
    """Return the polygons of each cluster: of a place in degrees, else in the columns' unit."""
    if "shape" in values:
        cells = np.full(values["shape"], -1, dtype=np.int64)
        cells.ravel()[values["cells"]] = values["clusters"]
        polygons = outline_grid(cells, [np.arange(side + 1) / side for side in cells.shape])
    elif len(values["cells"]):
        # Parts of a box that was halved are exact in doubles.
        polygons = outline_boxes(*place_cells(values), values["clusters"])
    else:
        polygons = {}
    located = partial(_placed, values) if place is None else partial(_degrees, place)
    return {
        cluster: [[located(ring) for ring in polygon] for polygon in own]
        for cluster, own in polygons.items()
    }


def _placed(values: Mapping[str, Any], part: Floats) -> Floats:
    """Return parts of the box as points; no difference of its ends is taken: it may overflow."""
    if "schema" in values:
        return _of_fields(values, part)
    points: Floats = values["low"] * (1 - part) + values["high"] * part
    return points


def _of_fields(values: Mapping[str, Any], part: Floats) -> Floats:
    """Return parts of the box in the units of their fields: days since 1970, and ranks."""
    fields = [field for field in _schema(values).features if isinstance(field, MEASURED)]
    columns = part.reshape(-1, len(fields)).T
    own = []
    for field, positions in zip(fields, columns, strict=True):
        low, high = field.limits
        if isinstance(field, Number):
            own.append(field.decode(positions[:, np.newaxis] * field.shapes[0].width)[field.name])
        else:
            own.append(low * (1 - positions) + high * positions)
    return np.stack(own, axis=1).reshape(part.shape)


def _degrees(place: Place, part: Floats) -> Floats:
    """Return parts of the square around a disc as degrees, without a jump at the 180th meridian."""
    degrees = place.unproject((part - 0.5) * 2 * float(place.radius or 0.0))
    middle = (place.center or (0.0, 0.0))[0]
    degrees[:, 0] = middle + np.remainder(degrees[:, 0] - middle + 180.0, 360.0) - 180.0
    return degrees


def _schema(values: Mapping[str, Any]) -> Schema:
    return Schema.from_dict(values["schema"])


def _cell_columns(values: Mapping[str, Any]) -> Sequence[str] | None:
    if "schema" not in values:
        names: Sequence[str] | None = values["columns"]
        return names
    return [field.name for field in _schema(values).features if isinstance(field, MEASURED)]
