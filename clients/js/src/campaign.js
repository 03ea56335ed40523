// The signed document of a campaign: who signed it, what it says, and whether it promises less than one before.
//
// The envelope is DSSE (Dead Simple Signing Envelope, version 1.0): the exact bytes are signed, never JSON that was
// written again. The document is read strictly, and its promise, in numbers, must be the one of its parameters.

import { concat, fromBase64, hex, importKey, keyBytes, sha256, utf8 } from "./bytes.js";
import { badParameter, fail, ShoalError } from "./errors.js";
import { placeAlone } from "./fields.js";
import { canonical, isObject, readJson } from "./json.js";
import { MECHANISMS, prepareReports } from "./mechanisms.js";
import { bitsOf } from "./reportFormat.js";
import { own } from "./state.js";

/**
 * @typedef {{notion: "local" | "metric", epsilon: number, delta: 0, adjacency: "substitute", unit: string,
 *   seeded: false, mu: null, privacy_unit: object, slack?: number}} Guarantee slack: of metric promises
 * @typedef {{origin: number, step: number, first: number, stride: number, levels: number}} ReportColumn
 * @typedef {{version: 1, bytes: number, columns: ReportColumn[], reported: [number, number] | null,
 *   clips: boolean}} ReportFormat
 * @typedef {{schema_version: 1, mechanism: string, parameters: Record<string, any>, columns: number | null,
 *   names: string[] | null, guarantee: Guarantee}} Mechanism
 * @typedef {{operator: string, batch_size: number, key: string}} Shuffler
 * @typedef {{version: 1, id: string, title: string, purpose: string, mechanism: Mechanism, closes: string,
 *   reports_url: string, results_url: string, unit: "device" | "person", reports_per_device: number,
 *   revision: number, device_ids: boolean, origins: string[], open_intake: boolean, shuffler: Shuffler | null,
 *   guarantee: Guarantee, report_format: ReportFormat}} Campaign
 * @typedef {{campaign: Campaign, digest: string, envelope: Uint8Array<ArrayBuffer>}} SignedCampaign
 * @typedef {(value: any, whole: any) => unknown} Rule
 */

