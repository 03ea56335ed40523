// Exact samplers: integer-valued functions of uniform reals whose first bits are random words.
//
// The function is evaluated in interval arithmetic on what is known of the reals; while that does not decide the result,
// every real gets 64 further random bits. So the result has exactly the distribution of the real-valued function
// (proofs/javascript.md). The functions, and the order in which words are used, are those of Python's shoal.noise.

import { UNDECIDED, arithmetic, bitLength } from "./intervals.js";
import { secureWords } from "./words.js";

/** @typedef {import("./intervals.js").Interval} Interval */
/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./words.js").RandomSource} RandomSource */
/**
 * A function of reals in [known, known + 1] / 2^bits.
 *
 * @template T
 * @typedef {(bits: bigint, known: bigint[]) => T} Evaluate
 */

const GUARD_BITS = 32n; // intervals lose fewer
const WORD = 64n;
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
export const settleConstant = (evaluate) => settle(evaluate, [], 2n * WORD, secureWords);

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
  const { one, divide, exponential } = arithmetic(p);
  const [low, high] = exponential(epsilon);
  return divide(
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
    return arithmetic(p).floor([low << WORD, high << WORD]);
  });
}

/**
 * Draw noise vectors from blocks of words: word j of vector i is number j * count + i, of which 63 bits are used.
 *
 * @param {Noise} noise
 * @param {number} count
 * @param {RandomSource} source
 */
export function* drawVectors(noise, count, source) {
  const words = source.words(noise.words * count);
  for (let i = 0; i < count; i++) {
    const known = Array.from({ length: noise.words }, (_, j) => words[j * count + i] >> 1n);
    yield settle(noise.vector, known, WORD - 1n, source);
  }
}

/**
 * Noise in lattice steps: how many words a vector takes, and the function of them.
 *
 * @typedef {{words: number, vector: Evaluate<bigint[]>}} Noise
 */

/**
 * Spherical noise in d dimensions: density proportional to e^(-||z|| / scale), rounded.
 *
 * @param {number} dimension
 * @param {Rational} scale
 * @returns {Noise}
 */
export function kNorm(dimension, scale) {
  const pairs = (dimension + 1) >> 1;
  return {
    words: pairs + dimension,
    vector: (bits, known) => {
      const { uniforms, times, a, round } = prepared(bits, known, scale);
      const exponentials = uniforms.slice(pairs).map((u) => negative(a.log(u)));
      const radius = a.multiply(times, add(...exponentials));
      const turns = uniforms.slice(0, pairs).map(a.cosineSine);
      if (dimension === 1) {
        const [low, high] = turns[0][0];
        if (low <= 0n && high >= 0n) throw UNDECIDED;
        return [round(low > 0n ? radius : negative(radius))];
      }
      // Of the last of an odd number of normals, only the cosine counts.
      const squares = exponentials.slice(0, pairs);
      const last = turns[pairs - 1][0];
      if (dimension % 2) squares[pairs - 1] = a.multiply(squares[pairs - 1], a.multiply(last, last));
      const stretch = a.divide(radius, a.root(add(...squares)));
      return turns
        .flatMap((sides, i) => {
          const length = a.multiply(stretch, a.root(exponentials[i]));
          return sides.map((side) => a.multiply(length, side));
        })
        .slice(0, dimension)
        .map(round);
    },
  };
}

/**
 * The same distribution for two columns: the radius r from its distribution function, 1 - (1 + r) e^-r.
 *
 * @param {Rational} scale
 * @returns {Noise}
 */
export const planarLaplace = (scale) => ({
  words: 2,
  vector: (bits, known) => {
    const { uniforms, times, a, round } = prepared(bits, known, scale);
    const length = a.multiply(times, planarRadius(a, uniforms[1]));
    return a.cosineSine(uniforms[0]).map((side) => round(a.multiply(length, side)));
  },
});

/**
 * The same distribution for three columns: the cosine of the angle from the axis is uniform.
 *
 * @param {Rational} scale
 * @returns {Noise}
 */
export const sphericalLaplace = (scale) => ({
  words: 5,
  vector: (bits, known) => {
    const { uniforms, times, a, round } = prepared(bits, known, scale);
    const [turn, [low, high], ...chances] = uniforms;
    const radius = a.multiply(times, negative(add(...chances.map(a.log))));
    const across = a.multiply(radius, a.root(a.multiply([low, high], [a.one - high, a.one - low])));
    const sides = a.cosineSine(turn).map((side) => a.multiply(add(across, across), side));
    return [...sides, a.multiply(radius, [2n * low - a.one, 2n * high - a.one])].map(round);
  },
});

/**
 * Return what a vector needs: intervals of the uniforms and the scale, with room for its whole part, and rounding.
 *
 * @param {bigint} bits
 * @param {bigint[]} known
 * @param {Rational} scale
 */
function prepared(bits, known, scale) {
  const room = GUARD_BITS + BigInt(bitLength(scale[0] / scale[1]));
  const a = arithmetic(bits + room);
  return {
    a,
    times: a.enclose(scale),
    uniforms: known.map((k) => /** @type {Interval} */ ([k << room, (k + 1n) << room])),
    /** @param {Interval} x */
    round: ([low, high]) => a.floor([low + a.one / 2n, high + a.one / 2n]),
  };
}

/**
 * Enclose the r with (1 + r) e^-r = survival, which is r - log(1 + r) = -log(survival): from the root of one end to that of
 * the other.
 *
 * @param {import("./intervals.js").Arithmetic} a
 * @param {Interval} survival
 * @returns {Interval}
 */
function planarRadius(a, survival) {
  const [low, high] = negative(a.log(survival));
  return [low > 0n ? planarRoot(a, low)[0] : 0n, planarRoot(a, high)[1]];
}

/**
 * Enclose the r with r - log(1 + r) = depth, for a depth above 0.
 *
 * @param {import("./intervals.js").Arithmetic} a
 * @param {bigint} depth
 * @returns {Interval}
 */
function planarRoot(a, depth) {
  const { one } = a;
  /** @param {bigint} r @returns {Interval} */
  const excess = (r) => add([r - depth, r - depth], negative(a.log([one + r, one + r])));
  // Newton's method falls to the root from above. It is not trusted: the signs at both ends are.
  let r = a.root([0n, 2n * depth])[1] + depth;
  let step, error;
  do {
    const [low, high] = excess(r);
    step = (high * (one + r)) / r;
    error = ((high - low + 8n) * (one + r)) / r;
    r -= step;
  } while (step > error || -step > error);
  if (excess(r + error)[0] < 0n) throw UNDECIDED;
  return [r > error && excess(r - error)[1] <= 0n ? r - error : 0n, r + error];
}

/** @param {Interval} x @returns {Interval} */
const negative = ([low, high]) => [-high, -low];

/** @param {Interval[]} terms @returns {Interval} */
const add = (...terms) => terms.reduce(([a, b], [c, d]) => [a + c, b + d]);
