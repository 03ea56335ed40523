// What <shoal-report> says about a campaign, in words of people who never heard of epsilon.
//
// A promise is told as a game: someone sees all that leaves the device, and must say which of two answers was given.
// With a factor of at most e^epsilon between the two, they are right at most e^epsilon / (1 + e^epsilon) of the time.

import { guaranteeOf } from "./campaign.js";
import { featureFields } from "./fields.js";
import { decodePoints } from "./reportFormat.js";
import { boxOf, columnRate } from "./schema.js";

/** @import { Campaign } from "./campaign.js" */

const SOMEONE = "Someone who sees all that is sent, and holds two answers for equally likely, picks the true one";

/** @param {number} value @returns {string} three digits of it */
const short = (value) => String(Number(value.toPrecision(3)));

/** @param {number} value @returns {string} three digits, rounded down: farther apart, guesses are right more often */
const below = (value) => {
  const near = +value.toPrecision(3);
  return short(near > value * (1 + 1e-12) ? near - 10 ** (Math.floor(Math.log10(value)) - 2) : near);
};

/** @param {number} count @param {string} word @returns {string} */
export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/**
 * Say how often a guess between two answers is right, at most; rounded up.
 *
 * @param {number} epsilon between the two
 * @returns {string}
 */
export function guesses(epsilon) {
  const right = Math.ceil(100 / (1 + Math.exp(-epsilon)) - 1e-9);
  return right > 99 ? "nearly always" : `at most ${right} times out of 100`;
}

/** @param {number} epsilon @returns {string} what to measure the guesses by */
const blind = (epsilon) => `A blind guess is right 50 times.${epsilon >= 4 ? " That is little protection." : ""}`;

/**
 * Say what is promised for all reports of a device together.
 *
 * @param {Campaign} campaign
 * @returns {string[]}
 */
export function promise(campaign) {
  const { notion, epsilon, unit, slack = 0 } = guaranteeOf(campaign);
  const { mechanism } = campaign;
  if (notion !== "metric") return [`${SOMEONE} ${guesses(epsilon)}. ${blind(epsilon)}`];
  const { schema } = mechanism.parameters;
  const rate = columnRate(mechanism) * campaign.reports_per_device;
  const { low, high } = boxOf(mechanism); // answers are rounded to points in it: its diameter covers that too
  const widest = guesses(rate * Math.hypot(...high.map((end, i) => end - /** @type {number} */ (low[i]))));
  /** @param {number} times */
  const apart = (times) => `${below(times / epsilon)} ${/^\d/.test(unit) ? "times " : ""}${unit}`.trim();
  // Two answers to one question are at most the root of its weight apart, missing ones included.
  const roots = schema ? featureFields(schema).map(({ weight = 1 }) => Math.sqrt(weight)) : [];
  const question = rate * Math.max(...roots) + slack;
  const near = `${guesses(1 + slack)} if they are ${apart(1)} apart, and ${guesses(2 + slack)} if they are ${apart(2)} apart`;
  return [
    schema && !unit
      ? `${SOMEONE} ${guesses(question)} if they differ in one question only. ${blind(question)}`
      : `${SOMEONE} ${near}. ${blind(1)}`,
    `The more two answers differ, the easier it is: ${widest} for those that differ most.`,
  ];
}

/**
 * Say what leaves the device, line by line.
 *
 * @param {Campaign} campaign
 * @returns {string[]}
 */
export function whatLeaves(campaign) {
  const { reports_per_device: most, report_format: format, shuffler, device_ids: counted, unit } = campaign;
  const lines = [
    `${most === 1 ? "One report" : `At most ${plural(most, "report")}`} of ${plural(format.bytes, "byte")}, made of ` +
      "your answer and of random noise that is drawn on this device.",
    ...promise(campaign),
  ];
  if (unit === "person") lines.push("This counts for you as a person: please report from one device only.");
  if (counted) lines.push("A random number of this device, so that the server can count its reports.");
  lines.push(
    shuffler
      ? `The report is sealed. It goes to ${new URL(campaign.reports_url).host}, a relay run by ${shuffler.operator}, ` +
          "which sees your network address and cannot read the report. " +
          `It waits until there are ${shuffler.batch_size}, mixes them, and passes them on ` +
          "without addresses."
      : "The server sees your network address, as that of every visitor; it is not stored with the report.",
  );
  return lines;
}

/** What stays on the device, line by line. */
export const WHAT_STAYS = [
  "Your true answer. It is not sent and not saved: when you leave this page, it is gone.",
  "Your cluster. It is found on this device, and nobody is told.",
  "A note of what was sent, so that nobody can ask twice. It is lost if you delete the data of this site: please do " +
    "not report again then.",
];

/**
 * Say what a report means that was drawn.
 *
 * @param {Campaign} campaign
 * @param {Uint8Array} report the bytes
 * @returns {string}
 */
export function reportWords(campaign, report) {
  const { mechanism, report_format: format, shuffler } = campaign;
  const sealed = shuffler ? " It left sealed: the relay cannot read it." : "";
  const points = decodePoints(format, report);
  if (mechanism.mechanism === "PartitionResponse") {
    return (
      `It says: on map number ${points[0]}, color number ${points[1]}. There are ${format.columns[0].levels} public ` +
      `maps of all possible answers, in ${format.columns[1].levels} colors. The color may be that of your answer, or ` +
      `one drawn at random.${sealed}`
    );
  }
  const names = mechanism.parameters.schema ? null : (mechanism.names ?? points.map((_, i) => `Number ${i + 1}`));
  const values = points.map((point, i) => (names ? `${names[i]} ${short(point)}` : short(point)));
  return `It says: ${values.join(", ")}. That is your answer after the noise${names ? "" : ", as numbers"}.${sealed}`;
}

/**
 * Return how many clusters results have, undefined where they do not say.
 *
 * @param {{values: any}} release as JSON has it, an array as its shape and data
 * @returns {number | undefined}
 */
export function clusterCount({ values: { centers, sizes, strata } }) {
  const add = (/** @type {number} */ sum, /** @type {any} */ one) => sum + one.sizes.shape[0];
  const count = strata ? strata.reduce(add, 0) : (centers ?? sizes)?.shape?.[0];
  return Number.isSafeInteger(count) ? count : undefined; // results are not signed: no text of theirs is shown
}
