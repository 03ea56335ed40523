// The report of one record, on the device: the mechanisms that a campaign can name.
//
// What privacy depends on is computed here from epsilon and the box, exactly, and never read from the document: noise
// scales, thresholds, lattices of records. Of the report format, only the number of cells of a window is taken, which
// promises nothing; a format that no report of the mechanism could be written in is refused before anything is drawn.
// Words are used in the order in which Python uses them for one record.

import { fail } from "./errors.js";
import { arithmetic, rational } from "./intervals.js";
import { cellColor } from "./partitions.js";
import {
  drawVectors,
  kNorm,
  keepThreshold,
  planarLaplace,
  settleConstant,
  sphericalLaplace,
  twoLevel,
  uniformIntegers,
} from "./samplers.js";
import { boxOf, columnRate } from "./schema.js";

/** @typedef {import("./intervals.js").Rational} Rational */
/** @typedef {import("./reportFormat.js").ReportFormat} ReportFormat */
/** @typedef {import("./words.js").RandomSource} RandomSource */
/** @typedef {import("./schema.js").Mechanism & {mechanism: string}} MechanismDocument */
/** @typedef {(record: number[], source: RandomSource) => number[]} Draw */

const WIDTH = 2 ** 22 + 1; // cells of a window
const TURNING_POINT = 0.61; // epsilon of a column up to which Hybrid has two values only
const SAMPLED_EPSILON = 2.5; // epsilon that one more sampled column is worth
const LARGEST_EPSILON = 1000; // of thresholds: from here on they do not change
const CHANCES = 2 ** 53;
const DUCHI_HALF = 2 ** 30; // Duchi's records are rounded to so many steps on each side of the center
const REDRAWS = 256; // draws at a time

/** @type {Record<string, (mechanism: MechanismDocument, format: ReportFormat) => Draw>} */
const KINDS = {
  Laplace: prepareMetric,
  PlanarLaplace: prepareMetric,
  SphericalLaplace: prepareMetric,
  Duchi: prepareDuchi,
  Hybrid: prepareColumns,
  Piecewise: prepareColumns,
  SquareWave: prepareColumns,
  PartitionResponse: preparePartitions,
};

/**
 * Draw the report of a record, as lattice indices.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @param {number[]} record Encoded and clipped to the box.
 * @param {RandomSource} source
 */
export const drawIndices = (mechanism, format, record, source) => prepareDraw(mechanism, format)(record, source);

/**
 * Check a mechanism with its report format and return what draws its reports.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @returns {Draw}
 */
export function prepareDraw(mechanism, format) {
  const prepare = Object.hasOwn(KINDS, mechanism.mechanism) && KINDS[mechanism.mechanism];
  if (!prepare) fail("campaign", "mechanism must be one that this client knows: update the client");
  return prepare(mechanism, format);
}

/**
 * @param {boolean} holds
 * @returns {asserts holds}
 */
function checkFormat(holds) {
  if (!holds) fail("campaign", "report_format must be that of the mechanism: do not take part in this campaign");
}

/** @param {unknown} n */
const isCount = (n) => Number.isSafeInteger(n) && Number(n) > 0;

/**
 * Refuse a format with other lattice indices, of all columns or of each.
 *
 * @param {ReportFormat} format
 * @param {(column: number) => {first: number, levels: number, stride?: number}} expected
 */
function checkColumns(format, expected) {
  checkFormat(
    format.columns.every((column, c) => {
      const { first, levels, stride = 1 } = expected(c);
      return column.first === first && column.levels === levels && column.stride === stride;
    }),
  );
}

/** @param {any} epsilon */
function exactEpsilon(epsilon, columns = 1) {
  if (!(epsilon > 0 && epsilon < Infinity)) fail("campaign", "epsilon must be a finite number above 0");
  const [numerator, denominator] = rational(epsilon);
  return /** @type {Rational} */ ([numerator, denominator * BigInt(columns)]);
}

/**
 * Round half to even, as the processor does.
 *
 * @param {number} x
 */
function roundEven(x) {
  const up = Math.round(x);
  return up - x === 0.5 && up % 2 ? up - 1 : up;
}

/**
 * Round a value to the lattice; whatever the box, each has an index: a report that fails would tell its record.
 *
 * @param {number} x
 * @param {number} origin
 * @param {number} step
 * @param {number} low
 * @param {number} high
 */
const latticeIndex = (x, origin, step, low, high) =>
  Math.min(Math.max(roundEven((x - origin) * (1 / step)) || 0, low), high);

/**
 * Return a function that rounds records to -half .. half, from one end of the box to the other.
 *
 * @param {MechanismDocument} mechanism
 * @param {number} half
 * @returns {(record: number[]) => number[]}
 */
function boxLattice(mechanism, half) {
  const { low, high } = boxOf(mechanism);
  const unit = 1 / half;
  return (record) =>
    record.map((x, c) =>
      latticeIndex(x, low[c] / 2 + high[c] / 2, (high[c] / 2 - low[c] / 2) * unit, -half, half),
    );
}

/**
 * Laplace noise on one lattice for all columns, whose step is a power of two.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @returns {Draw}
 */
