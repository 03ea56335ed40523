// Reports of mechanisms that treat columns on their own: Piecewise, SquareWave, Hybrid.

import { divide, exponential, floor, rational } from "./intervals.js";
import { boxLattice, checkColumns, checkFormat, exactEpsilon, isCount, LARGEST_EPSILON } from "./lattices.js";
import { settleConstant, twoLevel, uniformIntegers } from "./samplers.js";

/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./mechanisms.js").Draw} Draw */
/** @typedef {import("./mechanisms.js").Family} Family */

const WIDTH = 2 ** 22 + 1; // cells of a window
const TURNING_POINT = 0.61; // epsilon of a column up to which Hybrid has two values only
const SAMPLED_EPSILON = 2.5; // epsilon that one more sampled column is worth
const CHANCES = 2 ** 53;

/**
 * Columns on their own: windows of cells around the record, Hybrid's two values, or either.
 *
 * @type {Family["prepare"]}
 */
export function prepare(mechanism, format, reader) {
  const { epsilon: whole, columns: chosen } = mechanism.parameters;
  const columns = format.columns.length;
  const reported = chosen === "sample" ? Math.max(1, Math.min(columns, Math.floor(whole / SAMPLED_EPSILON))) : columns;
  const epsilon = exactEpsilon(whole, reported);
  const isHybrid = mechanism.mechanism === "Hybrid";
  const [above, below] = rational(TURNING_POINT);
  const isWide = !isHybrid || epsilon[0] * below > above * epsilon[1];

  const cells = format.columns[0].levels;
  const positions = isWide ? cells - WIDTH : piecewisePositions(epsilon);
  checkFormat(isCount(cells) && isCount(positions / 2));
  const lastCell = (positions + WIDTH - 1) / 2;
  const { value, truthful } = isHybrid ? twoValues(epsilon, positions) : { value: 0, truthful: 0 };
  checkColumns(format, () =>
    isWide
      ? { first: -lastCell, levels: cells }
      : { first: -value, levels: reported < columns ? 3 : 2, stride: reported < columns ? value : 2 * value },
  );
  const round = boxLattice(reader.boxOf(mechanism), positions / 2);

  /** @type {Draw} */
  const drawWindow = (places, source) => {
    const drawn = uniformIntegers(places.length, positions + WIDTH, source).map((cell) => cell - lastCell);
    const high = twoLevel(places.length, epsilon, [BigInt(positions), BigInt(WIDTH)], source);
    const offsets = uniformIntegers(high.filter(Boolean).length, WIDTH, source);
    let used = 0;
    return drawn.map((cell, i) => (high[i] ? places[i] + offsets[used++] - (WIDTH - 1) / 2 : cell));
  };
  /** @type {Draw} */
  const drawTwoValues = (places, source) => {
    const count = places.length;
    const signs = uniformIntegers(count, positions, source).map((chance, i) => chance < places[i] + positions / 2);
    const fair = uniformIntegers(count, 2, source);
    const chances = uniformIntegers(count, CHANCES, source);
    const two = signs.map((sign, i) => ((chances[i] < truthful ? sign : fair[i]) ? value : -value));
    if (!isWide) return two;
    const wide = twoLevel(count, [epsilon[0], 2n * epsilon[1]], [0n, 1n], source);
    return drawWindow(places, source).map((cell, i) => (wide[i] ? cell : two[i]));
  };
  const draw = isHybrid ? drawTwoValues : drawWindow;

  return (record, source) => {
    const places = round(record);
    if (reported === columns) return draw(places, source);
    const order = [...places.keys()]; // the first steps of a shuffle
    for (let i = 0; i < reported; i++) {
      const j = i + uniformIntegers(1, columns - i, source)[0];
      [order[i], order[j]] = [order[j], order[i]];
    }
    const kept = order.slice(0, reported);
    const drawn = draw(kept.map((c) => places[c]), source);
    return places.map((_, c) => (kept.includes(c) ? drawn[kept.indexOf(c)] : 0));
  };
}

/**
 * Return N, the even number nearest to WIDTH e^(epsilon/2).
 *
 * @param {Rational} epsilon
 */
const piecewisePositions = ([numerator, denominator]) =>
  2 *
  Number(
    settleConstant((p) => {
      const one = 1n << p;
      const wide = BigInt(WIDTH) * one;
      const [low, high] = exponential(p, [numerator, 2n * denominator]);
      const [least, most] = divide(p, [wide, wide], [2n * low, 2n * high]);
      return floor(p, [least + one / 2n, most + one / 2n]);
    }),
  );

/**
 * Return the cell of Hybrid's upper value, ceil(N (1 + q) / (2 (1 + N q / W))) + 1, and the chances in 2^53 of a sign that
 * is drawn from the record, floor(2^52 N (1 - q) / ((1 + N q / W) value)), with q = e^-epsilon (proofs/hybrid.md).
 *
 * @param {Rational} epsilon
 * @param {number} positions N.
 */
function twoValues([numerator, denominator], positions) {
  const [N, W] = [BigInt(positions), BigInt(WIDTH)];
  const limit = BigInt(LARGEST_EPSILON);
  return settleConstant((p) => {
    const one = 1n << p;
    const [low, high] = exponential(p, numerator > limit * denominator ? [limit, 1n] : [numerator, denominator]);
    /** @type {import("./intervals.js").Interval} */
    const under = [W * one + N * low, W * one + N * high];
    const value = floor(p, divide(p, [(N * W * (one + low)) / 2n, (N * W * (one + high)) / 2n], under)) + 2n;
    const scale = (1n << 52n) * N * W;
    const truthful = floor(p, divide(p, [scale * (one - high), scale * (one - low)], [under[0] * value, under[1] * value]));
    return { value: Number(value), truthful: Number(truthful) };
  });
}
