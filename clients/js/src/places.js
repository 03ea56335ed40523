// Places on the globe, as kilometers east and north of a public point (src/shoal/schema/places.py), and what an epsilon
// per kilometer on the ground is in the unit of a schema's columns.

import { clip } from "./arrays.js";
import { fail } from "./refusals.js";

const EARTH_RADIUS = 6371.0088; // km
const ROUNDING = 2 ** -30; // km that doubles may move two places apart (proofs/laplace.md)
const DEGREE = Math.PI / 180;
/** @type {Record<string, number>} Ten thousandths of a meter in a unit of length. */
const LENGTHS = { mm: 10, cm: 100, m: 1e4, km: 1e7, in: 254, ft: 3048, yd: 9144, mi: 16093440, nmi: 1852e4 };
const UNIT = /^(?:(\d+)(?:\.(\d*))?(?:e([+-]?\d+))? +)?(\w+)$/;

/**
 * Return where a place lies in the square around the disc, from 0 to 1 in each column.
 *
 * @param {number} longitude
 * @param {number} latitude
 * @param {[longitude: number, latitude: number]} center
 * @param {number} radius km
 */
export function placePosition(longitude, latitude, [east, north], radius) {
  const { sin, cos } = Math;
  const turned = ((longitude - east) % 360) * DEGREE;
  const height = clip(latitude, -90, 90) * DEGREE;
  const pole = north * DEGREE;
  const across = cos(height) * cos(turned);
  const x = cos(height) * sin(turned);
  const y = cos(pole) * sin(height) - sin(pole) * across;
  const sides = Math.hypot(x, y);
  const angle = Math.atan2(sides, sin(pole) * sin(height) + cos(pole) * across);
  // Around the opposite point of the globe places that are near would land far apart: they are mirrored into the disc.
  const kept = Math.min(angle, Math.PI - angle, radius / EARTH_RADIUS);
  const factor = EARTH_RADIUS * (sides > 0 ? kept / sides : 1);
  return [x, y].map((way) => clip((way * factor) / (2 * radius) + 0.5, 0, 1));
}

/**
 * Return a metric epsilon per unit of the columns of a place, bit for bit that of Python.
 *
 * @param {number} epsilon per unit of length on the ground
 * @param {string} unit a length such as "80 m"; "" is the km
 * @param {number} radius km
 * @param {number} weight
 */
export function placeRate(epsilon, unit, radius, weight) {
  const [, whole = "1", part = "", power = 0, name = ""] = UNIT.exec(unit || "km") ?? [];
  // Whole numbers, so that their quotient is rounded once.
  const perKilometer = Number(`1e${7 + part.length - Number(power)}`) / (Number(whole + part) * LENGTHS[name]);
  // sin(angle) / angle by its series: two places are at most so much further apart in the plane than on the ground.
  const angle = radius / EARTH_RADIUS;
  let share = 1;
  for (let k = 24; k; k -= 2) share = 1 - (share * (angle * angle)) / (k * (k + 1));
  const rate = (epsilon * perKilometer * kilometers(radius, weight)) / (EARTH_RADIUS / 6335.439 / share);
  return radius <= 1e4 && rate > 0 && rate < Infinity ? rate : fail("campaign", "a place must have a unit of length and a radius <= 10,000 km");
}

/** Return the kilometers in one unit of the columns of a place. @param {number} radius @param {number} weight */
const kilometers = (radius, weight) => (2 * radius) / Math.sqrt(weight);

/** Return what doubles may add to the distance of two places. @param {number} radius @param {number} weight */
export const placeRounding = (radius, weight) => ROUNDING / kilometers(radius, weight);
