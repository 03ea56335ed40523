// Noise vectors on a lattice, exactly: density proportional to e^(-||z|| / scale), rounded (proofs/javascript.md).

import { bitLength, enclose, floor } from "./intervals.js";
import { GUARD_BITS, settle, WORD } from "./samplers.js";

/** @typedef {import("./intervals.js").Interval} Interval */
/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./words.js").RandomSource} RandomSource */

/**
 * Noise of so many columns: how many words a vector takes, and the function of uniforms and the scale that it is before
 * it is rounded, in units of 2^-p.
 *
 * @typedef {{words: number, vector: (p: bigint, uniforms: Interval[], scale: Interval) => Interval[]}} Noise
 */

/**
 * Draw noise vectors from blocks of words: word j of vector i is number j * count + i, of which 63 bits are used.
 *
 * @param {Noise} noise
 * @param {Rational} scale
 * @param {number} count
 * @param {RandomSource} source
 */
export function* drawVectors({ words, vector }, scale, count, source) {
  const drawn = source.words(words * count);
  const room = GUARD_BITS + BigInt(bitLength(scale[0] / scale[1])); // for the whole part
  /** @type {import("./samplers.js").Evaluate<bigint[]>} */
  const evaluate = (bits, known) => {
    const p = bits + room;
    const half = 1n << (p - 1n);
    const uniforms = known.map((k) => /** @type {Interval} */ ([k << room, (k + 1n) << room]));
    return vector(p, uniforms, enclose(p, scale)).map(([low, high]) => floor(p, [low + half, high + half]));
  };
  for (let i = 0; i < count; i++) {
    const known = Array.from({ length: words }, (_, j) => drawn[j * count + i] >> 1n);
    yield settle(evaluate, known, WORD - 1n, source);
  }
}
