// Words from a list, then those of SplitMix64 from a seed; without a seed it ends. As tools/report_vectors.py has them.

const MASK = (1n << 64n) - 1n;

export class GivenWords {
  /**
   * @param {string[]} given In hexadecimal digits; "ff*3" is three times ff.
   * @param {number | null} [seed]
   */
  constructor(given, seed = null) {
    this.given = given.flatMap((text) => {
      const [word, times = "1"] = text.split("*");
      return Array(Number(times)).fill(BigInt(`0x${word}`));
    });
    this.state = seed === null ? null : BigInt(seed);
    this.used = 0;
  }

  /** @param {number} count */
  words(count) {
    return Array.from({ length: count }, () => this.next());
  }

  next() {
    const given = this.given[this.used++];
    if (given !== undefined) return given;
    if (this.state === null) throw new Error("there are no more words");
    this.state = (this.state + 0x9e3779b97f4a7c15n) & MASK;
    let z = this.state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  }
}
