// What a device keeps, as its store has it: plain values, bytes in base64. No record is in it.

import { fromBase64, toBase64, toBase64Url } from "./bytes.js";
import { badParameter } from "./errors.js";

/**
 * @typedef {{digest: string, envelope: string, url: string | null, deviceId: string, digests: string[]}} Agreed
 *   a campaign: the document agreed to last, where later ones are, and the digests of all documents agreed to
 * @typedef {{key: string, campaign: string, mechanism: string, value: string, body: string, sealed: string | null,
 *   notion: string, unit: string, epsilon: number, slack: number, acknowledged: boolean}} KeptReport
 *   what it answers, its idempotency key and bytes, what it cost, and whether it arrived
 * @typedef {{digest: string, release: any}} Published results, and the digest of the document that they answer
 * @typedef {{version: 1, publicKey: string, secret: string, campaigns: Record<string, Agreed>, reports: KeptReport[],
 *   results: Record<string, Published>}} State
 */

/** Return the state of a new device. @param {string} publicKey @returns {State} */
export const newState = (publicKey) => ({
  version: 1,
  publicKey,
  secret: toBase64(randomBytes(32)),
  campaigns: {},
  reports: [],
  results: {},
});

/** Return what a store has kept; one that was emptied meanwhile has forgotten the budget. @param {State} [state] */
export const present = (state) => state ?? forgotten("nothing");

/**
 * Return what an object holds under a name, which may be "constructor".
 *
 * @template T
 * @param {Record<string, T>} values
 * @param {string} name
 * @returns {T | undefined}
 */
export const own = (values, name) => (Object.hasOwn(values, name) ? values[name] : undefined);

/** Return 32 letters that nobody guesses: idempotency keys and device ids. */
export const token = () => toBase64Url(randomBytes(24));

/** @param {string} kept in base64 */
export const bytesOf = (kept) => fromBase64(kept) ?? forgotten("damaged bytes");

/** @param {string} got @returns {never} */
const forgotten = (got) => badParameter(`store must hold what was kept, got ${got}`);

/** @param {number} count */
const randomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
