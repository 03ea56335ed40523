"""Places on the globe, as kilometers east and north of a public point.

The projection is the azimuthal equidistant one on the sphere of the Earth's mean radius: distances
and directions from the center are true, and others are never shorter than on the sphere, and longer
by at most a factor of a / sin(a) for places within the angle a of the center: 1.00001 at 50 km,
1.001 at 500 km, 1.12 at 5,000 km. The Earth is flatter than a sphere, by which distances differ by
up to 0.56%. :attr:`Place.stretch` bounds both, so that an epsilon per kilometer on the ground can
be promised (proofs/laplace.md).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from shoal import _numbers
from shoal._typing import Floats
from shoal.exceptions import DataTypeError, ParameterError
from shoal.schema.fields import MISSING, Field, PartShape
from shoal.schema.measures import MISSING_PART
from shoal.schema.values import Column, is_missing, read_numbers, to_numbers

__all__ = ["EARTH_RADIUS", "Place"]

EARTH_RADIUS = 6371.0088  # km, the mean of the three axes of WGS84
MAX_RADIUS = 10_000.0  # km: a quarter of the globe, where clipping still keeps what is near near
# Kilometers of the sphere per kilometer on WGS84, at most: along a meridian at the equator, whose
# radius of curvature is 6335.4393 km; rounded down, which leaves 5e-8 for all rounding of doubles.
FLATTENING_STRETCH = EARTH_RADIUS / 6335.439
ROUNDING = 2.0**-30  # km that doubles may move two places apart: three times what they do at most
SERIES_TERMS = 12  # the next one is below 1e-22
FORMATS = ("default", "array", "object")
PAIR = 2
HALF_TURN, TURN = 180.0, 360.0


@dataclass(frozen=True)
class Place(Field):
    """A place on the globe, within a disc of public center and radius.

    It is encoded as two columns, the distances east and north of the center, scaled so that the
    diameter of the disc is ``sqrt(weight)``. Places outside are moved to the nearest point of the
    disc's rim.

    Parameters
    ----------
    name : str
        Name of a column of text such as ``"24.94, 60.17"`` (longitude, latitude), of lists of
        both, or of objects with ``lon`` and ``lat``. With two columns, any name for the field.
    longitude, latitude : str, default=""
        Names of two columns of degrees, if the place is not in a single column.
    center : tuple (longitude, latitude), default=None
        Public center of the disc, in degrees, known without looking at the records.
    radius : float, default=None
        Public radius of the disc, in kilometers, at most 10,000.
    format : {"default", "array", "object"}, default="default"
        Format in which a single column is written: as text, as a list, or as an object. All three
        are read.
    weight, missing, fill, unit, role, title, description, missing_values
        As for :class:`Field`; ``weight`` is the squared diameter of the disc, and ``fill`` a pair
        of degrees. A missing place is encoded as the center and a further column that flags it.

    Examples
    --------
    >>> from shoal.schema import Place, Schema
    >>> home = Place("home", center=(24.94, 60.17), radius=50.0, missing="refuse")
    >>> schema = Schema([home])
    >>> encoded = schema.encode({"home": ["24.94, 60.17", "25.0, 60.2"]})
    >>> ((encoded - 0.5) * home.kilometers).round(2).tolist()
    [[0.0, 0.0], [3.32, 3.34]]
    >>> schema.decode(encoded)["home longitude"].round(6).tolist()
    [24.94, 25.0]
    """

    _: KW_ONLY
    longitude: str = ""
    latitude: str = ""
    center: Sequence[float] | None = None
    radius: float | None = None
    format: str = "default"

    type: ClassVar[str] = "geopoint"
    roles: ClassVar[tuple[str, ...]] = ("feature", "describe", "ignore")

    def _check(self) -> None:
        for name in ("longitude", "latitude"):
            _numbers.printable(name, getattr(self, name))
        if bool(self.longitude) != bool(self.latitude) or (
            self.longitude and self.longitude == self.latitude
        ):
            raise ParameterError(
                f"longitude and latitude of field {self.name!r} must be the names of two columns, "
                f"or both left out, got {self.longitude!r} and {self.latitude!r}"
            )
        self._one_of("format", FORMATS)
        for name in ("center", "fill"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, self._degrees(name, getattr(self, name)))
        if self.radius is not None:
            object.__setattr__(
                self,
                "radius",
                _numbers.positive("radius", self.radius, of=f" of field {self.name!r}"),
            )
            if self.radius > MAX_RADIUS:
                raise ParameterError(
                    f"radius of field {self.name!r} must be at most {MAX_RADIUS:g} km, got "
                    f"{self.radius:g}: use two numbers for places all over the globe",
                    parameter="radius",
                    code="range",
                )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that hold the place."""
        return (self.longitude, self.latitude) if self.longitude else (self.name,)

    @property
    def lacking(self) -> str:
        """What must still be declared before records can be encoded; empty if complete."""
        if self.role == "ignore":
            return ""
        absent = [name for name in ("center", "radius") if getattr(self, name) is None]
        return " and ".join(f"a {name}" for name in absent)

    @property
    def shapes(self) -> tuple[PartShape, ...]:
        """Return the encoded columns of a place."""
        width = math.sqrt(self.weight)
        plane = tuple(
            PartShape("interval", (f"{self.name} {way}",), width) for way in ("east", "north")
        )
        if self.missing != "category":
            return plane
        flag = math.sqrt(MISSING_PART * self.weight)
        return *plane, PartShape("interval", (f"{self.name} {MISSING}",), flag)

    @property
    def kilometers(self) -> float:
        """Number of kilometers in one unit of the encoded columns."""
        return 2 * float(self.radius or 0.0) / math.sqrt(self.weight)

    @property
    def stretch(self) -> float:
        """Upper bound on the ratio of distances in the plane to distances on the ground."""
        angle = float(self.radius or 0.0) / EARTH_RADIUS
        # sin(angle) / angle by its series, enough for a quarter turn: sums, products and quotients
        # are the same on every machine and in every language, and a sine is not.
        share = 1.0
        for k in range(2 * SERIES_TERMS, 0, -2):
            share = 1.0 - share * (angle * angle) / (k * (k + 1))
        return FLATTENING_STRETCH / share

    @property
    def rounding(self) -> float:
        """Upper bound on what doubles add to the distance of two places, in encoded units."""
        return ROUNDING / self.kilometers

    @property
    def degree_names(self) -> tuple[str, str]:
        """Names of the decoded longitude and latitude."""
        if self.longitude:
            return self.longitude, self.latitude
        return f"{self.name} longitude", f"{self.name} latitude"

    def read(self, columns: Mapping[str, Column], words: Sequence[str]) -> Floats:
        """Return kilometers east and north, shape (n, 2), inside the disc; NaN if missing."""
        missing = (*words, *self.missing_values)
        if self.longitude:
            pair = [to_numbers(columns[name], name, missing) for name in self.columns]
            degrees = np.stack(pair, axis=1)
        else:
            degrees = _read_points(columns[self.name], self.name, missing)
        absent = ~np.isfinite(degrees).all(axis=1)
        degrees[absent] = np.nan if self.fill is None else self.fill
        return self.project(degrees)

    def encode(self, values: Floats) -> list[Floats]:
        """Return encoded positions east and north, and the flag for missing places."""
        absent = np.isnan(values[:, 0])
        if self.missing != "category" and absent.any():
            raise self._refuse_missing()
        encoded = []
        for shape, ways in zip(self.shapes, values.T, strict=False):
            position = np.where(absent, 0.5, ways / (2 * float(self.radius or 1.0)) + 0.5)
            encoded.append(np.clip(position, 0.0, 1.0) * shape.width)
        if self.missing == "category":
            encoded.append(absent * self.shapes[PAIR].width)
        return encoded

    def decode(self, block: Floats) -> dict[str, Any]:
        """Return degrees and shares of missing places; points may lie outside the disc."""
        offsets = block[:, :PAIR] - self.shapes[0].width / 2
        decoded: dict[str, Any] = {}
        if self.missing == "category":
            shares = np.clip(block[:, PAIR] / self.shapes[PAIR].width, 0.0, 1.0)
            decoded[f"{self.name} {MISSING}"] = shares
            # A mean of missing ones at the center and others elsewhere: that of the others.
            known = 1.0 - shares[:, np.newaxis]
            offsets = np.divide(offsets, known, out=np.zeros_like(offsets), where=known > 0)
        degrees = self.unproject(offsets * self.kilometers)
        return dict(zip(self.degree_names, degrees.T, strict=True)) | decoded

    def restore(self, block: Floats) -> list[list[Any]]:
        """Return the values nearest to points, for each column of the table."""
        decoded = self.decode(block)
        pairs = zip(*(decoded[name].tolist() for name in self.degree_names), strict=True)
        absent = decoded.get(f"{self.name} {MISSING}", np.zeros(len(block))) > 1 / 2
        known = [None if gone else pair for pair, gone in zip(pairs, absent, strict=True)]
        if self.longitude:
            return [[None if pair is None else pair[i] for pair in known] for i in range(PAIR)]
        return [[None if pair is None else self._written(*pair) for pair in known]]

    def project(self, degrees: Any) -> Floats:
        """Return kilometers east and north of the center, clipped to the disc.

        Parameters
        ----------
        degrees : array-like of shape (n, 2)
            Longitude and latitude.

        Returns
        -------
        plane : ndarray of shape (n, 2)
            Kilometers; NaN where a coordinate is NaN.
        """
        # In one piece: what becomes of a value must not depend on how it lies in memory.
        longitude, latitude = np.ascontiguousarray(np.asarray(degrees, dtype=np.float64).T)
        east_of, north = self._center
        turned = np.radians(np.remainder(longitude - east_of, TURN))
        height = np.radians(np.clip(latitude, -HALF_TURN / 2, HALF_TURN / 2))
        sine, cosine = np.sin(height), np.cos(height)
        across = cosine * np.cos(turned)
        x = cosine * np.sin(turned)
        y = math.cos(north) * sine - math.sin(north) * across
        z = math.sin(north) * sine + math.cos(north) * across
        sides = np.hypot(x, y)
        angle = np.arctan2(sides, z)
        # Around the opposite point of the globe places that are near would land far apart on the
        # rim: they are mirrored into the disc.
        kept = np.minimum(
            np.minimum(angle, math.pi - angle), float(self.radius or 0) / EARTH_RADIUS
        )
        factor = np.divide(kept, sides, out=np.ones_like(kept), where=sides > 0)
        plane: Floats = np.stack([x, y], axis=1) * (EARTH_RADIUS * factor)[:, np.newaxis]
        return plane

    def unproject(self, plane: Any) -> Floats:
        """Return the degrees of points of the plane, which may lie outside the disc.

        Parameters
        ----------
        plane : array-like of shape (n, 2)
            Kilometers east and north of the center.

        Returns
        -------
        degrees : ndarray of shape (n, 2)
            Longitude from -180 to 180, and latitude.
        """
        x, y = np.ascontiguousarray(np.asarray(plane, dtype=np.float64).T)
        east_of, north = self._center
        far = np.hypot(x, y)
        angle = np.minimum(far / EARTH_RADIUS, math.pi)
        # sin(angle) / far, which is 1 / EARTH_RADIUS at the center.
        unit = np.full_like(far, 1 / EARTH_RADIUS)
        np.divide(np.sin(angle), far, out=unit, where=far > 0)
        sine = np.cos(angle) * math.sin(north) + y * unit * math.cos(north)
        latitude = np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0)))
        turned = np.arctan2(x * unit, math.cos(north) * np.cos(angle) - y * unit * math.sin(north))
        longitude = np.remainder(np.degrees(turned) + east_of + HALF_TURN, TURN) - HALF_TURN
        return np.stack([longitude, latitude], axis=1)

    @property
    def _center(self) -> tuple[float, float]:
        """Longitude in degrees, and latitude in radians."""
        longitude, latitude = self.center or (0.0, 0.0)
        return longitude, math.radians(latitude)

    def _degrees(self, name: str, value: Any) -> tuple[float, float]:
        rule = f"{name} of field {self.name!r} must be (longitude, latitude) in degrees"
        listed = isinstance(value, list | tuple | np.ndarray) and len(value) == PAIR
        if not listed or any(isinstance(one, list | tuple) or np.ndim(one) for one in value):
            raise ParameterError(
                f"{rule}, got {_numbers.shown(value)}", parameter=name, code="shape"
            )
        longitude, latitude = (_numbers.finite(name, one) for one in value)
        if not (abs(longitude) <= TURN and abs(latitude) <= HALF_TURN / 2):
            raise ParameterError(
                f"{rule}, got {_numbers.shown(value)}: longitude comes first",
                parameter=name,
                code="range",
            )
        return longitude, latitude

    def _written(self, longitude: float, latitude: float) -> Any:
        if self.format == "array":
            return [longitude, latitude]
        if self.format == "object":
            return {"lon": longitude, "lat": latitude}
        return f"{longitude}, {latitude}"


