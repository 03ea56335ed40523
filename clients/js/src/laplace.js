// Reports of Laplace: spherical noise in any number of dimensions.

import { add, cosineSine, divide, log, multiply, negative, root, UNDECIDED } from "./intervals.js";
import { prepareMetric } from "./metric.js";

/** @typedef {import("./noise.js").Noise} Noise */

/** Check the mechanism and return what draws its reports. */
export const prepare = prepareMetric(kNorm);

/**
 * Spherical noise: a direction of normals, and a radius with a gamma distribution.
 *
 * @param {number} dimension
 * @returns {Noise}
 */
function kNorm(dimension) {
  const pairs = (dimension + 1) >> 1;
  return {
    words: pairs + dimension,
    vector: (p, uniforms, scale) => {
      const exponentials = uniforms.slice(pairs).map((u) => negative(log(p, u)));
      const radius = multiply(p, scale, add(...exponentials));
      const turns = uniforms.slice(0, pairs).map((u) => cosineSine(p, u));
      if (dimension === 1) {
        const [low, high] = turns[0][0];
        if (low <= 0n && high >= 0n) throw UNDECIDED;
        return [low > 0n ? radius : negative(radius)];
      }
      // Of the last of an odd number of normals, only the cosine counts.
      const squares = exponentials.slice(0, pairs);
      const last = turns[pairs - 1][0];
      if (dimension % 2) squares[pairs - 1] = multiply(p, squares[pairs - 1], multiply(p, last, last));
      const stretch = divide(p, radius, root(p, add(...squares)));
      return turns
        .flatMap((sides, i) => {
          const length = multiply(p, stretch, root(p, exponentials[i]));
          return sides.map((side) => multiply(p, length, side));
        })
        .slice(0, dimension);
    },
  };
}
