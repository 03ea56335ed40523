// Exact samplers: integer-valued functions of uniform reals whose first bits are random words.
//
// The function is evaluated in interval arithmetic on what is known of the reals; while that does not decide the result,
// every real gets 64 further random bits. So the result has exactly the distribution of the real-valued function
// (proofs/javascript.md). The functions, and the order in which words are used, are those of Python's shoal.noise.

import { UNDECIDED, divide, exponential, floor } from "./intervals.js";

/** @typedef {import("./intervals.js").Interval} Interval */
/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./words.js").RandomSource} RandomSource */
/**
 * A function of reals in [known, known + 1] / 2^bits.
 *
 * @template T
 * @typedef {(bits: bigint, known: bigint[]) => T} Evaluate
 */

export const GUARD_BITS = 32n; // intervals lose fewer
export const WORD = 64n;
const WORDS = 1n << WORD;

/**
 * Evaluate a function of uniform reals whose first bits are known.
 *
 * @template T
 * @param {Evaluate<T>} evaluate
 * @param {bigint[]} known
 * @param {bigint} bits
 * @param {RandomSource} source
 * @returns {T}
 */
export function settle(evaluate, known, bits, source) {
  for (;;) {
    try {
      return evaluate(bits, known);
    } catch (signal) {
      if (signal !== UNDECIDED) throw signal;
    }
    const more = source.words(known.length);
    known = known.map((k, i) => (k << WORD) | more[i]);
    bits += WORD;
  }
}

/**
 * Evaluate a constant with as many bits as it takes.
 *
 * @template T
 * @param {Evaluate<T>} evaluate
 */
export const settleConstant = (evaluate) => settle(evaluate, [], 2n * WORD, { words: () => [] });

/**
 * Draw integers uniformly from 0 to below - 1; words that would not be uniform are drawn again.
 *
 * @param {number} count
 * @param {number} below At most 2^53.
 * @param {RandomSource} source
 */
export function uniformIntegers(count, below, source) {
  const words = source.words(count);
  const limit = WORDS - (WORDS % BigInt(below));
  for (;;) {
    const refused = [...words.keys()].filter((i) => words[i] >= limit);
    if (!refused.length) return words.map((word) => Number(word % BigInt(below)));
    const more = source.words(refused.length);
    refused.forEach((i, j) => (words[i] = more[j]));
  }
}

/**
 * Enclose (1 - q) / (1 + rest q), q = e^-epsilon: how often a draw comes from the high set.
 *
 * @param {bigint} p
 * @param {Rational} epsilon
 * @param {Rational} rest
 */
function highChance(p, epsilon, [numerator, denominator]) {
  const one = 1n << p;
  const [low, high] = exponential(p, epsilon);
  return divide(
    p,
    [(one - high) * denominator, (one - low) * denominator],
    [one * denominator + numerator * low, one * denominator + numerator * high],
  );
}

/**
 * Choose which draws come from the high set: true with probability (1 - q) / (1 + rest q), q = e^-epsilon.
 *
 * @param {number} count
 * @param {Rational} epsilon
 * @param {Rational} rest Values outside the high set for each one inside.
 * @param {RandomSource} source
 */
export function twoLevel(count, epsilon, rest, source) {
  /** @type {Map<bigint, Interval>} */
  const chances = new Map();
  /** @type {Evaluate<boolean>} */
  const passes = (bits, [known]) => {
    const chance = chances.get(bits) ?? highChance(bits + GUARD_BITS, epsilon, rest);
    chances.set(bits, chance);
    if (chance[0] > (known + 1n) << GUARD_BITS) return true;
    if (chance[1] < known << GUARD_BITS) return false;
    throw UNDECIDED;
  };
  return source.words(count).map((word) => settle(passes, [word], WORD, source));
}

/**
 * Return T: a true answer is kept where a 64-bit word is below it. T / 2^64 is at most (1 - q) / (1 + (choices - 1) q).
 *
 * @param {Rational} epsilon
 * @param {number} choices
 */
export function keepThreshold(epsilon, choices) {
  const rest = BigInt(choices - 1);
  return settleConstant((p) => {
    const [low, high] = highChance(p, epsilon, [rest, 1n]);
    return floor(p, [low << WORD, high << WORD]);
  });
}
