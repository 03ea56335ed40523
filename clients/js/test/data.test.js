import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as partitions from "#part/partitions";
import * as schema from "#part/schema";

import { labelRecord } from "../src/labels.js";
import { encodingFailures, labelFailures, schemaFailures } from "./dataVectors.js";

const { columnRate, encodeRecord } = schema;

/** @param {string} name */
const vectors = (name) => JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));

/** @param {any[]} fields @returns {any} */
const described = (fields) => ({ parameters: { epsilon: 1, unit: "", schema: { fields } }, columns: null, names: null });
const age = { name: "age", type: "number", constraints: { minimum: 0, maximum: 120 } };
const joined = { name: "joined", type: "date", format: "%d.%m.%Y", constraints: { minimum: "2020-01-01", maximum: "2020-12-31" } };
const city = { name: "city", type: "string", constraints: { enum: ["A", "B"], required: true } };
const home = { name: "home", type: "geopoint", constraints: { required: true }, shoal: { center: [24.94, 60.17], radius: 50 } };

test("records are encoded, clipped and colored as in Python", () => {
  assert.deepEqual(encodingFailures(vectors("encoding"), { schema, partitions }), []);
});

test("schemas are read or refused as in Python, key by key", () => {
  assert.deepEqual(schemaFailures(vectors("schemas")), []);
});

test("labels are those of Python", () => {
  assert.deepEqual(labelFailures(vectors("labels")), []);
});

test("values that only JavaScript has", () => {
  const plain = { parameters: { bounds: [[0, 0], [1, 1]] }, columns: 2, names: ["a", "b"] };
  assert.deepEqual(encodeRecord(plain, new Float32Array([0.5, 2])), [0.5, 1]);
  assert.deepEqual(encodeRecord(described([age]), { age: undefined }), encodeRecord(described([age]), [null]));
  assert.deepEqual(encodeRecord(described([age]), [30n]), [0.25, 0]);
  // A Date is a moment of UTC, whatever the format of text.
  assert.deepEqual(encodeRecord(described([joined]), [new Date("2020-07-01")]), encodeRecord(described([joined]), ["2020-07-01"]));
  assert.deepEqual(encodeRecord(described([joined]), [new Date(NaN)]), encodeRecord(described([joined]), [null]));
});

test("what is refused is refused in one line, without the value", () => {
  const secret = "hunter2";
  for (const [fields, x] of /** @type {[any[], unknown][]} */ ([
    [[age], [secret]],
    [[age], ["inf"]],
    [[age], secret],
    [[age], null],
    [[age], {}],
    [[age], { Age: secret }],
    [[age], [1, secret]],
    [[age], [{ secret }]],
    [[joined], ["31.12.2020"]],
    [[joined], [18321]],
    [[city], [null]],
    [[city], [new Date(0)]],
    [[home], [secret]],
    [[home], [[1, 2, 3]]],
    [[home], [{ secret }]],
    [[home], [null]],
  ]))
    assert.throws(() => encodeRecord(described(fields), x), { code: "data", message: /^(?!.*(hunter|31\.12|18321)).+$/ });
});

test("a place has a unit of length, and a disc within a quarter of the globe", () => {
  const rate = (/** @type {string} */ unit, /** @type {number} */ radius) =>
    columnRate({ ...described([]), parameters: { epsilon: 1, unit, schema: { fields: [{ ...home, shoal: { ...home.shoal, radius } }] } } });
  assert.ok(rate("", 10_000) > 0);
  for (const [unit, radius] of /** @type {[string, number][]} */ ([["", 10_001], ["", -1], ["", 0], ["", NaN], ["s", 50], ["0 m", 50], ["constructor", 50], ["-1 m", 50]]))
    assert.throws(() => rate(unit, radius), { code: "campaign" });
});

test("whatever results hold, a label is a whole number or an error", () => {
  const box = { low: [0], high: [1], half: 4 };
  const cells = { metric: "cells", cells: [0, 1], shape: [2], grid: 2, ...box };
  assert.equal(labelRecord({ values: { ...cells, clusters: [7, 8] } }, [0.9]), 8);
  for (const values of [
    { ...cells, clusters: ["<b>", "<b>"] },
    { ...cells, clusters: [0.5, 0.5] },
    { ...cells, clusters: undefined },
    { ...cells, clusters: [0, 1], high: null },
    { metric: "euclidean", centers: [["a"]] },
    { metric: "euclidean", centers: [[1, 2]], schema: { fields: [age, age] } },
    { metric: "strata", strata: [], schema: { fields: [age] } },
    { metric: "toString", centers: [[1]] },
    undefined,
  ])
    assert.throws(() => labelRecord({ values }, [0.9, 0.1].slice(0, values?.schema?.fields.length ?? 1)), { code: "campaign" });
});

test("values that are long take no time, and are refused or coded in one line", () => {
  const anyCity = { name: "city", type: "string", constraints: { enum: ["A", "B"] } };
  const member = { name: "member", type: "boolean" };
  const rank = { name: "rank", type: "string", categories: ["A", "B"], categoriesOrdered: true };
  const long = 1e6;
  const hostile = [
    "1".repeat(long) + "x",
    "." + "1".repeat(long) + "x",
    "1" + " ".repeat(long) + "x",
    "\t".repeat(long) + "x",
    ",".repeat(long),
    "[".repeat(long),
    "2020-02-29T12:00:00." + "1".repeat(long) + "x",
    10n ** 100000n,
    -(10n ** 100000n),
    1e300,
    -Infinity,
    Symbol("x"),
    () => 0,
    [[]],
    {},
  ];
  const begun = performance.now();
  for (const field of [age, joined, anyCity, city, member, rank, home])
    for (const value of hostile) {
      try {
        assert.ok(encodeRecord(described([field]), [value]).every(Number.isFinite));
      } catch (error) {
        assert.equal(/** @type {any} */ (error).code, "data");
      }
    }
  assert.ok(performance.now() - begun < 20_000);
});
