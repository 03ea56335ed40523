// A document of a campaign that has changed: fetched again, and refused where it promises less than the one before.

import { roundedUp } from "./errors.js";
import { canonical } from "./json.js";
import { fail } from "./refusals.js";

/** @import { Agreements } from "./agreements.js" */
/** @import { Campaign, Guarantee } from "./campaign.js" */
/** @import { Agreed } from "./state.js" */

/**
 * Refuse a newer document that promises less than the one that was agreed to.
 *
 * @param {Campaign} newer
 * @param {Campaign} earlier
 */
export function checkNewer(newer, earlier) {
  const reasons = weakerThan(newer, earlier).join("; ");
  if (reasons)
    fail(
      "campaign",
      `campaign "${newer.id}" must promise no less than the document that was agreed to: ${reasons}; nothing was sent`,
    );
}

/**
 * Fetch the document that the collector has now, and agree to it or refuse.
 *
 * @param {Agreements} agreements
 * @param {string} id
 * @param {Agreed} agreed
 */
export async function renew(agreements, id, { url }) {
  if (!url)
    return fail("delivery", `the collector has another document of campaign "${id}": join it, the report is kept`, {
      final: true,
    });
  const signed = await agreements.fetch(url);
  if (signed.campaign.id !== id) fail("campaign", `${url} must have campaign "${id}", got another: nothing was sent`);
  return agreements.agree(signed, url);
}

/**
 * Return whether a number of a promise is larger than before, and a sentence that says so.
 *
 * @param {"epsilon" | "slack"} name
 * @param {string} which
 * @param {Guarantee} newer
 * @param {Guarantee} earlier
 * @returns {[boolean, string]}
 */
const grown = (name, which, { [name]: now = 0 }, { [name]: then = 0 }) => [
  now > then,
  `${name} of ${which} is ${roundedUp(now)}, above ${roundedUp(then)}`,
];

/**
 * Say why a device that agreed to an earlier document must not follow a newer one.
 *
 * @param {Campaign} newer
 * @param {Campaign} earlier
 * @returns {string[]} empty if it asks for nothing more and promises nothing less
 */
export function weakerThan(newer, earlier) {
  const [report, before] = [newer.mechanism.guarantee, earlier.mechanism.guarantee];
  const [all, allBefore] = [newer.guarantee, earlier.guarantee];
  /** @param {(campaign: Campaign) => unknown} part */
  const differ = (part) => canonical(part(newer)) !== canonical(part(earlier));
  /** @type {[unknown, string][]} */
  const reasons = [
    [newer.id !== earlier.id, "it is another campaign"],
    [newer.revision < earlier.revision, `revision ${newer.revision} is older than ${earlier.revision}`],
    [
      newer.revision === earlier.revision && differ((campaign) => campaign),
      `revision ${newer.revision} was something else before`,
    ],
    [newer.purpose !== earlier.purpose, "it has another purpose"],
    [newer.unit !== earlier.unit, `its budget is that of a ${newer.unit}, not of a ${earlier.unit}`],
    [newer.device_ids && !earlier.device_ids, "it asks for a number of the device"],
    [earlier.shuffler && !newer.shuffler, "its reports are no longer shuffled"],
    [
      newer.shuffler && differ((campaign) => campaign.shuffler),
      "its reports are shuffled by others, in other batches or for other eyes",
    ],
    [
      // The operator's name is a word; the address is where reports go, with their senders'.
      newer.shuffler && !differ((campaign) => campaign.shuffler) && newer.reports_url !== earlier.reports_url,
      "its reports go elsewhere, not to the relay that was agreed to",
    ],
    [newer.shuffler && newer.open_intake && !earlier.open_intake, "anybody may fill its batches, without a key"],
    [
      report.notion !== before.notion || report.unit !== before.unit,
      `its promise is ${report.notion}, not ${before.notion}, or of another unit`,
    ],
    grown("epsilon", "a report", report, before),
    grown("epsilon", "all reports", all, allBefore),
    grown("slack", "a report", report, before),
    grown("slack", "all reports", all, allBefore),
    [
      differ(({ mechanism: { columns, names, parameters } }) => [columns, names, parameters.bounds, parameters.schema]),
      "it asks for another record",
    ],
    // Also one with a smaller epsilon: each value would be drawn again, and cost again.
    [
      differ((campaign) => [campaign.mechanism, campaign.report_format]),
      "its reports come from another mechanism",
    ],
  ];
  return reasons.filter(([holds]) => holds).map(([, reason]) => reason);
}
