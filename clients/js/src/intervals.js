// Interval arithmetic on whole numbers: every result encloses the real one, whatever was rounded.
//
// An interval [low, high] of whole numbers stands for the reals from low/2^p to high/2^p. One unit is 2^-p. Functions
// are computed with EXTRA more bits and then widened by a unit at either end. Their error is below one unit for p up
// to 4,000 (proofs/javascript.md): a sampler that has drawn 60 further words for one number is still covered.

/** @typedef {[low: bigint, high: bigint]} Interval */
/** @typedef {[numerator: bigint, denominator: bigint]} Rational */

/** Thrown where the bits known so far do not decide a result. */
export const UNDECIDED = Symbol();

const EXTRA = 32n;

/**
 * Return a finite double as the fraction that it is.
 *
 * @param {number} x
 * @returns {Rational}
 */
export function rational(x) {
  let denominator = 1n;
  for (; !Number.isInteger(x); x *= 2) denominator *= 2n;
  return [BigInt(x), denominator];
}

/** @param {bigint} n */
export const bitLength = (n) => n.toString(2).length;

/** @param {Interval} x @returns {Interval} */
export const negative = ([low, high]) => [-high, -low];

/** @param {Interval[]} terms @returns {Interval} */
export const add = (...terms) => terms.reduce(([a, b], [c, d]) => [a + c, b + d]);

/**
 * @param {bigint} p
 * @param {Interval} a
 * @param {Interval} b
 * @returns {Interval}
 */
export function multiply(p, [a, b], [c, d]) {
  const products = [a * c, a * d, b * c, b * d];
  return [
    products.reduce((x, y) => (x < y ? x : y)) >> p,
    (products.reduce((x, y) => (x > y ? x : y)) >> p) + 1n,
  ];
}

/**
 * @param {bigint} p
 * @param {Interval} a
 * @param {Interval} b Above 0, or undecided.
 * @returns {Interval}
 */
export function divide(p, [a, b], [low, high]) {
  if (low <= 0n) throw UNDECIDED;
  return [(a << p) / (a < 0n ? low : high) - 1n, (b << p) / (b < 0n ? high : low) + 1n];
}

/**
 * @param {bigint} p
 * @param {Rational} fraction Not negative.
 * @returns {Interval}
 */
export function enclose(p, [numerator, denominator]) {
  const low = (numerator << p) / denominator;
  return [low, low + 1n];
}

/**
 * Return the natural logarithm of a positive interval. The series has 1 + w/3 terms, and ln 2, which is off by less
 * than 2 w + 12 units of 2^-w, counts at most p times.
 *
 * @param {bigint} p
 * @param {Interval} x
 * @returns {Interval}
 */
export function log(p, [low, high]) {
  if (low <= 0n) throw UNDECIDED;
  const w = p + EXTRA;
  const one = 1n << w;
  const exponent = BigInt(bitLength(low)) - 1n;
  const mantissa = low << (w - exponent); // from 1 to 2
  const atanh = series(w, ((mantissa - one) << w) / (mantissa + one), 1n);
  const [below, above] = widened(2n * atanh + (exponent - p) * ln2(w));
  return [below, above + ((high - low) << p) / low + 1n]; // the slope is at most 1/low
}

/**
 * Return e^-x: 2^-k e^(k ln 2 - x) for the smallest k with an exponent above 0.
 *
 * @param {bigint} p
 * @param {Rational} x Not negative.
 * @returns {Interval}
 */
export function exponential(p, [numerator, denominator]) {
  const w = p + EXTRA;
  const x = (numerator << w) / denominator;
  const k = x / ln2(w) + 1n;
  if (k > p) return [0n, 3n];
  return widened(powers(w, k * ln2(w) - x).reduce((a, b) => a + b) >> k);
}

/**
 * Return cosine and sine of 2 pi (turn - 1/2), for a turn from 0 to 1. They are those of 2 pi turn with the other sign,
 * and move by less than 7 for each unit of the turn.
 *
 * @param {bigint} p
 * @param {Interval} turn
 * @returns {[Interval, Interval]}
 */
export function cosineSine(p, [low, high]) {
  const w = p + EXTRA;
  const sums = [0n, 0n];
  powers(w, (2n * pi(w) * low) >> p).forEach((term, n) => {
    sums[n & 1] += n & 2 ? term : -term;
  });
  const by = 7n * (high - low);
  return [widened(sums[0], by), widened(sums[1], by)];
}

/**
 * @param {bigint} p
 * @param {Interval} x Not negative but for rounding.
 * @returns {Interval}
 */
export const root = (p, [low, high]) => [low > 0n ? wholeRoot(low << p) : 0n, wholeRoot(high << p) + 1n];

/**
 * Round down to the whole number that both ends agree on.
 *
 * @param {bigint} p
 * @param {Interval} x
 */
export function floor(p, [low, high]) {
  const whole = low >> p;
  if (whole !== high >> p) throw UNDECIDED;
  return whole;
}

/**
 * Sum z^n/n over odd n: atanh z, or with alternating signs atan z, for z from 0 to 1/3. At most 1 + w/3 terms, each off
 * by less than 3 units of 2^-w.
 *
 * @param {bigint} w
 * @param {bigint} z
 * @param {bigint} sign
 */
function series(w, z, sign) {
  let sum = 0n;
  const square = (z * z) >> w;
  for (let n = 1n; z; n += 2n, z = (z * square) >> w) sum += ((n & 2n ? sign : 1n) * z) / n;
  return sum;
}

/**
 * Return x^n/n! for n = 0, 1, ..., for x from 0 to 2 pi: at most w + 1 terms, off by less than 2 e^(2 pi) < 2^11 units of
 * 2^-w each.
 *
 * @param {bigint} w
 * @param {bigint} x
 */
function powers(w, x) {
  const terms = [];
  for (let term = 1n << w, n = 1n; term; n++) {
    terms.push(term);
    term = ((term * x) >> w) / n;
  }
  return terms;
}

/**
 * Enclose what was computed with EXTRA bits and an error of less than 2^EXTRA.
 *
 * @param {bigint} value
 * @returns {Interval}
 */
const widened = (value, by = 0n) => [(value >> EXTRA) - 1n - by, (value >> EXTRA) + 2n + by];

/**
 * Return a constant in units of 2^-w, computed once for each w.
 *
 * @param {(w: bigint) => bigint} compute
 */
function constant(compute) {
  /** @type {Map<bigint, bigint>} */
  const known = new Map();
  return (/** @type {bigint} */ w) => {
    const value = known.get(w) ?? compute(w);
    known.set(w, value);
    return value;
  };
}

const pi = /* @__PURE__ */ constant((w) => 16n * series(w, (1n << w) / 5n, -1n) - 4n * series(w, (1n << w) / 239n, -1n));
const ln2 = /* @__PURE__ */ constant((w) => 2n * series(w, (1n << w) / 3n, 1n));

/** @param {bigint} n At least 1. */
function wholeRoot(n) {
  // Newton's method from above: it falls until the root is reached.
  let root = 1n << BigInt((bitLength(n) + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
