// Documents that a device agreed to: who signed them, and that none promises less than the one before.
//
// A device agrees to what the app tells it to join. After that the collector may have a new document; the device follows
// it if it is signed by the pinned key and asks for nothing more, and refuses it otherwise, whatever the collector says.

import { oneCampaign } from "./budget.js";
import { hex, sha256, toBase64, utf8 } from "./bytes.js";
import { checkAddress, openCampaign } from "./campaign.js";
import { refuse } from "./delivery.js";
import { badParameter, fail, part } from "./errors.js";
import { canonical } from "./json.js";
import { prepareReports } from "./mechanisms.js";
import { bytesOf, own, present, token } from "./state.js";

/** @import { Campaign, SignedCampaign } from "./campaign.js" */
/** @import { Answer } from "./delivery.js" */
/** @import { Reports } from "./mechanisms.js" */
/** @import { Agreed, State } from "./state.js" */
/** @import { Store } from "./stores.js" */

/**
 * @typedef {Reports & {campaign: Campaign, digest: string, mechanism: string,
 *   seal: typeof import("./hpke.js").seal | null}} Followed
 *   a document whose signature was checked, the digest of its mechanism, and all that its reports need
 * @typedef {(url: string, request: RequestInit, maxBytes?: number) => Promise<Answer>} Ask
 * @typedef {ReturnType<typeof agreementsOf>} Agreements
 */

const MAX_DOCUMENT = 8 << 20; // bytes

/**
 * Return the documents of one device, in its store.
 *
 * @param {Store} store
 * @param {string} publicKey
 * @param {Ask} ask
 * @param {boolean} several whether there is a limit over all campaigns, without which one is all
 */
export function agreementsOf(store, publicKey, ask, several) {
  /** @type {Map<string, Followed>} */
  const opened = new Map();
  let last = "";

  const state = async () => present(await store.read());

  /** @param {(state: State) => State} change */
  const update = (change) => store.update((state) => change(present(state)));

  /** Check who signed a document. @param {Uint8Array} envelope */
  const check = (envelope) => openCampaign(envelope, publicKey);

  /** Fetch a document and check who signed it. @param {string} url */
  const fetch = async (url) => {
    const { status, body } = await ask(checkAddress(url), {}, MAX_DOCUMENT);
    return status === 200 ? check(body) : refuse(url, status);
  };

  /**
   * Follow a document from now on, unless it asks for more than the one before.
   *
   * @param {SignedCampaign} signed
   * @param {string | null} url
   * @returns {Promise<Followed>}
   */
  const agree = async (signed, url) => {
    const { campaign, digest } = signed;
    const { id } = campaign;
    const before = own((await state()).campaigns, id);
    if (before && before.digest !== digest)
      (await part(import("./changes.js"))).checkNewer(campaign, (await open(before)).campaign);
    const { campaigns } = await update((state) => {
      const known = state.campaigns;
      if (own(known, id)?.digest !== before?.digest) return state; // another tab agreed meanwhile
      const [other] = Object.keys(known);
      if (!before) {
        checkOpen(campaign);
        if (other && !several) fail("campaign", oneCampaign(other, id));
      }
      const agreed = {
        deviceId: before?.deviceId ?? token(),
        digest,
        envelope: toBase64(signed.envelope),
        url: url ?? before?.url ?? null,
        digests: [...new Set(before?.digests).add(digest)],
      };
      return { ...state, campaigns: { ...known, [id]: agreed } };
    });
    return own(campaigns, id)?.digest === digest ? open(campaigns[id]) : agree(signed, url);
  };

  /**
   * Return the document of a campaign, and load all that its reports need: what cannot be loaded costs nothing. Its
   * signature is checked once in a process.
   *
   * @param {Agreed} agreed
   * @returns {Promise<Followed>}
   */
  const open = async ({ digest, envelope }) => {
    let followed = opened.get(digest);
    if (!followed) {
      const { campaign } = await check(bytesOf(envelope));
      followed = {
        campaign,
        digest,
        // All that decides what a report means.
        mechanism: hex(await sha256(utf8(canonical([campaign.mechanism, campaign.report_format])))),
        seal: campaign.shuffler && (await part(import("./hpke.js"))).seal,
        ...(await prepareReports(campaign.mechanism, campaign.report_format)),
      };
      opened.set(digest, followed);
    }
    return followed;
  };

  return {
    state,
    update,
    check,
    fetch,
    agree,
    open,

    /**
     * Agree to a document, which is the one that is meant from now on.
     *
     * @param {SignedCampaign} signed
     * @param {string | null} url
     */
    join: async (signed, url) => {
      const { campaign } = await agree(signed, url);
      last = campaign.id;
      return structuredClone(campaign);
    },

    /** Return a campaign of this device: by name, or the one that is meant. @param {string} [name] */
    find: async (name) => {
      const now = await state();
      const known = Object.keys(now.campaigns);
      const id = name ?? (last || (known.length === 1 ? known[0] : ""));
      if (!known.includes(id)) badParameter(`campaign must be one that was joined, of ${known}, got "${id}"`);
      return { state: now, ...(await open(now.campaigns[id])) };
    },
  };
}

/** Refuse a campaign that is closed, by the clock of this device. @param {Campaign} campaign */
export function checkOpen({ id, closes }) {
  if (!(Date.now() < Date.parse(closes)))
    fail("campaign", `campaign "${id}" must be open, got one that closed at ${closes} by the clock of this device`);
}
