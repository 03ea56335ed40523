// Reports of PlanarLaplace: the noise of Laplace for two columns, by the distribution function of its radius.

import { add, cosineSine, log, multiply, negative, root, UNDECIDED } from "./intervals.js";
import { prepareMetric } from "./metric.js";

/** @typedef {import("./intervals.js").Interval} Interval */
/** @typedef {import("./noise.js").Noise} Noise */

/** Check the mechanism and return what draws its reports. */
export const prepare = prepareMetric(planar);

/**
 * The radius r comes from its distribution function, 1 - (1 + r) e^-r.
 *
 * @param {number} dimension
 * @returns {Noise | false}
 */
function planar(dimension) {
  return (
    dimension === 2 && {
      words: 2,
      vector: (p, [turn, survival], scale) => {
        const length = multiply(p, scale, planarRadius(p, survival));
        return cosineSine(p, turn).map((side) => multiply(p, length, side));
      },
    }
  );
}

/**
 * Enclose the r with (1 + r) e^-r = survival, which is r - log(1 + r) = -log(survival): from the root of one end to that of
 * the other.
 *
 * @param {bigint} p
 * @param {Interval} survival
 * @returns {Interval}
 */
function planarRadius(p, survival) {
  const [low, high] = negative(log(p, survival));
  return [low > 0n ? planarRoot(p, low)[0] : 0n, planarRoot(p, high)[1]];
}

/**
 * Enclose the r with r - log(1 + r) = depth, for a depth above 0.
 *
 * @param {bigint} p
 * @param {bigint} depth
 * @returns {Interval}
 */
function planarRoot(p, depth) {
  const one = 1n << p;
  /** @param {bigint} r @returns {Interval} */
  const excess = (r) => add([r - depth, r - depth], negative(log(p, [one + r, one + r])));
  // Newton's method falls to the root from above. It is not trusted: the signs at both ends are.
  let r = root(p, [0n, 2n * depth])[1] + depth;
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