def _read_points(column: Column, name: str, missing: Sequence[str]) -> Floats:
    """Return the degrees of a column of places, shape (n, 2), NaN where there is none."""
    listed = column.values if isinstance(column.values, list) else column.values.tolist()
    pairs = [_point(value, missing) for value in listed]
    known = [pair for pair in pairs if pair is not None]
    sides = [_numbers_of([pair[way] for pair in known], missing) for way in range(PAIR)]
    longitude, latitude = sides
    if None in pairs or longitude is None or latitude is None:
        raise DataTypeError(
            f"column {name!r} must hold places as 'longitude, latitude', got something else: name "
            "two columns of degrees in the schema, or another type"
        )
    return np.stack([longitude, latitude], axis=1)


def _numbers_of(values: list[Any], missing: Sequence[str]) -> Floats | None:
    text = all(value is None or type(value) is str for value in values)
    return read_numbers(Column("text" if text else "object", values), missing)


def _point(value: Any, missing: Sequence[str]) -> tuple[Any, Any] | None:
    """Return the two coordinates that a value holds; None where it holds something else."""
    if is_missing(value):
        return None, None
    if isinstance(value, str):
        text = value.strip()
        if not text or text in missing:
            return None, None
        if text[0] not in "[{":
            value = text.split(",", PAIR)
        else:
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                return None
    if isinstance(value, Mapping):
        value = [value.get("lon"), value.get("lat")]
    pair = isinstance(value, list | tuple | np.ndarray) and len(value) == PAIR
    return (value[0], value[1]) if pair else None
