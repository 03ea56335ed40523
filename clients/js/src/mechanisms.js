// The report of one record, on the device: the mechanisms that a campaign can name.
//
// What privacy depends on is computed from epsilon and the box, exactly, and never read from the document: noise scales,
// thresholds, lattices of records. Of the report format, only the number of cells of a window is taken, which promises
// nothing; a format that no report of the mechanism could be written in is refused before anything is drawn. Words are
// used in the order in which Python uses them for one record.

import { part } from "./errors.js";
import { readerOf } from "./records.js";

/** @typedef {import("./records.js").Mechanism & {mechanism: string, guarantee: {slack?: number}}} MechanismDocument */
/** @typedef {import("./records.js").Box} Box */
/** @typedef {import("./records.js").Reader} Reader */
/** @typedef {import("./reportFormat.js").ReportFormat} ReportFormat */
/** @typedef {import("./words.js").RandomSource} RandomSource */
/** @typedef {(record: number[], source: RandomSource) => number[]} Draw */
/**
 * What reports of a mechanism need: the public box, a record encoded and clipped to it, and the draw.
 *
 * @typedef {{box: Box, encode: (x: unknown) => number[], draw: Draw}} Reports
 */
/**
 * A module that checks the format of a mechanism and returns what draws its reports.
 *
 * @typedef {{prepare: (mechanism: MechanismDocument, format: ReportFormat, reader: Reader) => Draw}} Family
 */

const METRIC = ["level", "radius", "unit"];
const columns = () => import("./columns.js");

/**
 * Every mechanism that a campaign can name: its parameters besides bounds, epsilon and schema, and the module that a
 * device loads for it.
 *
 * @type {Record<string, [parameters: string[], load: () => Promise<Family>]>}
 */
export const MECHANISMS = {
  Duchi: [[], () => import("./duchi.js")],
  Hybrid: [["columns"], columns],
  Laplace: [[...METRIC, "truncate"], () => import("./laplace.js")],
  PartitionResponse: [["first_partition", "n_clusters", "partitions"], () => import("./partitions.js")],
  Piecewise: [["columns"], columns],
  PlanarLaplace: [METRIC, () => import("./planar.js")],
  SphericalLaplace: [METRIC, () => import("./spherical.js")],
  SquareWave: [[], columns],
};

/**
 * Check a mechanism with its report format, and load what its reports need.
 *
 * @param {MechanismDocument} mechanism
 * @param {ReportFormat} format
 * @returns {Promise<Reports>}
 */
export async function prepareReports(mechanism, format) {
  const { prepare } = await part(MECHANISMS[mechanism.mechanism][1]());
  const reader = await readerOf(mechanism);
  return {
    box: reader.boxOf(mechanism),
    encode: (x) => reader.encodeRecord(mechanism, x),
    draw: prepare(mechanism, format, reader),
  };
}
