// Intervals enclose the real result: those of more bits lie inside, and known digits do.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as intervals from "../src/intervals.js";
import { GivenWords } from "./givenWords.js";

/** @typedef {import("../src/intervals.js").Interval} Interval */

const { UNDECIDED, rational } = intervals;

/** Return the functions for units of 2^-p. @param {bigint} p */
const arithmetic = (p) => ({
  one: 1n << p,
  log: (/** @type {Interval} */ x) => intervals.log(p, x),
  root: (/** @type {Interval} */ x) => intervals.root(p, x),
  floor: (/** @type {Interval} */ x) => intervals.floor(p, x),
  cosineSine: (/** @type {Interval} */ x) => intervals.cosineSine(p, x),
  enclose: (/** @type {intervals.Rational} */ x) => intervals.enclose(p, x),
  exponential: (/** @type {intervals.Rational} */ x) => intervals.exponential(p, x),
  multiply: (/** @type {Interval} */ x, /** @type {Interval} */ y) => intervals.multiply(p, x, y),
  divide: (/** @type {Interval} */ x, /** @type {Interval} */ y) => intervals.divide(p, x, y),
});

const LN2 = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868";
const INVERSE_E = "0.36787944117144232159552377016146086744581113103176783450783680169746149574489980335714727434591964";
const PRECISIONS = [96n, 131n, 200n, 1000n];

/**
 * Assert that an interval encloses another one of more bits, and is at most so many units wide.
 *
 * @param {Interval} wide
 * @param {Interval} narrow
 * @param {bigint} by
 * @param {bigint} units
 */
function assertEncloses([low, high], [least, most], by, units) {
  assert.ok(low << by <= least && most <= high << by);
  assert.ok(high - low <= units, `${high - low} units wide`);
}

/**
 * Assert that an interval holds a number whose digits are cut.
 *
 * @param {bigint} p
 * @param {Interval} interval
 * @param {string} digits
 */
function assertHolds(p, [low, high], digits) {
  const [, fraction] = digits.split(".");
  const unit = 10n ** BigInt(fraction.length);
  const cut = BigInt(fraction) << p;
  assert.ok(low * unit <= cut + (1n << p) && cut <= high * unit);
  assert.ok(high - low <= 5n);
}

test("known digits", () => {
  for (const p of PRECISIONS.slice(0, 3)) {
    const { one, log, exponential } = arithmetic(p);
    const [low, high] = log([one / 2n, one / 2n]);
    assertHolds(p, [-high, -low + 1n], LN2);
    assertHolds(p, exponential([1n, 1n]), INVERSE_E);
  }
});

test("an eighth of a turn has the root of 1/2, on either side", () => {
  for (const p of PRECISIONS) {
    const { one, root, cosineSine } = arithmetic(p);
    const [low, high] = root([one / 2n, one / 2n]);
    for (const [eighth, cosine, sine] of [[1n, -1, -1], [3n, 1, -1], [5n, 1, 1], [7n, -1, 1]]) {
      const turn = (one * BigInt(eighth)) / 8n;
      for (const [k, sign] of [cosine, sine].entries()) {
        const [least, most] = cosineSine([turn, turn])[k];
        assert.ok(sign > 0 ? least <= high && low <= most : least <= -low && -high <= most);
        assert.ok(most - least <= 3n);
      }
    }
  }
});

test("functions of random points enclose those of 200 more bits", () => {
  const source = new GivenWords([], 3);
  const by = 200n;
  for (const p of PRECISIONS) {
    const [coarse, fine] = [arithmetic(p), arithmetic(p + by)];
    for (let i = 0; i < 100; i++) {
      const [word, other] = source.words(2);
      const point = (word >> BigInt(i % 60)) + 1n; // small ones too
      const u = /** @type {Interval} */ ([point << (p - 64n), point << (p - 64n)]);
      const v = /** @type {Interval} */ (u.map((end) => end << by));
      assertEncloses(coarse.log(u), fine.log(v), by, 4n);
      assertEncloses(coarse.root(u), fine.root(v), by, 1n);
      coarse.cosineSine(u).forEach((side, k) => assertEncloses(side, fine.cosineSine(v)[k], by, 3n));
      const x = /** @type {[bigint, bigint]} */ ([point, 1n + (other >> BigInt(i % 50))]);
      assertEncloses(coarse.exponential(x), fine.exponential(x), by, 3n);
      assertEncloses(coarse.enclose(x), fine.enclose(x), by, 1n);
      const t = coarse.cosineSine(u)[0];
      const s = fine.cosineSine(v)[0];
      assertEncloses(coarse.multiply(t, u), fine.multiply(s, v), by, 8n);
      assertEncloses(coarse.divide(t, u), fine.divide(s, v), by, 2n + 4n * (coarse.one / u[0] + 1n));
    }
  }
});

test("intervals of numbers hold the results of both ends", () => {
  const source = new GivenWords([], 4);
  const p = 160n;
  const a = arithmetic(p);
  for (let i = 0; i < 200; i++) {
    const word = source.next() >> BigInt(i % 60);
    const whole = /** @type {Interval} */ ([(word + 1n) << 96n, (word + 2n) << 96n]);
    for (const end of whole) {
      const point = /** @type {Interval} */ ([end, end]);
      assert.ok(holds(a.log(whole), a.log(point)) && holds(a.root(whole), a.root(point)));
      a.cosineSine(whole).forEach((side, k) => assert.ok(holds(side, a.cosineSine(point)[k])));
    }
  }
});

/**
 * Whether an interval holds another one but for its own rounding.
 *
 * @param {Interval} wide
 * @param {Interval} point
 */
const holds = ([low, high], [least, most]) => low <= most && least <= high && low - 3n <= least && most <= high + 3n;

test("signs of products and quotients", () => {
  const a = arithmetic(100n);
  const wide = (/** @type {number} */ low, /** @type {number} */ high) =>
    /** @type {Interval} */ ([BigInt(low) * a.one, BigInt(high) * a.one]);
  assert.deepEqual(a.multiply(wide(-2, 3), wide(-5, 4)), [-15n * a.one, 12n * a.one + 1n]);
  assert.deepEqual(a.divide(wide(-8, 8), wide(2, 4)), [-4n * a.one - 1n, 4n * a.one + 1n]);
  assert.deepEqual(a.divide(wide(-8, -4), wide(2, 4)), [-4n * a.one - 1n, -a.one + 1n]);
  assert.deepEqual(a.divide(wide(4, 8), wide(2, 4)), [a.one - 1n, 4n * a.one + 1n]);
});

test("what is not known is undecided", () => {
  const { one, floor, log, divide } = arithmetic(100n);
  assert.equal(floor([3n * one, 4n * one - 1n]), 3n);
  assert.equal(floor([-one, -1n]), -1n);
  for (const undecided of [
    () => floor([3n * one, 4n * one]),
    () => floor([-1n, 0n]),
    () => log([0n, one]),
    () => divide([one, one], [0n, one]),
  ]) {
    assert.throws(undecided, (signal) => signal === UNDECIDED);
  }
});

test("a double is the fraction that it is", () => {
  for (const x of [0.1, 3, 1e300, 5e-324, 2 ** -40, 0.61]) {
    const [numerator, denominator] = rational(x);
    assert.equal(denominator & (denominator - 1n), 0n);
    const shift = BigInt(Math.max(0, numerator.toString(2).length - 53));
    assert.equal(numerator >> shift << shift, numerator);
    let back = Number(numerator);
    for (let rest = denominator; rest > 1n; rest /= 2n) back /= 2;
    assert.equal(back, x);
  }
});
