// The color of a record's cell in one public partition, bit for bit that of Python (src/shoal/partitions).
//
// A device computes the numbers of the one partition that it drew. All of them are whole numbers below 2^53, or
// doubles made by single additions, products and quotients, which round alike in every language.

import { argmax, clip, nearest } from "./arrays.js";
import { rational } from "./intervals.js";
import { checkColumns, checkFormat, exactEpsilon, isCount, LARGEST_EPSILON } from "./lattices.js";
import { keepThreshold, uniformIntegers } from "./samplers.js";

/** @typedef {import("./mechanisms.js").Family} Family */

/**
 * Randomized response: the color of the record's cell in a random partition.
 *
 * @type {Family["prepare"]}
 */
export function prepare(mechanism, format) {
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
      isCount(colors) &&
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

/**
 * Return the color of a record in a partition.
 *
 * @param {{blocks: any[]}} partitions `parameters.partitions` of the mechanism's document
 * @param {number[]} record encoded
 * @param {number} partition below the sum of n_partitions
 * @returns {number} from 0 to n_colors - 1
 */
export function cellColor({ blocks: [block, ...others] }, record, partition) {
  const later = partition - block.n_partitions;
  return later < 0 ? (block.pool ? seedColor : gridColor)(block, record, partition) : cellColor({ blocks: others }, record, later);
}

/**
 * Shifted cells of some axes, numbered in their order, with colors as even as possible.
 *
 * @param {any} grids
 * @param {number[]} record
 * @param {number} index
 */
function gridColor({ axes, n_partitions, n_colors, cells, size, seed }, record, index) {
  let cell = 0;
  let total = 1;
  chosenAxes(axes, size ?? axes.length, n_partitions, seed, index).forEach(([kind, start, stop, low, high], t) => {
    let count = cells + 1;
    let along = clip((record[start] / 2 - low / 2) / (high / 2 - low / 2), 0, 1) * cells + publicWord(seed, 0, index, t) / 2 ** 32;
    if (kind === "levels") {
      count = stop - start;
      along = argmax(record.slice(start, stop));
    }
    cell = cell * count + Math.floor(along);
    total *= count;
  });
  const [prime, factor, offset] = linearMap(total, seed, 2, index);
  return (total > n_colors ? (factor * cell + offset) % prime : cell + offset) % n_colors;
}

/**
 * Choose the axes of a partition: all choices in turn where there are few, otherwise at random.
 *
 * @param {any[]} axes
 * @param {number} size
 * @param {number} partitions
 * @param {number} seed
 * @param {number} index
 * @returns {any[]}
 */
function chosenAxes(axes, size, partitions, seed, index) {
  const total = choices(axes.length, size);
  if (total <= partitions) {
    // The choice of this number in the order of a dictionary.
    let rank = index % total;
    return axes.filter((_, i) => {
      const before = choices(axes.length - i - 1, size - 1);
      if (rank < before) return size--;
      rank -= before;
      return false;
    });
  }
  const order = [...axes];
  for (let t = 0; t < size; t++) {
    const j = t + (publicWord(seed, 1, index, t) % (axes.length - t));
    [order[t], order[j]] = [order[j], order[t]];
  }
  return order.slice(0, size);
}

/** @param {number} things @param {number} size @returns {number} how many choices of so many things there are */
const choices = (things, size) => (size > 0 ? (choices(things - 1, size - 1) * things) / size : size + 1);

/**
 * Cells of the nearest of a few points of a public pool, the first among equals.
 *
 * @param {any} seeds
 * @param {number[]} record
 * @param {number} index
 */
function seedColor({ pool, n_seeds, n_colors, low, high, scale, seed }, record, index) {
  const [prime, factor, offset] = linearMap(pool.length, seed, 0, index);
  const scaled = (/** @type {number[]} */ point) => point.map((value, i) => value / scale[i]);
  const seeds = [];
  for (let t = 0; t < prime && seeds.length < n_seeds; t++) {
    const point = pool[(factor * t + offset) % prime];
    if (point) seeds.push(scaled(point));
  }
  return nearest(scaled(record.map((value, i) => clip(value, low[i], high[i]))), seeds) % n_colors;
}

/**
 * Return a prime, a factor and an offset that spread the numbers below `count`.
 *
 * @param {number} count
 * @param {number} seed
 * @param {number} purpose of the public words
 * @param {number} index
 */
function linearMap(count, seed, purpose, index) {
  let prime = Math.max(2, count);
  for (let divisor = 2; divisor * divisor <= prime; divisor++) {
    if (prime % divisor === 0) {
      prime++;
      divisor = 1;
    }
  }
  return [prime, 1 + (publicWord(seed, purpose, index) % (prime - 1)), publicWord(seed, purpose + 1, index) % prime];
}

/**
 * Return a public word below 2^32: the finalizer of MurmurHash3, once for the seed and once for each index.
 *
 * @param {number} seed
 * @param {...number} indices
 */
const publicWord = (seed, ...indices) =>
  indices.reduce((word, index) => mixed(word + Math.imul(index, 0x9e3779b1)), mixed(seed));

/** @param {number} word */
function mixed(word) {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return (word ^ (word >>> 16)) >>> 0;
}
