// What the Laplace family shares: noise on a lattice, clipped or redrawn.

import { rational } from "./intervals.js";
import { checkFormat, exactEpsilon, isCount, latticeIndex } from "./lattices.js";
import { drawVectors } from "./noise.js";

/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./mechanisms.js").Family} Family */
/** @typedef {import("./noise.js").Noise} Noise */

const REDRAWS = 256; // draws at a time
const WIDER = 1 + 2 ** -48; // more than a product of a few doubles errs

/**
 * Laplace noise on one lattice for all columns, whose step is a power of two.
 *
 * @param {(columns: number) => Noise | false} noiseOf false where the noise has another number of columns
 * @returns {Family["prepare"]}
 */
export const prepareMetric = (noiseOf) => (mechanism, format, reader) => {
  const epsilon = reader.columnRate(mechanism);
  exactEpsilon(epsilon);
  const { low, high } = reader.boxOf(mechanism);
  const columns = low.length;
  const redrawn = mechanism.parameters.truncate === "resample";
  const rate = redrawn ? epsilon / 2 : epsilon;
  const narrowest = 2 * Math.min(...high.map((end, c) => end / 2 - low[c] / 2));
  const farthest = Math.max(...[...low, ...high].map(Math.abs));
  const step = powerOfTwo(
    Math.min(2 ** -12 / epsilon, Math.max(2 ** -12 * narrowest, 2 ** -50 * farthest, 2 ** -36 / rate)),
  );
  const first = low.map((end) => Math.ceil(end / step));
  const last = high.map((end) => Math.floor(end / step));
  // Where noise without end is clipped promises nothing; the range of redrawn reports is the box.
  const lowest = format.columns.map((column) => column.first);
  const highest = format.columns.map((column) => column.first + column.levels - 1);
  const noise = noiseOf(columns);
  // What rounding to the lattice adds to the exponent, as Python computes it, to the last bit.
  const slack = epsilon * (step * Math.sqrt(columns) + reader.rounding(mechanism)) * WIDER;
  checkFormat(
    noise &&
      mechanism.guarantee.slack === slack &&
      format.columns.length === columns &&
      format.columns.every(
        (column, c) =>
          column.step === step &&
          column.origin === 0 &&
          column.stride === 1 &&
          [first[c], last[c], lowest[c]].every(Number.isSafeInteger) && // no record is beyond
          isCount(column.levels) &&
          (!redrawn || (lowest[c] === first[c] && highest[c] === last[c])),
      ),
  );

  const [rateAbove, rateBelow] = rational(rate);
  const [stepAbove, stepBelow] = rational(step);
  /** @type {Rational} */
  const scale = [rateBelow * stepBelow, rateAbove * stepAbove];
  return (record, source) => {
    const indices = record.map((x, c) => BigInt(latticeIndex(x, 0, step, first[c], last[c])));
    for (;;) {
      for (const vector of drawVectors(noise, scale, redrawn ? REDRAWS : 1, source)) {
        const moved = vector.map((shift, c) => indices[c] + shift);
        const clipped = moved.map((index, c) =>
          Number(index < lowest[c] ? lowest[c] : index > highest[c] ? highest[c] : index),
        );
        if (!redrawn || moved.every((index, c) => index === BigInt(clipped[c]))) return clipped;
      }
    }
  };
};

/**
 * Return the largest power of two up to a normal double: the double without its digits.
 *
 * @param {number} x
 */
function powerOfTwo(x) {
  const bits = new BigUint64Array(Float64Array.of(x).buffer);
  bits[0] &= 0x7ffn << 52n;
  return new Float64Array(bits.buffer)[0];
}
