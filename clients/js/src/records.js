// Records as they are perturbed: without a schema here, with one in schema.js, which is loaded for such campaigns.

import { clip } from "./arrays.js";
import { fail, part } from "./errors.js";

/**
 * The document of a mechanism, as a campaign has it.
 *
 * @typedef {{parameters: any, columns: number | null, names: string[] | null}} Mechanism
 */
/**
 * How records are read: their public box, one of them encoded and clipped to it, the metric epsilon per unit of the
 * columns, and what doubles may add to the distance of two records as they are encoded.
 *
 * @typedef {{boxOf: (mechanism: Mechanism) => Box, columnRate: (mechanism: Mechanism) => number,
 *   rounding: (mechanism: Mechanism) => number, encodeRecord: (mechanism: Mechanism, x: unknown) => number[]}} Reader
 * @typedef {{low: number[], high: number[]}} Box
 */

/** Return how the records of a mechanism are read. @param {Mechanism} mechanism @returns {Promise<Reader>} */
export const readerOf = async ({ parameters: { schema } }) => (schema ? part(import("./schema.js")) : PLAIN);

/**
 * Return the box between two corners, each one number for all columns or one for each.
 *
 * @param {Mechanism} mechanism
 * @param {any} [corners] by default the bounds, or those of its partitions
 * @returns {Box}
 */
export function plainBox({ parameters: { bounds, partitions }, columns }, corners) {
  const { axes, low, high } = partitions?.blocks[0] ?? {};
  const spanned = axes
    ? [3, 4].map((end) => axes.flatMap((/** @type {any} */ axis) => Array(axis[2] - axis[1]).fill(axis[end])))
    : [low, high];
  corners ??= bounds ?? spanned;
  const length = corners[0].length ?? corners[1].length ?? spanned[0]?.length ?? columns;
  const [first, last] = corners.map((/** @type {any} */ corner) => Array.from({ length }, (_, i) => corner[i] ?? corner));
  return { low: first, high: last };
}

/** Return the promised epsilon of one report. @param {Mechanism} mechanism @returns {number} */
export const plainRate = ({ parameters: { epsilon, level, radius } }) => (level == null ? epsilon : level / radius);

/**
 * Return the numbers of a record that has no schema.
 *
 * @param {unknown} x values in the order of the columns, or an object by their names
 * @param {string[] | null | undefined} names
 * @param {number} columns
 * @returns {number[]}
 */
export function plainRecord(x, names, columns) {
  const values = valuesOf(x, names, columns);
  if (!values.every((value) => typeof value === "boolean" || Number.isFinite(value)))
    fail("data", "x must hold finite numbers, got something else");
  return values.map(Number);
}

/** @param {unknown} x @param {string[] | null | undefined} names @param {number} columns */
export function valuesOf(x, names, columns) {
  const given = new Map(Object.entries(x ?? {}));
  const values = listOf(x) ?? names?.filter((name) => given.has(name)).map((name) => given.get(name));
  return values?.length === (names?.length ?? columns)
    ? values
    : fail("data", `x must have a value for each of ${names ?? columns} columns, null where it is missing`);
}

/** @param {unknown} x @returns {any[] | undefined} */
export const listOf = (x) =>
  Object(x) === x && Symbol.iterator in /** @type {any} */ (x) ? [.../** @type {any} */ (x)] : undefined;

/** Clip a record to a box; 0 and -0 are equal. @param {number[]} record @param {Box} box */
export const clipRecord = (record, { low, high }) => record.map((value, i) => clip(value, low[i], high[i]) + 0);

/** @type {Reader} */
const PLAIN = {
  boxOf: plainBox,
  columnRate: plainRate,
  rounding: () => 0,
  encodeRecord(mechanism, x) {
    const box = plainBox(mechanism);
    return clipRecord(plainRecord(x, mechanism.names, box.low.length), box);
  },
};
