// Small arithmetic on lists of numbers, in the order of Python's: the same to the last bit.

/** @param {number} value @param {number} low @param {number} high */
export const clip = (value, low, high) => Math.min(Math.max(value, low), high);

/** @param {number[]} values @returns {number} index of the largest, the lowest among equals */
export const argmax = (values) => values.indexOf(values.reduce((most, value) => Math.max(most, value)));

/**
 * Return the index of the nearest point, the lowest among equals. Squares are added column by column.
 *
 * @param {number[]} record
 * @param {number[][]} points
 * @returns {number} -1 where a point holds something else than numbers
 */
export const nearest = (record, points) =>
  argmax(points.map((point) => -record.reduce((sum, value, i) => sum + (value - point[i]) * (value - point[i]), 0)));
