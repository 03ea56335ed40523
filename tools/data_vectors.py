"""Make the vectors of what a device computes from its own record: encoding, cells, labels.

``python tools/data_vectors.py`` writes ``clients/vectors/encoding.json``, ``schemas.json`` and
``labels.json``. Clients in other languages must get the same from the same documents. JavaScript
refuses a little more, which is left out here: "inf" as a number, text in the format of a schema
where it has one (a Date or ISO text is taken), a date as a category, and lists with columns that
are no features.

JSON has no dates, NaN or large whole numbers: in records, ``{"$date": ...}``, ``{"$number": ...}``
and ``{"$bigint": ...}`` stand for them.
"""

import functools
import json
import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal.exceptions import DataError, ShoalError
from shoal.labels import label_on_device
from shoal.mechanisms import Laplace, PartitionResponse, Piecewise, PlanarLaplace, load_mechanism
from shoal.partitions import AxisGrids, NearestSeeds, Partitions, box_axes, space_axes
from shoal.privacy import Guarantee, Release
from shoal.schema import Category, Date, Field, Flag, Number, Ordinal, Place, Schema

MAX_EXACT = 2**53
NOON = datetime(2020, 2, 29, 12, tzinfo=UTC)
# Relative: logarithms and sines are those of the machine.
TOLERANCE = 1e-12


def encoding_vectors() -> list[dict[str, Any]]:
    """Return records with the numbers that they are perturbed as, and the colors of their cells."""
    return [
        _encoding(name, mechanism, records, tolerance)
        for name, mechanism, records, tolerance in [
            *_plain_cases(),
            *_schema_cases(),
            *_place_cases(),
            *_partition_cases(),
        ]
    ]


Case = tuple[str, Any, list[Any], float]


def _encoding(name: str, given: Any, records: list[Any], tolerance: float) -> dict[str, Any]:
    document = json.loads(json.dumps(given.to_dict()))
    mechanism = load_mechanism(document)
    case: dict[str, Any] = {"name": name, "tolerance": tolerance}
    case["mechanism"] = {part: document[part] for part in ("parameters", "columns", "names")}
    if hasattr(mechanism, "_column_epsilon"):
        case["rate"] = mechanism._column_epsilon()
    case["records"] = [_outcome(mechanism.clip_record, record) for record in records]
    if isinstance(mechanism, PartitionResponse):
        partitions = mechanism.partitions_
        for outcome in case["records"]:
            if "result" in outcome:
                outcome["colors"] = [
                    partitions.color(outcome["result"], index)
                    for index in range(partitions.n_partitions)
                ]
    return case


def _outcome(compute: Callable[[Any], Any], record: Any) -> dict[str, Any]:
    try:
        result = np.asarray(compute(record)).tolist()
    except ShoalError as failure:
        code = "data" if isinstance(failure, DataError) else "campaign"
        return {"x": _tagged(record), "refused": code}
    return {"x": _tagged(record), "result": result}


