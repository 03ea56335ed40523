// Reports of SphericalLaplace: the noise of Laplace for three columns.

import { add, cosineSine, log, multiply, negative, root } from "./intervals.js";
import { prepareMetric } from "./metric.js";

/** @typedef {import("./noise.js").Noise} Noise */

/** Check the mechanism and return what draws its reports. */
export const prepare = prepareMetric(spherical);

/**
 * The cosine of the angle from the axis is uniform.
 *
 * @param {number} dimension
 * @returns {Noise | false}
 */
function spherical(dimension) {
  return (
    dimension === 3 && {
      words: 5,
      vector: (p, [turn, [low, high], ...chances], scale) => {
        const one = 1n << p;
        const radius = multiply(p, scale, negative(add(...chances.map((u) => log(p, u)))));
        const across = multiply(p, radius, root(p, multiply(p, [low, high], [one - high, one - low])));
        const sides = cosineSine(p, turn).map((side) => multiply(p, add(across, across), side));
        return [...sides, multiply(p, radius, [2n * low - one, 2n * high - one])];
      },
    }
  );
}