const TYPE = "application/vnd.shoal.campaign+json";
const MAX_ENVELOPE = 8 << 20; // bytes: partitions of many columns take 100 kB
// How points of small order begin: anybody can sign for such a key, as for one of zeros.
const SMALL_ORDER = /^(0[01]000000|e[cde]ffffff|26e8958f|c7176a70)/;
// Nobody on the way reads or changes what is sent there: https, or http on the own machine; no query, no password.
const ADDRESS = /^(https:\/\/[\w.:[\]-]+(?=\/|$)|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?=[:/]|$))[!"$->A-[\]-~]*$/;

/** @param {RegExp} pattern @returns {Rule} */
const matches = (pattern) => (value) => typeof value === "string" && pattern.test(value);
/** @param {number} [least] @param {number} [most] @returns {Rule} */
const whole = (least = 1, most = 2 ** 53) => (value) =>
  Number.isSafeInteger(value) && value >= least && value <= most;
/** @param {Rule} rule @returns {Rule} */
const nullOr = (rule) => (value) => value === null || rule(value, 0);
/** @param {Rule} rule @returns {Rule} */
const list = (rule) => (value) => Array.isArray(value) && value.every(rule);
/** @param {Record<string, Rule>} rules @returns {Rule} */
const fields = (rules) => (value) => !brokenField(rules, value);
/** @type {Rule} */
const text = matches(/^[^\p{Cc}\p{Cs}]+$/u);
/** @type {Rule} */
const flag = (value) => value === !!value;
/** @type {Rule} */
const one = (value) => value === 1;
/** @type {Rule} */
const positive = (value) => Number.isFinite(value) && value > 0 && 1 / value < Infinity;

/** @type {Record<string, Rule>} */
const SHUFFLER = {
  operator: text,
  batch_size: whole(2, 1e5),
  key: (value) => keyBytes("x25519:", value),
};
/** @type {Record<string, Rule>} */
const MECHANISM = {
  schema_version: one,
  mechanism: (value) => text(value, 0) && own(MECHANISMS, value),
  parameters: (value, { mechanism }) =>
    isObject(value) && hasNames(value, ["bounds", "epsilon", "schema", ...MECHANISMS[mechanism][0]]),
  columns: nullOr(whole()),
  names: nullOr(list(text)),
  guarantee: (value, mechanism) => canonical(value) === canonical(promiseOf(mechanism)),
};
/** @type {Record<string, Rule>} */
const CAMPAIGN = {
  version: one,
  id: matches(/^[a-z0-9][a-z0-9-]{0,63}$/),
  title: text,
  purpose: text,
  mechanism: fields(MECHANISM),
  closes: matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  reports_url: matches(ADDRESS),
  results_url: matches(ADDRESS),
  unit: matches(/^(device|person)$/),
  reports_per_device: whole(1, 1e6),
  revision: whole(),
  device_ids: (value, { shuffler }) => flag(value, 0) && !(value && shuffler),
  origins: list(text),
  open_intake: flag,
  shuffler: nullOr(fields(SHUFFLER)),
  guarantee: (value, campaign) => canonical(value) === canonical(guaranteeOf(campaign)),
  report_format: isObject,
};

/**
 * Check the signature of a campaign, then read it.
 *
 * @param {Uint8Array} envelope as it was received
 * @param {string} publicKey who must have signed it: "ed25519:..."; it comes with the app, never with the document
 * @returns {Promise<SignedCampaign>} with the digest that names this very document
 */
export async function openCampaign(envelope, publicKey) {
  const key = signerKey(publicKey);
  const bytes = Uint8Array.from(envelope);
  const plain = bytes.length > MAX_ENVELOPE ? null : readJson(bytes);
  const payload = fromBase64(plain?.payload);
  const signature = fromBase64(plain?.signatures?.[0]?.sig);
  if (
    !payload ||
    !signature ||
    !hasNames(plain, ["payload", "payloadType", "signatures"]) ||
    plain.payloadType !== TYPE ||
    plain.signatures.length !== 1
  )
    return differs("something else");
  const message = concat(utf8(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload);
  // The key's name in the envelope is not signed: only the pinned key decides.
  if (!(await isSigned(key, signature, message)))
    fail(
      "campaign",
      `a campaign must be signed by ${publicKey}, got another signer or changed bytes: nothing was sent`,
    );
  const campaign = readJson(payload);
  let broken;
  try {
    broken = brokenField(CAMPAIGN, campaign) ?? (await brokenFormat(campaign));
  } catch (failure) {
    if (failure instanceof ShoalError) throw failure;
    broken = "mechanism"; // parts of it are missing
  }
  if (broken) differs(`another ${broken}`);
  return { campaign, digest: hex(await sha256(payload)), envelope: bytes };
}

/**
 * Return what all reports of one unit together promise to it: their epsilons and slacks add up.
 *
 * @param {Campaign} campaign
 * @returns {Guarantee}
 */
export function guaranteeOf({ mechanism, reports_per_device }) {
  const report = promiseOf(mechanism);
  const { epsilon, slack } = report;
  return { ...report, epsilon: reports_per_device * epsilon, ...(slack && { slack: reports_per_device * slack }) };
}

/**
 * Return the promise of one report, from the parameters of its mechanism alone; but the slack of a metric one, which
 * takes the lattice, is that of the document (metric.js compares it).
 *
 * @param {Mechanism} mechanism
 * @returns {Guarantee}
 */
export function promiseOf({ guarantee, parameters: { bounds, epsilon, level = null, radius = null, schema, truncate, unit } }) {
  const metric = unit !== undefined;
  const promised = level === null ? epsilon : level / radius;
  const place = placeAlone(schema);
  if (
    ![epsilon, promised].every(positive) ||
    (level === null ? radius !== null : ![level, radius].every(positive) || epsilon !== 1) ||
    (truncate && truncate !== "resample") ||
    (bounds && schema) ||
    schema?.shoal?.seeded || // its bounds show records to whoever knows the seed
    (metric && unit !== "" && !text(unit, 0)) ||
    (unit && schema && !place) // its own distance has none
  )
    differs("other parameters");
  return {
    notion: metric ? "metric" : "local",
    epsilon: promised,
    delta: 0,
    adjacency: "substitute",
    unit: unit || (metric && place ? "km" : ""),
    seeded: false,
    mu: null,
    privacy_unit: { kind: "record", id_column: "", max_rows: null, enforced: true },
    ...(metric && { slack: guarantee.slack }),
  };
}

/** @param {string} got @returns {never} */
const differs = (got) =>
  fail(
    "campaign",
    `a campaign must be the signed document that \`shoal collect new\` wrote, got ${got}: read it with the version of shoal that wrote it`,
  );

/** Return an address that nobody on the way can read or change. @param {string} url */
export const checkAddress = (url) =>
  matches(ADDRESS)(url, 0)
    ? url
    : badParameter("url must be an https address without a query, or http on the own machine");

/**
 * Read the key that a device is shipped with.
 *
 * @param {unknown} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function signerKey(text) {
  const key = keyBytes("ed25519:", text);
  return key && !SMALL_ORDER.test(hex(key))
    ? key
    : badParameter('publicKey must be "ed25519:" and 43 letters of base64url, of a key that somebody owns');
}

/**
 * @param {Uint8Array<ArrayBuffer>} key
 * @param {Uint8Array<ArrayBuffer>} signature
 * @param {Uint8Array<ArrayBuffer>} message
 */
async function isSigned(key, signature, message) {
  try {
    const signer = await importKey(key, "Ed25519", "verify");
    return await crypto.subtle.verify("Ed25519", signer, signature, message);
  } catch (failure) {
    if (/** @type {Error} */ (failure).name === "NotSupportedError")
      fail("campaign", "this browser cannot check Ed25519 signatures: update it");
    return false; // no point of the curve
  }
}

/**
 * Return what is wrong with a report format: all that reports and their privacy depend on follows from the mechanism.
 *
 * @param {Campaign} campaign
 */
async function brokenFormat({ mechanism, report_format: format }) {
  const {
    box: { low, high },
  } = await prepareReports(mechanism, format);
  if (!low.every((end, i) => Number.isFinite(high[i] - end) && end <= high[i])) return "box";
  const count = mechanism.parameters.partitions ? 2 : low.length;
  const bits = format.columns.reduce((sum, column) => sum + bitsOf(column), 0);
  return format.columns.length === count && format.bytes === (Math.ceil(bits / 8) || 1) ? undefined : "report_format";
}

/** Return whether a value has these names and no other. @param {object} value @param {string[]} names */
const hasNames = (value, names) => canonical(Object.keys(value).sort()) === canonical(names.sort());

/**
 * Return the first field that breaks its rule.
 *
 * @param {Record<string, Rule>} rules
 * @param {unknown} value
 */
const brokenField = (rules, value) =>
  isObject(value) && hasNames(value, Object.keys(rules))
    ? Object.keys(rules).find((name) => !rules[name](value[name], value))
    : "list of fields";
