// Reports as bytes. Column c holds one of `levels` values; levels follow one another in bit fields, the last column in the
// lowest bits, and the number that they form is written little-endian in the fewest whole bytes.

import { badParameter } from "./errors.js";

/**
 * The values of one column: origin + step * (first + stride * level).
 *
 * @typedef {{origin: number, step: number, first: number, stride: number, levels: number}} ReportColumn
 */
/** @typedef {{bytes: number, columns: ReportColumn[]}} ReportFormat */

/** Return the width of a column's bit field. @param {ReportColumn} column */
export const bitsOf = ({ levels }) => (levels > 1 ? (levels - 1).toString(2).length : 0);

/**
 * Write the lattice indices of a report as bytes.
 *
 * @param {ReportFormat} format
 * @param {number[]} indices
 */
export function encodeIndices(format, indices) {
  let packed = 0n;
  format.columns.forEach((column, c) => {
    const level = (indices[c] - column.first) / column.stride;
    if (!(Number.isInteger(level) && level >= 0 && level < column.levels)) {
      badParameter("a report must lie within its format: encode what its mechanism drew");
    }
    packed = (packed << BigInt(bitsOf(column))) | BigInt(level);
  });
  return Uint8Array.from({ length: format.bytes }, (_, i) => Number((packed >> BigInt(8 * i)) & 255n));
}

/**
 * Read the report that encodeIndices wrote, in the unit of the records.
 *
 * @param {ReportFormat} format
 * @param {Uint8Array} bytes
 */
export function decodePoints(format, bytes) {
  let packed = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return [...format.columns]
    .reverse()
    .map((column) => {
      const bits = bitsOf(column);
      const level = Number(BigInt.asUintN(bits, packed));
      packed >>= BigInt(bits);
      return column.origin + column.step * (column.first + column.stride * level);
    })
    .reverse();
}
