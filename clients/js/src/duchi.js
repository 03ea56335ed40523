// Reports of Duchi: corners of a box.

import { boxLattice, checkColumns, exactEpsilon } from "./lattices.js";
import { twoLevel, uniformIntegers } from "./samplers.js";

/** @typedef {import("./mechanisms.js").Family} Family */
/** @typedef {import("./words.js").RandomSource} RandomSource */

const DUCHI_HALF = 2 ** 30; // records are rounded to so many steps on each side of the center

/**
 * Duchi's mechanism: corners of a box, on the side of the record's corner more often.
 *
 * @type {Family["prepare"]}
 */
export function prepare(mechanism, format, reader) {
  const epsilon = exactEpsilon(mechanism.parameters.epsilon);
  const columns = format.columns.length;
  checkColumns(format, () => ({ first: -1, levels: 2, stride: 2 }));
  const round = boxLattice(reader.boxOf(mechanism), DUCHI_HALF);
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
