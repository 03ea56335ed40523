// What a device may still report: by the campaign, and by its own limit over all campaigns.
//
// Epsilons are added up exactly, in units of 2^-1074: every double is a whole number of them.

import { promiseOf } from "./campaign.js";
import { badParameter, fail } from "./errors.js";

/** @import { Campaign } from "./campaign.js" */
/** @import { KeptReport } from "./state.js" */

/** @typedef {{epsilon: number, metricEpsilon?: number, metricUnit?: string}} Limits */

const TOLERANCE = 10n ** 12n; // one part in so many, as ledgers have it: ten reports of 0.1 fit into 1.0

/**
 * Return the limit over all campaigns, checked.
 *
 * @param {number | Limits | null} limit
 * @returns {Limits | null}
 */
export function checkLimits(limit) {
  const limits = typeof limit === "number" ? { epsilon: limit } : limit;
  if (limits)
    for (const epsilon of [limits.epsilon, limits.metricEpsilon ?? 1])
      if (!(Number.isFinite(epsilon) && epsilon > 0)) badParameter("epsilonLimit must be finite numbers > 0");
  return limits;
}

/**
 * Refuse one more report where the campaign, or the device's own limit, does not allow it.
 *
 * @param {Campaign} campaign
 * @param {KeptReport[]} reports all of this device
 * @param {Limits | null} limits
 */
export function charge(campaign, reports, limits) {
  const { id, unit, reports_per_device: allowed } = campaign;
  const mine = reports.filter((report) => report.campaign === id);
  const promise = promiseOf(campaign.mechanism);
  const all = [...reports, promise];
  /** @param {unknown} broken @param {string | undefined} reason */
  const refuse = (broken, reason) => broken && fail("budget", `${reason}: nothing was drawn`);
  refuse(
    mine.length >= allowed,
    `campaign "${id}" allows ${allowed} reports of a ${unit}, ${mine.length} drawn of other values`,
  );
  refuse(
    exceeds(add([...mine, promise]), allowed * promise.epsilon),
    `campaign "${id}" allows ${allowed} times epsilon = ${promise.epsilon} of a ${unit}, which was spent`,
  );
  const another = reports.find((report) => report.campaign !== id);
  refuse(!limits && another, another && oneCampaign(another.campaign, id));
  if (!limits) return;
  const { epsilon, metricEpsilon = 0, metricUnit } = limits;
  /** @param {string} notion */
  const of = (notion) => all.filter((report) => report.notion === notion);
  const metric = of("metric");
  refuse(
    exceeds(add(of("local")), epsilon) ||
      exceeds(add(metric), metricEpsilon) ||
      metric.some((report) => !report.unit || report.unit !== metricUnit),
    "epsilonLimit of this device, over all campaigns, allows no such report (of metric ones in metricUnit)",
  );
}

/** Say why a device without a limit refuses a campaign. @param {string} other @param {string} id */
export const oneCampaign = (other, id) =>
  `a device without epsilonLimit takes part in one campaign, "${other}", got "${id}": give what all may cost`;

/** Add up epsilons. @param {{epsilon: number}[]} reports */
const add = (reports) => reports.reduce((sum, { epsilon }) => sum + exact(epsilon), 0n);

/** @param {bigint} sum @param {number} limit */
const exceeds = (sum, limit) => sum * TOLERANCE > exact(limit) * (TOLERANCE + 1n);

/** Return a positive double in units of 2^-1074. @param {number} value */
function exact(value) {
  let places = 1074n;
  for (; !Number.isInteger(value); places -= 1n) value *= 2;
  return BigInt(value) << places;
}
