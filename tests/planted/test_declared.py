"""Bugs in what is declared, each planted on purpose: keys of a schema, bounds by column, seeds.

Each would fit a table otherwise than its owner declared, promise what a seed takes back, or leave
text of a record where an error is looked at.
"""

import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import javascript
from planted.plant import Bug, planted
from shoal import DPKMeans, Flag, Number, Schema
from shoal.cluster import learn_schema
from shoal.exceptions import DataError, ParameterError
from shoal.mechanisms import Piecewise
from shoal.schema import Category

AGE = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
NAMED = {"age": (0, 120), "height": (50, 250)}
PEOPLE = pd.DataFrame({"height": [60.0, 200.0] * 20, "age": [3.0, 99.0] * 20})
OPEN = Schema([Number("age", minimum=0)])


@dataclass(frozen=True)
class Promise:
    """What a bug breaks."""

    name: str


def is_refused(run, error=ParameterError):
    try:
        run()
    except error as refused:
        return refused
    raise AssertionError


def unknown_keys_are_refused(plain):
    is_refused(lambda: Schema.from_dict(plain))


def contradictions_are_refused(field):
    is_refused(lambda: Schema.from_dict({"fields": [{**AGE, **field}]}))


def a_german_flag_is_read(_):
    flag = Flag("x", true_values=["ja"], false_values=["nein"])
    assert Schema([flag]).read({"x": ["ja", "nein", "yes"]})["x"].tolist() == [1, 0, 2]


def numbers_are_one_category(_):
    is_refused(lambda: Category("x", ["7", "07"]))


def a_gap_renames_no_truth(_):
    # A schema that was never read: what words mean is kept.
    truths, field = np.array([True, False]), Category("x", ["true", str(uuid.uuid4())])
    both = [
        Schema([field]).read({"x": one})["x"][:2] for one in (truths, np.append(truths, np.nan))
    ]
    assert (both[0] == both[1]).all()


def times_are_no_categories(_):
    days = {"x": [pd.Timestamp("2020-02-01")]}
    is_refused(lambda: Schema([Category("x", ["2020-02-01"])]).read(days), DataError)


def an_index_is_no_other_name(_):
    table = PEOPLE.set_axis([1, 0], axis=1)
    is_refused(lambda: DPKMeans(2, epsilon=1.0, bounds={0: (0, 9), 1: (0, 99)}).fit(table))


def pairs_are_refused(_):
    bounds = [(0, 120), (50, 250)]
    is_refused(lambda: DPKMeans(2, epsilon=1.0, bounds=bounds).fit(PEOPLE.to_numpy()))


def named_bounds_are_those_of_the_column(_):
    values = DPKMeans(2, epsilon=1.0, bounds=NAMED).fit(PEOPLE).release_.values
    assert values["low"].tolist() == [50.0, 0.0]


def named_bounds_are_of_all_columns(bounds):
    is_refused(lambda: DPKMeans(2, epsilon=1.0, bounds=bounds).fit(PEOPLE))


def named_bounds_need_names(_):
    is_refused(lambda: DPKMeans(2, epsilon=1.0, bounds=NAMED).fit(PEOPLE.to_numpy()))


def an_error_stands_alone(_):
    device = Piecewise(1.0, bounds=([0, 0], [9, 9]))
    refused = is_refused(lambda: device.randomize([1, ["alice"]]), DataError)
    assert refused.__context__ is None


def times_are_no_keys(_):
    days = {"x": pd.Series(pd.to_datetime(["2020-02-01"] * 9))}
    template = Schema([Category("x")])
    is_refused(lambda: learn_schema(days, template, epsilon=1.0, delta=1e-6), DataError)


