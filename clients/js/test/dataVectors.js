// Checks of encoding.json, schemas.json and labels.json, for Node and for browsers: each returns what is not as Python has it.

import { labelRecord } from "../src/labels.js";
import * as partitions from "../src/partitions.js";
import * as schema from "../src/schema.js";

/**
 * @param {any[]} cases of encoding.json
 * @param {{schema: typeof schema, partitions: typeof partitions}} [modules] to test
 * @returns {string[]}
 */
export function encodingFailures(cases, modules = { schema, partitions }) {
  const { boxOf, columnRate, encodeRecord } = modules.schema;
  const { cellColor } = modules.partitions;
  return cases.flatMap(({ name, mechanism, tolerance, rate, records }) => {
    const failures = [];
    if (rate !== undefined && !Object.is(columnRate(mechanism), rate)) failures.push(`${name}: rate`);
    const { low, high } = boxOf(mechanism);
    for (const { x, result, colors, refused } of records) {
      const label = `${name}: ${JSON.stringify(x)}`;
      const encoded = outcome(() => encodeRecord(mechanism, untagged(x)));
      if (!same(encoded, refused ?? result, tolerance)) failures.push(`${label} is ${encoded}, not ${refused ?? result}`);
      if (result?.some((/** @type {number} */ value, /** @type {number} */ i) => !(low[i] <= value && value <= high[i])))
        failures.push(`${label} is outside the box`);
      for (const [partition, color] of (colors ?? []).entries()) {
        const own = cellColor(mechanism.parameters.partitions, result, partition);
        if (own !== color) failures.push(`${label} has color ${own} in partition ${partition}, not ${color}`);
      }
    }
    return failures;
  });
}

/** @param {any[]} cases of schemas.json @returns {string[]} */
export function schemaFailures(cases) {
  return cases.flatMap(({ schema: plain, records: [{ x, result, refused }] }) => {
    const encoded = outcome(() => schema.readRecord(untagged(x), plain, null, 0));
    return same(encoded, refused ?? result, 0) ? [] : [`${JSON.stringify(plain)} gives ${encoded}, not ${refused ?? result}`];
  });
}

/** @param {any[]} cases of labels.json @returns {string[]} */
export function labelFailures(cases) {
  return cases.flatMap(({ name, release, records }) =>
    records.flatMap((/** @type {any} */ { x, result, refused }) => {
      const label = outcome(() => labelRecord(release, untagged(x)));
      return label === (refused ?? result) ? [] : [`${name}: ${JSON.stringify(x)} is ${label}, not ${refused ?? result}`];
    }),
  );
}

/** @param {() => any} compute @returns {any} its result, or the code of its refusal */
function outcome(compute) {
  try {
    return compute();
  } catch (error) {
    const { name, message, code } = /** @type {any} */ (error); // of the modules that are tested, whichever
    if (name === "ShoalError" && !message.includes("\n")) return code;
    throw error;
  }
}

/** @param {any} given @param {any} wanted @param {number} tolerance relative */
const same = (given, wanted, tolerance) =>
  Array.isArray(given) && Array.isArray(wanted)
    ? given.length === wanted.length &&
      given.every((value, i) => Object.is(value, wanted[i]) || Math.abs(value - wanted[i]) < tolerance * Math.abs(wanted[i]))
    : given === wanted;

/** @param {any} plain @returns {any} the value that JSON cannot hold */
function untagged(plain) {
  if (plain === null || typeof plain !== "object") return plain;
  if (Array.isArray(plain)) return plain.map(untagged);
  if (plain.$date) return new Date(plain.$date);
  if (plain.$number) return Number(plain.$number);
  if (plain.$bigint) return BigInt(plain.$bigint);
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, untagged(value)]));
}