def _tagged(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tagged(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_tagged(one) for one in value]
    if isinstance(value, datetime):
        return {"$date": value.isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    if isinstance(value, int) and abs(value) >= MAX_EXACT:
        return {"$bigint": str(value)}
    return value


def _plain_cases() -> Iterable[Case]:
    bounds = ([0.0, -2.5], [10.0, 1e6])
    named = Piecewise(1.0, bounds=bounds).to_dict() | {"columns": 2, "names": ["b", "a"]}
    records = [
        [1, 2], [0.1, 1e7], [-3.0, -1e9], [-0.0, -0.0], [True, 5], [1e308, -1e308],
        {"a": 1.5, "b": 2.5}, {"b": 11, "a": -9},
        [1], [1, 2, 3], [], [1, None], [1, math.nan], [1, math.inf], ["1", 2], {"a": 1}, {},
        {"a": "1", "b": 2}, [1, [2]],
    ]  # fmt: skip
    yield "bounds of each column, with names", load_mechanism(named), records, 0.0
    scalars = Laplace(level=2.0, radius=0.3, unit="80 m", bounds=(-1.0, 1.0)).fit(np.zeros((1, 3)))
    yield "bounds of two numbers", scalars, [[0.3, -7, 1], [0, 0], {"a": 1}], 0.0
    yield "epsilon as such", PlanarLaplace(0.7, bounds=([0.0, 1.0], [1.0, 3.0])), [[0.3, 9]], 0.0


def _schema_cases() -> Iterable[Case]:
    numbers = Schema(
        [
            Number("a", minimum=0, maximum=120),
            Number("id", minimum=0, maximum=1, role="ignore"),
            Number("b", minimum=-1e300, maximum=7e299, weight=2.0, missing="fill", fill=3.3),
            Number("c", minimum=0.1, maximum=0.7, missing="refuse", missing_values=["-99", "?"]),
        ],
        missing_values=["", " Gone"],
    )
    c = {"b": 1.0, "c": 0.3}
    values: list[Any] = [
        30, 120, 1e9, -1, 0.1, None, math.nan, math.inf, -math.inf, "30", " 3e1\t", "+3.", ".5",
        "-.5E+1", "", "gone", "GONE ", "NA", "n/a", "<NA>", "-nan", "None", "1e999", "-1e999",
        True, False, 2**60, 10**400, "1_000", "0x10", "1,5", "1 2", "٣",
        "3\n", "e5", ".", "true", NOON, [1], {"lon": 1},
    ]  # fmt: skip
    records = [{"a": value, **c} for value in values]
    records += [{"a": 1, "b": value, "c": 0.3} for value in (None, "", 7e299, -1e300, 1e-9)]
    records += [{"a": 1, "b": 1, "c": value} for value in (0.1, 0.7, 0.4, -99, "-99.0", "?", None)]
    records += [[30, 1, 0.3], [30, 1], [], {"a": 1, "b": 2}, {**c, "a": 1, "z": 9}]
    yield "numbers", Piecewise(1.0, schema=numbers), records, 0.0
    logs = Schema(
        [
            Number("money", minimum=0, maximum=1_000_000, scale="log"),
            Number("count", minimum=3, maximum=5e5, scale="log", missing="refuse", weight=0.3),
            Number("tiny", minimum=1e-300, maximum=1e300, scale="log", missing="refuse"),
        ]
    )
    records = [[money, 3 + money, money] for money in (0, 1, 2.5, 1e3, 999_999.9, 1e6, 1e9)]
    yield "logarithms", Laplace(2.0, schema=logs), [*records, [None, 4, 1], [1, None, 1]], TOLERANCE
    yield from _level_cases()
    dates = Schema(
        [
            Date("d", minimum="2010-01-01", maximum="2026-12-31T23:59:59.999999+02:00"),
            Date(
                "e", minimum="1900-01-01", maximum="2000-01-01", missing="fill", fill="1950-06-01"
            ),
        ]
    )
    values = [
        "2020-02-29", "2021-02-29", "2020-02-29T12:00", "2020-02-29 12:00:01",
        "2020-02-29T12:00:01.5Z", "2020-02-29T12:00:01.123456789-05:30", "2020-13-01", "2020-1-1",
        "29.02.2020", "2020-02-29T24:00", "2020-02-29T23:60", " 2020-02-29 ", "1910-01-01",
        "9999-12-31", "", "NaT", "na", None, math.nan, 18321, True, NOON,
        NOON.replace(microsecond=123000), "today",
    ]  # fmt: skip
    records = [{"d": value, "e": "1970-01-01"} for value in values]
    records += [{"d": NOON, "e": value} for value in (None, "1950-06-01", NOON, "1899-01-01")]
    yield "dates", Piecewise(1.0, schema=dates), records, 0.0


def _level_cases() -> Iterable[Case]:
    codes = ["A", "007", "1.50", "true", "2020-02-29T00:00:00", "9007199254740992"]
    cities = [
        "A", " A ", "a", "", " ", None, math.nan, "other", "missing", "007", 7, 7.0, "7", "7.0",
        "+7", 1.5, "1.5", "1.500", True, "TRUE", " True", "true", False, "2020-02-29", "1e300",
        1e300, 2**60, "elsewhere", 2**53 - 1, 2**53, 2.0**53, "9007199254740993", -math.inf, "inf",
        2**1024 - 1, 2**1024, -(10**400),
    ]  # fmt: skip
    states = ["on", "off", "dim", None, "", "gone", 0, "0.0", "other"]
    sizes = ["7", 7, "7.0", "7.00", "07", "007", 8, "8", "8.0", " 08", 9, "9.0"]
    truths = [
        True, False, 0, 1, 1.0, 0.5, 2, "yes", "NO", " y ", "T", "f", "1.0", "0", "TRUE", "false",
        None, "", "maybe", "missing", math.nan, NOON, 1e300, 2**1024,
        "ja", " JA", "Nein", "2", 2.0, "on", "n", -1, "-1.0",
    ]  # fmt: skip
    ranks = [
        "low",
        "2",
        2,
        2.0,
        " high ",
        "High",
        "-",
        "",
        None,
        "b",
        "a",
        3,
        "4",
        4.0,
        5,
        True,
        2**60,
    ]
    fields: list[tuple[Field, list[Any]]] = [
        (Category("city", codes, weight=3.0), cities),
        (Category("kind", ["x", "y"], other="y", missing="fill", fill="x"), ["x", "y", "z", None]),
        (Category("state", states[:2], missing="refuse", missing_values=["gone", "0"]), states),
        (Category("gap", ["missing", "NA"], other="rest"), ["NA", "missing", None, "z"]),
        (Category("size", ["07", "8.0"], missing="refuse", missing_values=["7", "9"]), sizes),
        (Flag("truth"), truths),
        (Flag("german", true_values=["Ja", "1"], false_values=["nein", "2.0"]), truths),
        (Flag("few", true_values=["on"], missing_values=["n", "-1"], missing="refuse"), truths),
        (Flag("filled", missing="fill", fill=True, weight=0.5), truths),
        (Flag("needed", missing="refuse"), truths),
        (Ordinal("rank", ["low", "2", "high"], missing_values=["-"]), ranks),
        (Ordinal("filled", ["a", "b"], missing="fill", fill="b", weight=2.0), ranks),
        (Ordinal("needed", [1, 2, 3, 4], missing="refuse"), ranks),
    ]
    for field, values in fields:
        name = f"{type(field).__name__}: {field.name}"
        yield name, Piecewise(1.0, schema=Schema([field])), [[value] for value in values], 0.0


def _place_cases() -> Iterable[Case]:
    near = Place("home", center=(24.94, 60.17), radius=50.0, missing="refuse")
    texts: list[Any] = [
        "24.94, 60.17", "25.0,60.2", [24.5, 60.0], {"lon": 25.1, "lat": 60.3}, " 24.94 , 90",
        [24.94, -60.17], [-155.06, -60.17], [204.94, -60.1], [384.94, 60.4], [24.94, 95.0],
        [0.0, 0.0], None, "", "24.94", "24.94, 60.17, 1", "a, b", 24.94, [1, None], {"lat": 1},
        [math.inf, 1.0], ["24.9", "60.1"], NOON,
    ]  # fmt: skip
    records = [{"home": value} for value in texts]
    yield "a place", PlanarLaplace(0.5, schema=Schema([near])), records, TOLERANCE
    columns = Place(
        "shop", longitude="x", latitude="y", center=(-179.9, -45.0), radius=900.0, weight=2.5,
        missing_values=["-999"],
    )  # fmt: skip
    records = [{"x": x, "y": y} for x, y in [(179.9, -45.1), ("-179", "-44"), (1, 1), (None, 2)]]
    records += [{"x": -999, "y": 1}, {"x": "east", "y": 2}, {"x": 1}, [179.0, -46], [1]]
    mechanism = Laplace(level=1.0, radius=2.0, unit="80.5 m", schema=Schema([columns]))
    yield "a place of two columns", mechanism, records, TOLERANCE
    for unit, epsilon, radius in [
        ("m", 0.1, 0.3), ("mi", 1 / 3, 1e4), ("25e2 ft", 1e-3, 6371.0088), ("1.5e-1 nmi", 7, 1),
        ("3 in", 0.001, 123.456), ("yd", 0.7, 77.7), ("cm", 1e-5, 40.0), ("2 mm", 1e-6, 9.9),
    ]:  # fmt: skip
        filled = Place("p", center=(0.0, 0.0), radius=radius, missing="fill", fill=(0.001, 0.001))
        mechanism = PlanarLaplace(epsilon, unit=unit, schema=Schema([filled]))
        yield f"epsilon per {unit}", mechanism, [{"p": None}, {"p": [0.002, -0.001]}], TOLERANCE
    pole = Place("p", center=(10.0, -89.9), radius=70.0)
    records = [{"p": place} for place in ([0, -95], [190.0, -89.8], "x", "", None, [1e12, -89.95])]
    mechanism = Laplace(0.5, schema=Schema([pole], missing_values=["x"]))
    yield "a place at a pole", mechanism, records, TOLERANCE
    both = Schema([near, Number("age", minimum=0, maximum=1)])
    records = [{"home": "25, 60", "age": 1}]
    yield "a place and a number", Laplace(0.5, schema=both), records, TOLERANCE


def _partition_cases() -> Iterable[Case]:
    rng = np.random.default_rng(0)
    box = np.array([0.0, -1.0, 0.0, 2.0]), np.array([1.0, 1.0, 1e-3, 7.0])
    axes = box_axes(Box(*box))
    inside = [*(rng.uniform(*box).tolist() for _ in range(4)), box[0].tolist(), box[1].tolist()]
    for name, size, cells, partitions, colors in [
        ("all axes", None, 6, 12, 16), ("pairs in turn", 2, 5, 20, 8), ("one axis", 1, 3, 9, 16),
        ("axes at random", 2, 5, 5, 3), ("many cells", 4, 80, 6, 65_536),
    ]:  # fmt: skip
        grids = AxisGrids(axes, partitions, colors, cells, size, seed=2**32 - 1)
        mechanism = PartitionResponse(1.0, partitions=Partitions([grids]))
        yield f"grids: {name}", mechanism, inside, 0.0
    schema = Schema([Number("n", minimum=0, maximum=1), Category("c", ["A", "B"]), Flag("f")])
    space = space_axes(schema.space)
    grids = AxisGrids(space, 8, 4, 4, 1, seed=5)
    pool = schema.encode({"n": rng.uniform(size=11), "c": list("ABABCABACBA"), "f": [True] * 11})
    low, high = schema.space.bounds
    seeds = NearestSeeds(pool, 6, 4, 7, low, high, scale=np.ones(len(low)), seed=9)
    mixed = PartitionResponse(2.0, schema=schema, partitions=Partitions([grids, seeds]))
    records = [[0.3, "A", True], [None, None, None], [1, "z", False], [0, "B", "no"]]
    yield "grids and seeds of a schema", mixed, records, 0.0
    levels = Schema(
        [Category(name, list("ABCDE"), missing="refuse", weight=0.18) for name in "uvwxyz"]
    )
    pool = levels.encode({name: list(rng.choice(list("ABCDE"), 40)) for name in "uvwxyz"})
    low, high = levels.space.bounds
    seeds = NearestSeeds(pool, 12, 16, 40, low, high, scale=np.ones(len(low)), seed=1)
    equals = PartitionResponse(1.0, schema=levels, partitions=Partitions([seeds]))
    records = [list("AB????"), list("??CD??"), list("????EA"), list("A????C"), list("??????")]
    yield "equal distances", equals, records, 0.0
    seeds = NearestSeeds([[0.5, 3.0]], 2, 2, 1, *(side[[0, 3]] for side in box))
    yield "one seed", PartitionResponse(1.0, partitions=Partitions([seeds])), [[0.1, 9.0]], 0.0


# A complete field of each kind, and a value of it.
DESCRIBED: dict[str, tuple[dict[str, Any], Any]] = {
    "integer": ({"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}, "3"),
    "date": (
        {"type": "datetime", "constraints": {"minimum": "2020-01-01", "maximum": "2021-01-01"}},
        "2020-07-01",
    ),
    "category": ({"type": "string", "categories": ["A", {"value": "1", "label": "B"}]}, "01"),
    "ordered": ({"type": "integer", "categories": [1, 2, 3], "categoriesOrdered": True}, "2"),
    "flag": ({"type": "boolean"}, "ja"),
    "place": ({"type": "geopoint", "shoal": {"center": [24.94, 60.17], "radius": 50}}, None),
    "text": ({"type": "string", "shoal": {"role": "describe"}}, "x"),
    "ignored": ({"type": "duration", "shoal": {"role": "ignore"}}, "x"),
}
USUAL = {"name": "usual", "type": "boolean"}
# A value of each key that a field may have.
OF_KEYS: dict[str, dict[str, Any]] = {
    "field": {
        "title": "t", "description": "d", "example": 1, "rdfType": "r", "missingValues": ["3", 7],
        "format": "default", "categories": ["A"], "categoriesOrdered": True, "trueValues": ["ja"],
        "falseValues": ["nein"], "decimalChar": ".", "groupChar": "", "bareNumber": True,
        "itemType": "string", "delimiter": ",", "weight": 2, "role": "user", "weights": 2,
    },
    "constraints": {
        "required": True, "unique": True, "minLength": 1, "maxLength": 2, "pattern": "x",
        "jsonSchema": {}, "minimum": 1, "maximum": 5, "enum": ["A"], "exclusiveMinimum": 1,
        "exclusiveMaximum": 1, "maximums": 3,
    },
    "shoal": {
        "weight": 2, "missing": "refuse", "unit": "m", "role": "feature", "scale": "log",
        "other": "A", "center": [0, 0], "sizes": 2,
    },
}  # fmt: skip
# What is declared and cannot be read as it is meant.
MISREAD: dict[str, list[dict[str, Any]]] = {
    "integer": [
        {"decimalChar": ","}, {"groupChar": "."}, {"bareNumber": False}, {"format": "currency"},
        {"constraints": {"minimum": 0}}, {"constraints": {"minimum": 0, "maximum": 9, "enum": [1]}},
        {"constraints": {"minimum": 0, "maximum": 9, "required": "yes"}}, {"constraints": []},
        {"type": "integr"}, {"type": "duration"}, {"shoal": {"role": "owner"}},
        {"shoal": {"missing": "drop"}}, {"shoal": {"missing": "fill"}}, {"missingValues": "3"},
    ],
    "category": [
        {"categories": ["A"], "constraints": {"enum": ["A"]}}, {"categories": ["7", "07"]},
        {"categories": [{"label": "A"}]}, {"categories": "A"}, {"categories": ["true", 1]},
        {"categories": ["A", None]}, {"categories": [["A"]]}, {"shoal": {"weight": "2"}},
        {"categories": ["A"], "shoal": {"other": ["B"]}},
        {"categories": [{"value": "A", "labels": "B"}]},
        {"categories": ["A"], "categoriesOrdered": True}, {"categoriesOrdered": "yes"},
        {"format": "email"}, {"format": "%d"},
    ],
    "date": [{"format": ["%Y"]}],
    "place": [
        {"shoal": {"center": center, "radius": radius}}
        for center, radius in (("x", 5), ([1, None], 5), ([1, "2"], 5), ([1, 2], "5"), (1, []))
    ],
    "flag": [
        {"constraints": {"required": True}, "shoal": {"missing": "category"}},
        {"constraints": {"required": True}, "shoal": {"missing": "refuse"}, "trueValues": ["ja"]},
        {"trueValues": ["0"]}, {"trueValues": ["false"]}, {"trueValues": "ja"},
        {"trueValues": ["ja"], "missingValues": ["JA"]}, {"trueValues": ["ja", "1"]},
        {"falseValues": ["JA", "2"], "trueValues": ["1.0"]}, {"missingValues": ["n", "ja"]},
    ],
}  # fmt: skip


def schema_vectors() -> list[dict[str, Any]]:
    """Return documents of schemas, each with a record as it encodes it or with a refusal."""
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for name, (plain, value) in DESCRIBED.items():
        given = [plain]
        for level, keys in OF_KEYS.items():
            for key, one in keys.items():
                inner = {**plain.get(level, {}), key: one}
                given.append({**plain, **({key: one} if level == "field" else {level: inner})})
        given += [{**plain, **one} for one in MISREAD.get(name, [])]
        # Beside a field that every record has, so that this one may be no feature.
        cases += [
            ({"fields": [{"name": name, **one}, USUAL]}, {name: value, "usual": True})
            for one in given
        ]
    age = {"fields": [{"name": "age", **DESCRIBED["integer"][0]}]}
    for more in (
        {"missingValues": ["3"]}, {"missingValues": [{"value": "3", "label": "none"}]},
        {"missingvalues": ["3"]}, {"primaryKey": "age"}, {"$schema": "s"}, {"dialect": {}},
        {"shoal": {"seeded": True}}, {"shoal": {"seeded": 1}}, {"shoal": {"seed": 1}}, {"shoal": 1},
    ):  # fmt: skip
        cases.append(({**age, **more}, {"age": "3"}))
    return [
        {"schema": plain, "records": [_outcome(functools.partial(_encoded, plain), record)]}
        for plain, record in cases
    ]


def _encoded(plain: dict[str, Any], record: dict[str, Any]) -> Any:
    return Schema.from_dict(plain).encode({name: [value] for name, value in record.items()})[0]


def label_vectors() -> list[dict[str, Any]]:
    """Return records with their labels by releases of every metric."""
    cases = []
    for name, values, records in [*_center_cases(), *_cell_cases(), *_broken_cases()]:
        release = Release("vectors", values, Guarantee("local", epsilon=1.0))
        label = functools.partial(label_on_device, release)
        plain = json.loads(release.to_json())["values"]
        outcomes = [_outcome(label, record) for record in records]
        cases.append({"name": name, "release": {"values": plain}, "records": outcomes})
    return cases


LabelCase = tuple[str, dict[str, Any], list[Any]]
UNIT = {"low": np.zeros(2), "high": np.ones(2)}
AROUND = [[x / 8, y / 8] for x in range(-1, 10) for y in range(-1, 10)][::2]


def _center_cases() -> Iterable[LabelCase]:
    centers = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.0]])
    named = {"centers": centers, "metric": "euclidean", "columns": ["b", "a"], **UNIT}
    records = [[0.5, 0.0], [1.0, 0.0], [0.5, 0.25], [1e200, -1e200], [0.1, 0.2], [True, 0]]
    refused = [[1], [1, 2, 3], [], {}, {"a": 1}, [1, None], [math.nan, 1], ["1", 2]]
    yield "euclidean", named, [*records, {"a": 0.4, "b": 0.1}, {"b": 0.9, "a": 0.1}, *refused]
    yield "without names", {**named, "columns": None}, [[0.9, 0.1], {"a": 1, "b": 2}]
    schema = Schema([Number("n", minimum=0, maximum=10), Category("c", ["A", "B"])])
    encoded = schema.encode({"n": [1, 9, None], "c": ["A", "B", "A"]})
    by_schema = {"centers": encoded, "metric": "euclidean", "schema": schema.to_dict()}
    records = [[1, "A"], {"c": "B", "n": "8"}, [None, None], [5, "z"], ["?", "A"], {"n": 1}]
    yield "euclidean by a schema", by_schema, records
    lattice = {"centers": centers, "metric": "bounds", "half": 4, **UNIT}
    yield "bounds", lattice, AROUND
    yield "bounds with weights", {**lattice, "half": [2, 5], "columns": None}, AROUND
    wide = {"low": np.array([-1e308, 0.1]), "high": np.array([1e308, 0.7]), "half": 2**19}
    far = [[1e308, 0.3], [-1e308, 0.7], [0.0, 0.4], [1e307, 0.1], [-1e300, 99.0]]
    yield "wide bounds", {"centers": np.array(far[:3]), "metric": "bounds", **wide}, far
    low, high = schema.space.bounds
    halves = [2**19, 454_047, *[370_728] * 4]
    of_schema = {**by_schema, "metric": "schema", "low": low, "high": high, "half": halves}
    yield "schema", of_schema, records
    circle = [[math.cos(turn), math.sin(turn)] for turn in range(7)]
    sphere = {"low": np.full(2, -1.0), "high": np.ones(2), "half": 2**19}
    cosine = {"centers": np.array(circle), "metric": "cosine", **sphere}
    odd = [[0, 0], [1e-300, 2e-310], [1e300, -1e308], [5e-324, 0.0], [3e-320, -4e-320], [-0.0, 0]]
    yield "cosine", cosine, [*AROUND[::3], *odd, [2.0**900, 1.0], [2.0**-450, 2.0**-451]]


def _cell_cases() -> Iterable[LabelCase]:
    cells = {"metric": "cells", "cells": np.array([0, 3, 5, 11, 15]), "shape": [4, 4], **UNIT}
    cells |= {"clusters": np.array([0, 1, 0, 2, 1], dtype=np.int32), "half": 2**19}
    yield "cells", {**cells, "grid": 8, "columns": ["u", "v"]}, [*AROUND, {"v": 0.1, "u": 0.2}]
    yield "cells of columns", {**cells, "shape": [2, 8], "grid": [4, 8]}, AROUND
    steps = np.arange(98)
    line = {"metric": "cells", "cells": steps, "clusters": steps, "shape": [98], "grid": 98}
    line |= {"low": np.zeros(1), "high": np.ones(1), "half": 49}
    yield "cells between steps", line, [[0.5 + (step - 48.5) / 98] for step in range(98)]
    yield "cells of few steps", {**cells, "grid": [4, 4], "half": 3}, AROUND
    low = [[-8, -8], [0, -8], [0, 0], [-8, 0], [-8, 4], [-4, 0], [-4, 4]]
    high = [[0, 0], [8, 0], [8, 8], [-4, 4], [-4, 8], [0, 4], [0, 8]]
    boxes = {"metric": "boxes", "cell_low": np.array(low), "cell_high": np.array(high), **UNIT}
    boxes |= {"cells": np.array([0, 2, 4, 6]), "clusters": np.array([1, 0, 2, 1]), "half": 8}
    yield "boxes", boxes, AROUND
    some = {"cell_low": np.array(low[:3]), "cell_high": np.array(high[:3])}
    some |= {"cells": np.array([0, 2]), "clusters": np.array([1, 0])}
    yield "boxes with a gap", {**boxes, **some}, AROUND
    two = {"low": np.zeros(2), "high": np.ones(2), "half": 8}
    numbers = [Number(name, minimum=0, maximum=1, missing="refuse") for name in "xy"]
    schema = Schema(
        [numbers[0], Category("c", ["A", "B"], missing="refuse"), numbers[1], Flag("f")]
    )
    inside = {name: cells[name] for name in ("metric", "cells", "clusters", "shape")}
    first = {**inside, "grid": 4, "sizes": np.ones(3)}
    second = {
        name: boxes[name] for name in ("metric", "cell_low", "cell_high", "cells", "clusters")
    }
    empty = {**inside, "cells": np.array([], dtype=np.int64), "clusters": np.array([], np.int32)}
    others = {**empty, "grid": 4, "sizes": np.ones(0)}
    strata = [first, {**second, "sizes": np.ones(3)}, others, first, *[others] * 5]
    levels = [[["c", c], ["f", f]] for c in schema["c"].levels for f in schema["f"].levels]
    strata = [{**one, "levels": own} for one, own in zip(strata, levels, strict=True)]
    values = {"metric": "strata", "strata": strata, "schema": schema.to_dict(), **two}
    values |= {"category_blocks": [[1, 4], [5, 8]], "cell_columns": [0, 4]}
    records = [[x, c, y, f] for x, y in AROUND[::4] for c in "ABz" for f in (True, False, None)]
    yield "strata", values, [*records, [None, "A", 1, True], {"x": 1}]


def _broken_cases() -> Iterable[LabelCase]:
    centers = np.zeros((2, 2))
    yield "no metric", {"centers": centers}, [[0, 0]]
    yield "an unknown metric", {"centers": centers, "metric": "constructor"}, [[0, 0]]
    yield "no centers", {"metric": "euclidean", "columns": None}, [[0, 0]]
    gap = np.array([[0.0, math.nan], [1.0, 1.0]])
    yield "centers that are no numbers", {"centers": gap, "metric": "euclidean"}, [[0, 0]]
    yield "no bounds", {"centers": centers, "metric": "bounds", "half": 4}, [[0, 0]]


def main() -> None:
    """Write all files."""
    folder = Path(__file__).resolve().parent.parent / "clients" / "vectors"
    for name, make in VECTORS.items():
        lines = ",\n".join(
            json.dumps(case, allow_nan=False, separators=(",", ":")) for case in make()
        )
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


VECTORS = {"encoding": encoding_vectors, "schemas": schema_vectors, "labels": label_vectors}

if __name__ == "__main__":
    main()
