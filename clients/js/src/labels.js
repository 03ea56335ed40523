// The published cluster of a true record, on the device that holds it: that of src/shoal/labels/on_device.py, bit for
// bit. Results are not signed: whatever they hold, a label is a whole number or an error.

import { argmax, clip, nearest } from "./arrays.js";
import { fail, ShoalError } from "./errors.js";
import { readRecord } from "./schema.js";

/**
 * Return the index of the nearest center, the lowest among equals, or the cluster of the record's cell, -1 for none.
 *
 * @param {{values: any}} release as JSON has it
 * @param {unknown} x values in the order of the columns, or an object by their names
 * @returns {number}
 */
export function labelRecord(release, x) {
  let label = NaN;
  try {
    const values = listed(release.values);
    const { schema, columns, centers, cell_low, shape, strata } = values;
    const { length } = (centers ?? cell_low)?.[0] ?? shape ?? strata;
    const record = readRecord(x, schema, columns, length);
    if (strata || record.length === length) label = METRICS[values.metric](values, record);
    if (centers && label === -1) label = NaN; // they are no numbers
  } catch (error) {
    // Others are about values that are no clusters, or name columns that no line can show.
    if (error instanceof ShoalError && !/\p{Cc}/u.test(error.message)) throw error;
  }
  return Number.isInteger(label) ? label : fail("campaign", "results must hold clusters, got values that make none");
}

/**
 * Return arrays as lists, and tables as lists of rows.
 *
 * @param {any} values
 * @returns {any}
 */
function listed(values) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const [length, width] = value?.shape ?? [];
      const row = (/** @type {unknown} */ _, /** @type {number} */ i) => value.data.slice(i * width, (i + 1) * width);
      const rows = length * width === value?.data?.length ? length : 0; // a shape without its data has no end
      return [name, width ? Array.from({ length: rows }, row) : (value?.data ?? value)];
    }),
  );
}

/** How each metric labels a record. @type {Record<string, (values: any, record: number[]) => number>} */
const METRICS = {
  euclidean: ({ centers }, record) => nearest(record, centers),
  bounds: nearestOnLattice,
  schema: nearestOnLattice,
  cosine: (values, record) => nearestOnLattice(values, unitLength(record)),
  cells: (values, record) => clusterOf(values, cellOf(values, latticeOf(values, record))),
  boxes: (values, record) => clusterOf(values, boxOf(values, latticeOf(values, record))),
  strata: stratumLabel,
};

/** @param {any} values @param {number[]} record */
function nearestOnLattice(values, record) {
  const [own, ...centers] = [record, ...values.centers].map((point) => latticeOf(values, point));
  return nearest(own, centers);
}

/** @param {any} values @param {number} cell */
const clusterOf = ({ cells, clusters }, cell) => clusters[cells.indexOf(cell)] ?? -1;

/** @param {any} values one for all columns, or one for each @param {number} i @returns {number} */
const at = (values, i) => values[i] ?? values;

/**
 * Return the nearest lattice point inside the box, from -half to half in each column.
 *
 * @param {any} values
 * @param {number[]} point
 */
const latticeOf = ({ low, high, half }, point) =>
  point.map((value, i) => {
    const [first, last, end] = [at(low, i) / 2, at(high, i) / 2, at(half, i)];
    const index = clip((value - (first + last)) * (1 / ((last - first) / end)), -end, end);
    return index + 1.5 * 2 ** 52 - 1.5 * 2 ** 52; // rounds to a whole number, half to even
  });

/** @param {any} values @param {number[]} indices */
const cellOf = ({ shape, grid, half }, indices) =>
  indices.reduce((code, index, i) => {
    const fine = at(grid, i);
    const cell = Math.min(Math.floor(((index + half) * fine) / (2 * half)), fine - 1);
    return code * shape[i] + Math.floor(cell / Math.floor(fine / shape[i]));
  }, 0);

/**
 * Return the box of a point: it holds its lower borders, and the upper border of all boxes belongs to the last ones.
 *
 * @param {any} values
 * @param {number[]} indices
 * @returns {number}
 */
const boxOf = ({ cell_low, cell_high }, indices) =>
  cell_low.findIndex((/** @type {number[]} */ low, /** @type {number} */ box) =>
    indices.every((index, i) => {
      const high = cell_high[box][i];
      return low[i] <= index && (index < high || (index === high && cell_high.every((/** @type {number[]} */ other) => other[i] <= high)));
    }),
  );

/**
 * Return the label of the cell among those of the record's categories.
 *
 * @param {any} values
 * @param {number[]} record
 */
function stratumLabel({ category_blocks, cell_columns, strata, ...values }, record) {
  const stratum = category_blocks.reduce(
    (/** @type {number} */ code, /** @type {number[]} */ [first, last]) => code * (last - first) + argmax(record.slice(first, last)),
    0,
  );
  const [one, ...before] = [strata[stratum], ...strata.slice(0, stratum)].map(listed);
  const label = METRICS[one.metric]({ ...values, ...one }, cell_columns.map((/** @type {number} */ column) => record[column]));
  return label < 0 ? label : before.reduce((sum, { sizes }) => sum + sizes.length, label);
}

/**
 * Divide a record by its Euclidean length; a record of zeros stays as it is.
 *
 * @param {number[]} record
 */
function unitLength(record) {
  const length = (/** @type {number[]} */ values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  if (!(length(record) >= 2 ** -450 && length(record) <= 2 ** 450)) {
    // Too long or too short for its squares: brought near 1 by a power of two, which is exact.
    const exponent = Math.log2(Math.max(...record.map(Math.abs)));
    record = record.map((value) => value * 2 ** Math.min(-Math.floor(exponent), 1023));
  }
  const whole = length(record) || 1;
  return record.map((value) => value / whole);
}
