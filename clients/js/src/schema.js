// Records as numbers, by the public description of their columns: bit for bit those of Python (src/shoal/schema), but
// for logarithms and places on the globe, whose last bits are those of the machine.

import { clip } from "./arrays.js";
import { placeAlone } from "./fields.js";
import { placePosition, placeRate, placeRounding } from "./places.js";
import { clipRecord, listOf, plainBox, plainRate, plainRecord, valuesOf } from "./records.js";
import { fail } from "./refusals.js";
import { checkedFeatures } from "./schemaKeys.js";
import { isMissing, readDay, readLevel, readNumber, readTruth } from "./values.js";

/** @import { Box, Mechanism } from "./records.js" */

/**
 * A field that is clustered on: all that describes it in one object, the columns of the table that hold it, the words
 * that mean missing, the levels of what has no order, whether a missing value has a column of its own, and the largest
 * value of each column that it becomes.
 *
 * @typedef {{names: string[], words: string[], levels: string[] | undefined, flagged: boolean, widths: number[],
 *   [key: string]: any}} Feature
 */

/**
 * Return the public box of encoded records.
 *
 * @param {Mechanism} mechanism
 * @returns {Box}
 */
export function boxOf(mechanism) {
  const { schema } = mechanism.parameters;
  return plainBox(mechanism, schema ? [0, featuresOf(schema).flatMap(({ widths }) => widths)] : undefined);
}

/**
 * Return one record as it is perturbed: encoded by the schema if there is one, and clipped to the box.
 *
 * @param {Mechanism} mechanism
 * @param {unknown} x values in the order of the columns, or an object by their names
 * @returns {number[]}
 */
export function encodeRecord(mechanism, x) {
  const box = boxOf(mechanism);
  return clipRecord(readRecord(x, mechanism.parameters.schema, mechanism.names, box.low.length), box);
}

/**
 * Return the metric epsilon per unit of the columns, which of a place is not the kilometer.
 *
 * @param {Mechanism} mechanism
 */
export function columnRate(mechanism) {
  const { unit, schema } = mechanism.parameters;
  const promised = plainRate(mechanism);
  const place = placeAlone(schema);
  return place ? placeRate(promised, unit, place.radius, place.weight ?? 1) : promised;
}

/**
 * Return what doubles may add to the distance of two encoded records: of places, the distance is that on the ground.
 *
 * @param {Mechanism} mechanism
 */
export function rounding({ parameters: { schema } }) {
  const place = placeAlone(schema);
  return place ? placeRounding(place.radius, place.weight ?? 1) : 0;
}

/**
 * Return a record as numbers: encoded by the schema if there is one, and as it is if not.
 *
 * @param {unknown} x
 * @param {any} schema
 * @param {string[] | null | undefined} names of the columns, without a schema
 * @param {number} columns without a schema
 * @returns {number[]}
 */
export function readRecord(x, schema, names, columns) {
  if (!schema) return plainRecord(x, names, columns);
  const features = featuresOf(schema);
  const values = valuesOf(x, features.flatMap((feature) => feature.names), columns);
  return features.flatMap((feature) => encode(feature, values.splice(0, feature.names.length)));
}

/** @param {any} schema @returns {Feature[]} */
function featuresOf(schema) {
  return checkedFeatures(schema).map((field) => {
    const { name, type, missing, weight = 1, other = "other", longitude, latitude } = field;
    const flagged = missing === "category";
    const listed = type === "boolean" ? ["false", "true"] : field.enum && [...field.enum, other];
    const levels = listed && [...new Set(flagged ? [...listed, "missing"] : listed)];
    const width = Math.sqrt(weight);
    const measured = [width, ...(type === "geopoint" ? [width] : []), ...(flagged ? [Math.sqrt(0.75 * weight)] : [])];
    return {
      ...field,
      names: longitude ? [longitude, latitude] : [name],
      levels,
      flagged,
      widths: levels?.map(() => Math.sqrt(weight / 2)) ?? measured,
    };
  });
}

/**
 * Return the columns that the values of a field become.
 *
 * @param {Feature} field
 * @param {any[]} values
 */
function encode(field, values) {
  const { name, type, levels, widths, flagged, words, fill, other = "other" } = field;
  if (levels) {
    const absent = levels.indexOf(flagged ? "missing" : fill);
    const known =
      type === "boolean"
        ? levels.indexOf(readTruth(values[0], field.truths))
        : readLevel(values[0], levels, words, levels.indexOf(other), absent);
    const level = known === undefined || known >= 0 ? known : absent;
    if (level !== undefined && level >= 0) return widths.map((width, i) => (i === level ? width : 0));
  } else {
    const positions = type === "geopoint" ? placePositions(field, values) : [position(field, values[0])];
    const [first] = positions;
    if (first >= 0) return widths.map((width, i) => (positions[i] ?? 0) * width);
    if (flagged && Number.isNaN(first)) return widths.map((width, i) => (i < positions.length ? 0.5 : 1) * width);
  }
  return fail("data", `column ${name} must hold a ${type}, got none`);
}

/**
 * Return how far a value is from the lower bound to the upper one, 0 to 1; NaN where it is missing.
 *
 * @param {Feature} field
 * @param {unknown} value
 * @returns {any} undefined where it is something else
 */
function position({ type, categories, minimum, maximum, fill, scale, words }, value) {
  const rank = (/** @type {unknown} */ one) => readLevel(one, categories, words, NaN, NaN);
  const read = type.startsWith("date") ? readDay : readNumber;
  /** @type {any[]} */
  const [number, filled, low, high] = categories
    ? [rank(value), rank(fill), 0, Math.max(categories.length - 1, 1)]
    : [read(value, words), ...[fill, minimum, maximum].map((one) => read(one, []))];
  if (number === undefined) return number;
  const inside = clip(Number.isNaN(number) ? filled : number, low, high);
  if (scale !== "log") return (inside / 2 - low / 2) / (high / 2 - low / 2);
  const unit = low > 0 && (high - low) / low < Infinity ? low : 1;
  return Math.min(Math.log1p((inside - low) / unit) / Math.log1p((high - low) / unit), 1);
}

/**
 * Return where a place is in the square around the disc, NaN where it is missing.
 *
 * @param {Feature} field
 * @param {any[]} values
 * @returns {any[]} undefined where it is something else
 */
function placePositions({ longitude, words, fill, center, radius }, values) {
  let [pair] = values;
  if (longitude) pair = values;
  else if (isMissing(pair) || ["", ...words].includes(pair.trim?.())) pair = [NaN, NaN];
  else pair = pair.split?.(",", 3) ?? (pair.lon === undefined ? listOf(pair) : [pair.lon, pair.lat]);
  const degrees = pair?.map((/** @type {unknown} */ one) => readNumber(one, words));
  if (degrees?.length !== 2 || degrees.includes(undefined)) return [];
  const [east, north] = degrees.every(Number.isFinite) ? degrees : (fill ?? [NaN, NaN]);
  return placePosition(east, north, center, radius);
}
