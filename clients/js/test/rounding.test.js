// What is promised or spent is rounded up, and a distance at which guesses are rarely right is rounded down.

import assert from "node:assert/strict";
import { test } from "node:test";

import { roundedUp } from "../src/errors.js";
import { weakerThan } from "../src/changes.js";

test("an epsilon is never written as less than it is", () => {
  assert.deepEqual([1.0000049, 0.1 + 0.2, 3, 1e-7, 12345678.9, 0.99999999].map(roundedUp), [1.00001, 0.3, 3, 1e-7, 12345700, 1]);
  for (let value = 1e-9; value < 1e9; value *= 1.2345678) {
    const shown = roundedUp(value);
    assert.ok(shown >= value * (1 - 1e-12) && shown < value * (1 + 1e-5), `${value} as ${shown}`);
  }
});

test("a newer document is refused with epsilons that are rounded up", () => {
  const campaign = (/** @type {number} */ epsilon) => ({
    id: "one",
    revision: 1,
    guarantee: { epsilon },
    mechanism: { guarantee: { epsilon, notion: "local", unit: "" }, parameters: {} },
  });
  const reasons = weakerThan(/** @type {any} */ (campaign(1.0000049)), /** @type {any} */ (campaign(1))).join("; ");
  assert.match(reasons, /epsilon of a report is 1\.00001, above 1;/);
});
