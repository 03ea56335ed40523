// Where random words come from: the browser's or Node's own generator for keys.

/**
 * What a sampler needs: independent uniform 64-bit words.
 *
 * @typedef {{words: (count: number) => bigint[]}} RandomSource
 */

const LARGEST = 8192; // words at a time: getRandomValues gives 65,536 bytes at most

/** @type {RandomSource} */
export const secureWords = {
  words(count) {
    const drawn = new BigUint64Array(count);
    for (let start = 0; start < count; start += LARGEST) {
      crypto.getRandomValues(drawn.subarray(start, start + LARGEST));
    }
    return [...drawn];
  },
};
