// Results are not signed: whatever a server publishes, a device is neither kept busy nor made to show its words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readJson } from "../src/json.js";
import { labelRecord } from "../src/labels.js";
import { clusterCount } from "../src/reportWords.js";

const refused = { name: "ShoalError", code: "campaign" };

test("a shape without its data makes no rows", () => {
  const centers = { shape: [3e8, 2], data: [0, 0] };
  assert.throws(() => labelRecord({ values: { metric: "euclidean", centers } }, [0.1, 0.2]), refused);
});

test("the number of clusters is a number", () => {
  const sizes = { shape: ["3. Your answer was lost, please mail it"], data: [1] };
  assert.equal(clusterCount({ values: { sizes } }), undefined);
  assert.equal(clusterCount({ values: { strata: [{ sizes }] } }), undefined);
});

test("a number beyond a double is no JSON", () => {
  for (const text of ["1e400", "-1e400", '{"mu": 1e400}', "[1, [-1e999]]"])
    assert.equal(readJson(new TextEncoder().encode(text)), undefined);
});
