// What the mechanisms share: an exact epsilon, records on lattices, and formats that must be those of the mechanism.

import { rational } from "./intervals.js";
import { fail } from "./refusals.js";

/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./records.js").Box} Box */
/** @typedef {import("./reportFormat.js").ReportFormat} ReportFormat */

export const LARGEST_EPSILON = 1000; // of thresholds: from here on they do not change

/**
 * @param {unknown} holds
 * @returns {asserts holds}
 */
export function checkFormat(holds) {
  if (!holds) fail("campaign", "report_format, slack and epsilon must be those of the mechanism: do not take part in this campaign");
}

/** @param {unknown} n */
export const isCount = (n) => Number.isSafeInteger(n) && Number(n) > 0;

/**
 * Refuse a format with other lattice indices, of all columns or of each.
 *
 * @param {ReportFormat} format
 * @param {(column: number) => {first: number, levels: number, stride?: number}} expected
 */
export function checkColumns(format, expected) {
  checkFormat(
    format.columns.every((column, c) => {
      const { first, levels, stride = 1 } = expected(c);
      return column.first === first && column.levels === levels && column.stride === stride;
    }),
  );
}

/** @param {any} epsilon */
export function exactEpsilon(epsilon, columns = 1) {
  checkFormat(epsilon > 0 && epsilon < Infinity);
  const [numerator, denominator] = rational(epsilon);
  return /** @type {Rational} */ ([numerator, denominator * BigInt(columns)]);
}

/**
 * Round half to even, as the processor does.
 *
 * @param {number} x
 */
function roundEven(x) {
  const up = Math.round(x);
  return up - x === 0.5 && up % 2 ? up - 1 : up;
}

/**
 * Round a value to the lattice; whatever the box, each has an index: a report that fails would tell its record.
 *
 * @param {number} x
 * @param {number} origin
 * @param {number} step
 * @param {number} low
 * @param {number} high
 */
export const latticeIndex = (x, origin, step, low, high) =>
  Math.min(Math.max(roundEven((x - origin) * (1 / step)) || 0, low), high);

/**
 * Return a function that rounds records to -half .. half, from one end of the box to the other.
 *
 * @param {Box} box
 * @param {number} half
 * @returns {(record: number[]) => number[]}
 */
export function boxLattice({ low, high }, half) {
  const unit = 1 / half;
  return (record) =>
    record.map((x, c) =>
      latticeIndex(x, low[c] / 2 + high[c] / 2, (high[c] / 2 - low[c] / 2) * unit, -half, half),
    );
}
