// Documents as a stranger might send them, changed in one place by a seed: an error of ours, or something that works.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { guaranteeOf, openCampaign } from "#client";
import { weakerThan } from "#part/changes";

import { labelRecord } from "../src/labels.js";
import { prepareReports } from "../src/mechanisms.js";
import { KEY, makeCampaign, signCampaign, VECTORS } from "./stubCollector.js";

const MANY = Number(process.env.SHOAL_DOCUMENTS ?? 60); // changes of each document
const DEEP = JSON.parse("[".repeat(50) + "]".repeat(50));
const VALUES = [
  ...[null, true, false, 0, -1, 1, 2, 1.5, -0, 5e-324, 1e-300, 1e300, -1e300, 2 ** 31, 2 ** 53 + 2],
  ...["", " ", "9e999", "NaN", "1", "x".repeat(5000), "a\0b", "\ud800", "a\nb", "__proto__", "toString"],
  ...[[], {}, [[]], [null], [{}], { x: 1 }, ["x"], [1, 2, 3], [[1], [1, 2]], DEEP],
];

/** Return whole numbers below a bound, the same for the same seed. @param {number} seed */
function numbers(seed) {
  let state = seed >>> 0;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** List all places of a document. @param {any} value @param {(string | number)[]} [path] @returns {(string | number)[][]} */
function places(value, path = []) {
  const own = value && typeof value === "object" ? Object.keys(value).slice(0, 40) : [];
  return [path, ...own.flatMap((key) => places(value[key], [...path, key]))];
}

/** Return a copy with one change. @param {any} plain @param {(below: number) => number} draw */
function changed(plain, draw) {
  const copy = structuredClone(plain);
  const all = places(copy).slice(1);
  const path = all[draw(all.length)];
  const last = path[path.length - 1];
  const holder = path.slice(0, -1).reduce((part, step) => part[step], copy);
  const value = structuredClone(VALUES[draw(VALUES.length)]);
  switch (draw(6)) {
    case 0:
      delete holder[last];
      break;
    case 1:
      holder[last] = [holder[last], structuredClone(holder[last])];
      break;
    case 2:
      holder[`${last}s`] = holder[last];
      delete holder[last];
      break;
    case 3:
      if (typeof holder[last] === "number") holder[last] = [-1, 2, 0.5, 1e18][draw(4)] * holder[last];
      else if (Array.isArray(holder[last])) holder[last].length = Math.floor(holder[last].length / 2);
      else holder[last] = value;
      break;
    default:
      holder[last] = value;
  }
  return { name: path.join("."), copy };
}

/** Fail unless an error is one of ours, in one line. @param {any} error @param {string} name */
function isOurs(error, name) {
  assert.equal(error.name, "ShoalError", `${name}: ${error.stack}`);
  assert.ok(!error.message.includes("\n"), name);
}

test("campaigns are refused, or draw a report", async () => {
  const [first] = Object.keys(VECTORS.campaigns);
  for (const [index, name] of Object.keys(VECTORS.campaigns).entries()) {
    const draw = numbers(index + 1);
    const plain = JSON.parse(Buffer.from(JSON.parse(VECTORS.campaigns[name].envelope).payload, "base64").toString());
    for (let i = 0; i < MANY; i += 1) {
      const { name: where, copy } = changed(plain, draw);
      let opened;
      try {
        opened = (await openCampaign(signCampaign(copy), KEY)).campaign;
      } catch (error) {
        isOurs(error, `${name} ${where}`);
        continue;
      }
      guaranteeOf(opened);
      weakerThan(opened, makeCampaign({}, first));
      const { box } = await prepareReports(opened.mechanism, opened.report_format);
      assert.ok(box, where);
    }
  }
});

test("results are refused, or label a record", () => {
  const kinds = JSON.parse(readFileSync(new URL("../../vectors/labels.json", import.meta.url), "utf8"));
  for (const [index, { name, release, records }] of kinds.entries()) {
    const draw = numbers(index + 1);
    for (let i = 0; i < MANY; i += 1) {
      const { name: where, copy } = changed(release, draw);
      for (const { x } of records.slice(0, 3))
        try {
          assert.ok(Number.isInteger(labelRecord(copy, x)), `${name} ${where}`);
        } catch (error) {
          isOurs(error, `${name} ${where}`);
        }
    }
  }
});