def a_seeded_schema_promises_nothing(_):
    table = {"age": [30.0, 41.0] * 200}
    learned = learn_schema(table, OPEN, epsilon=9.0, random_state=0).schema
    schema = Schema.from_dict(learned.to_dict())
    assert not DPKMeans(2, epsilon=1.0, schema=schema).fit(table).guarantee_.holds
    assert not Piecewise(1.0, schema=schema).fit(table).guarantee_.holds
    assert not learn_schema(table, schema, epsilon=1.0).guarantee_.holds


KEYS, TABLE_SCHEMA, FIELDS = (f"shoal.schema.{name}" for name in ("keys", "table_schema", "fields"))
SCHEMA, VALUES, BOUNDS = "shoal.schema.schema", "shoal.schema.values", "shoal._bounds"
UNKNOWN = {
    "a key of the table": {"fields": [AGE], "primarykey": "age"},
    "a key of a field": {"fields": [{**AGE, "weights": 2}]},
    "a key of constraints": {"fields": [{**AGE, "constraints": {"maximums": 3}}]},
    "a key of a class": {"fields": [{**AGE, "shoal": {"other": "A"}}]},
    "a key of a label": {"fields": [AGE], "missingValues": [{"value": "", "labels": ""}]},
}
CHECKS = {
    "a key of the table": (SCHEMA, 'check_keys(plain, "schema", "the schema")', "pass"),
    "a key of a field": (
        KEYS,
        'check_keys(plain, "field", of)',
        'plain = {key: plain[key] for key in plain if key in KEYS["field"]}',
    ),
    "a key of constraints": (KEYS, 'check_keys(constraints, "constraints", of)', "return"),
    "a key of a class": (TABLE_SCHEMA, "(*SHARED, *OWN[kind]))", "ours)\n    ours = {}"),
    "a key of a label": (TABLE_SCHEMA, '("value", "label"))', "one)"),
}
BUGS = [
    *(
        Bug(f"{name} is not looked at", *CHECKS[name], unknown_keys_are_refused, Promise(name))
        for name in UNKNOWN
    ),
    Bug(
        "a key of another type is ignored",
        KEYS,
        "if kind not in types:",
        "if False:",
        contradictions_are_refused,
        Promise("trueValues"),
    ),
    Bug(
        "a decimal comma is read as a point",
        KEYS,
        "if values and key in plain and plain[key] not in values:",
        "if False:",
        contradictions_are_refused,
        Promise("decimalChar"),
    ),
    Bug(
        "required gives way to missing",
        TABLE_SCHEMA,
        'if ours.get("missing", "refuse") != "refuse":',
        "if False:",
        contradictions_are_refused,
        Promise("required"),
    ),
    Bug(
        "words for yes are read and not used",
        FIELDS,
        "words or [one for one in usual if one not in absent]",
        "usual",
        a_german_flag_is_read,
        Promise("trueValues"),
    ),
    Bug(
        "7 and 07 are two categories of text",
        FIELDS,
        "len(set(map(same_category, known))) < len(known)",
        "len(set(known)) < len(known)",
        numbers_are_one_category,
        Promise("categories"),
    ),
    Bug(
        "true and 1 are two categories",
        "shoal.schema.values",
        "return TRUTHS.get(spelled, spelled)",
        "return spelled",
        a_gap_renames_no_truth,
        Promise("categories"),
    ),
    Bug(
        "times are categories",
        "shoal.schema.values",
        "if isinstance(value, TIMES):",
        "if False:",
        times_are_no_categories,
        Promise("categories"),
    ),
    Bug(
        "an index is that of another column",
        BOUNDS,
        "if known.get(str(key), key) != key:",
        "if False:",
        an_index_is_no_other_name,
        Promise("bounds"),
    ),
    Bug(
        "two pairs are lows and highs",
        BOUNDS,
        "elif _is_unclear(bounds):",
        "elif False:",
        pairs_are_refused,
        Promise("bounds"),
    ),
    Bug(
        "bounds by name are taken in their own order",
        BOUNDS,
        'known = names and getattr(estimator, "feature_names_in_", names)',
        "known = names",
        named_bounds_are_those_of_the_column,
        Promise("bounds"),
    ),
    Bug(
        "bounds of no column are ignored",
        BOUNDS,
        "if isinstance(key, bool) or key not in keys:",
        "if False:",
        named_bounds_are_of_all_columns,
        Promise("unknown"),
    ),
    Bug(
        "names of bounds are columns of an array",
        "shoal._table_input",
        'if named and not hasattr(estimator, "feature_names_in_"):',
        "if False:",
        named_bounds_need_names,
        Promise("bounds"),
    ),
    Bug(
        "an error is only hidden",
        "shoal._numbers",
        "error.__context__ = None",
        "error.__suppress_context__ = True",
        an_error_stands_alone,
        Promise("errors"),
    ),
    Bug(
        "times are keys",
        VALUES,
        "return np.datetime64 in names",
        "return True",
        times_are_no_keys,
        Promise("learn_schema"),
    ),
    *(
        Bug(what, module, right, wrong, a_seeded_schema_promises_nothing, Promise("seeded"))
        for what, module, right, wrong in [
            (
                "a fit forgets the seed of its schema",
                "shoal.cluster._budget",
                "source.seeded or (schema is not None and schema.seeded)",
                "source.seeded",
            ),
            (
                "a report forgets the seed of its schema",
                "shoal.mechanisms._base",
                "return self.schema is not None and self.schema.seeded",
                "return False",
            ),
            (
                "a learned schema forgets its seed",
                "shoal.cluster.private_schema",
                "fields=fields, seeded=promise.seeded)",
                "fields=fields)",
            ),
            ("a file forgets the seed", SCHEMA, "if self.seeded:", "if False:"),
        ]
    ),
]
SHOWN = {
    **UNKNOWN,
    "trueValues": {"trueValues": ["1"]},
    "decimalChar": {"decimalChar": ","},
    "required": {
        "constraints": {**AGE["constraints"], "required": True},
        "shoal": {"missing": "category"},
    },
    "unknown": {**NAMED, "weight": (0, 1)},
}