function prepareMetric(mechanism, format) {
  const epsilon = columnRate(mechanism);
  exactEpsilon(epsilon);
  const { low, high } = boxOf(mechanism);
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
  checkFormat(
    format.columns.length === columns &&
      format.columns.every(
        (column, c) =>
          column.step === step &&
          column.origin === 0 &&
          column.stride === 1 &&
          Number.isSafeInteger(lowest[c]) &&
          isCount(column.levels) &&
          (!redrawn || (lowest[c] === first[c] && highest[c] === last[c])),
      ),
  );

  const [rateAbove, rateBelow] = rational(rate);
  const [stepAbove, stepBelow] = rational(step);
  /** @type {Rational} */
  const scale = [rateBelow * stepBelow, rateAbove * stepAbove];
  const kind = mechanism.mechanism;
  checkFormat(kind === "Laplace" || columns === (kind === "PlanarLaplace" ? 2 : 3));
  const noise =
    kind === "Laplace" ? kNorm(columns, scale) : kind === "PlanarLaplace" ? planarLaplace(scale) : sphericalLaplace(scale);
  return (record, source) => {
    const indices = record.map((x, c) => BigInt(latticeIndex(x, 0, step, first[c], last[c])));
    for (;;) {
      for (const vector of drawVectors(noise, redrawn ? REDRAWS : 1, source)) {
        const moved = vector.map((shift, c) => indices[c] + shift);
        const clipped = moved.map((index, c) =>
          Number(index < lowest[c] ? lowest[c] : index > highest[c] ? highest[c] : index),
        );
        if (!redrawn || moved.every((index, c) => index === BigInt(clipped[c]))) return clipped;
      }
    }
  };
}

/**
 * Return the largest power of two up to a normal double: the double without its digits.
 *
 * @param {number} x
 */
function powerOfTwo(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigUint64(0, view.getBigUint64(0) & (0x7ffn << 52n));
  return view.getFloat64(0);
}

/**
 * Duchi's mechanism: corners of a box, on the side of the record's corner more often.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @returns {Draw}
 */
function prepareDuchi(mechanism, format) {
  const epsilon = exactEpsilon(mechanism.parameters.epsilon);
  const columns = format.columns.length;
  checkColumns(format, () => ({ first: -1, levels: 2, stride: 2 }));
  const round = boxLattice(mechanism, DUCHI_HALF);
  let ties = columns % 2 ? 0n : 1n; // corners with as many equal as other signs
  for (let i = 1n; ties && i <= columns / 2; i++) ties = (ties * (BigInt(columns / 2) + i)) / i;
  const corners = 1n << BigInt(columns);
  const far = (corners - ties) / 2n;
  /** @param {RandomSource} source */
  const signs = (source) => uniformIntegers(columns, 2, source).map((bit) => 2 * bit - 1);
  return (record, source) => {
    const indices = round(record);
    const chances = uniformIntegers(columns, 2 * DUCHI_HALF, source);
    let turns = signs(source);
    const [high] = twoLevel(1, epsilon, [far, corners - far], source);
    while (high && turns.reduce((a, b) => a + b) < 0) turns = signs(source);
    return turns.map((turn, c) => (chances[c] < indices[c] + DUCHI_HALF ? turn : -turn));
  };
}

/**
 * Columns on their own: windows of cells around the record, Hybrid's two values, or either.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @returns {Draw}
 */
function prepareColumns(mechanism, format) {
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
  const round = boxLattice(mechanism, positions / 2);

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
      const { one, divide, exponential, floor } = arithmetic(p);
      const wide = BigInt(WIDTH) * one;
      const [low, high] = exponential([numerator, 2n * denominator]);
      const [least, most] = divide([wide, wide], [2n * low, 2n * high]);
      return floor([least + one / 2n, most + one / 2n]);
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
    const { one, divide, exponential, floor } = arithmetic(p);
    const [low, high] = exponential(numerator > limit * denominator ? [limit, 1n] : [numerator, denominator]);
    /** @type {import("./intervals.js").Interval} */
    const under = [W * one + N * low, W * one + N * high];
    const value = floor(divide([(N * W * (one + low)) / 2n, (N * W * (one + high)) / 2n], under)) + 2n;
    const scale = (1n << 52n) * N * W;
    const truthful = floor(divide([scale * (one - high), scale * (one - low)], [under[0] * value, under[1] * value]));
    return { value: Number(value), truthful: Number(truthful) };
  });
}

/**
 * Randomized response: the color of the record's cell in a random partition.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @returns {Draw}
 */
function preparePartitions(mechanism, format) {
  const { epsilon, partitions, first_partition: first } = mechanism.parameters;
  exactEpsilon(epsilon);
  /** @type {{n_partitions: number, n_colors: number}[]} */
  const blocks = partitions.blocks;
  const colors = blocks[0].n_colors;
  const choices = blocks.reduce((sum, block) => sum + block.n_partitions, 0) - first;
  checkFormat(
    format.columns.length === 2 &&
      isCount(first + 1) &&
      isCount(choices) &&
      blocks.every((block) => block.n_colors === colors),
  );
  checkColumns(format, (c) => (c ? { first: 0, levels: colors } : { first, levels: choices }));
  const threshold = keepThreshold(rational(Math.min(epsilon, LARGEST_EPSILON)), colors);
  return (record, source) => {
    const partition = first + uniformIntegers(1, choices, source)[0];
    const [word] = source.words(1);
    const [uniform] = uniformIntegers(1, colors, source);
    const color = cellColor(partitions, record, partition); // also where it is not kept: time must not tell
    const known = color >= 0 && color < colors && Number.isInteger(color) ? color : 0; // one that fails would tell, too
    return [partition, word < threshold ? known : uniform];
  };
}