@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_a_planted_bug_is_noticed(bug):
    shown = SHOWN.get(bug.subject.name)
    bug.red(shown)
    with planted(bug), pytest.raises(AssertionError):
        bug.red(shown)


VECTORS = Path(__file__).resolve().parents[2] / "clients" / "vectors" / "schemas.json"
READS = """
import { readFileSync } from "node:fs";
const [folder, vectors] = process.argv.slice(1);
const { readRecord } = await import(`${folder}/schema.js`);
const outcome = (x, schema) => {
  try { return readRecord(x, schema, null, 0); } catch ({ code }) { return code; }
};
const cases = JSON.parse(readFileSync(vectors, "utf8"));
for (const { schema, records: [{ x, result, refused }] } of cases)
  if (JSON.stringify(outcome(x, schema)) !== JSON.stringify(refused ?? result)) process.exit(1);
"""


def schemas_are_read_as_in_python(folder):
    command = [javascript.node_or_skip(), "--input-type=module", "--eval", READS]
    done = subprocess.run([*command, folder.as_uri(), str(VECTORS)], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("types === undefined || ", "types !== undefined && "),
        ("(type && !has(types, type))", "false"),
        ('(given.length ? given : usual.split(" "))', 'usual.split(" ")'),
        ('(!required || missing === "refuse")', "true"),
        ('check(unread || (decimalChar === "."', 'check(true || (decimalChar === "."'),
        ('if (Object(one) === one) checkKeys("label", one, name);', ""),
        ("new Set(listed?.map(sameCategory)).size", "new Set(listed).size"),
    ],
)
def test_a_bug_of_the_other_client_is_noticed(right, wrong, tmp_path):
    schemas_are_read_as_in_python(javascript.CLIENT / "src")
    folder = javascript.planted(tmp_path, "schemaKeys.js", right, wrong)
    with pytest.raises(AssertionError):
        schemas_are_read_as_in_python(folder)
