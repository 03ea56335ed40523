// Documents that a device agreed to: who signed them, and that none promises less than the one before.
//
// A device agrees to what the app tells it to join. After that the collector may have a new document; the device follows
// it if it is signed by the pinned key and asks for nothing more, and refuses it otherwise, whatever the collector says.

import { hex, sha256, toBase64, utf8 } from "./bytes.js";
import { checkAddress, openCampaign, weakerThan } from "./campaign.js";
import { refuse } from "./delivery.js";
import { fail } from "./errors.js";
import { canonical } from "./json.js";
import { bytesOf, own, present, token } from "./state.js";

/** @import { Campaign, SignedCampaign } from "./campaign.js" */
/** @import { Answer } from "./delivery.js" */
/** @import { Agreed, State } from "./state.js" */
/** @import { Store } from "./stores.js" */

/**
 * @typedef {{campaign: Campaign, digest: string, mechanism: string}} Followed a document whose signature was checked, and
 *   the digest of its mechanism
 * @typedef {(url: string, request: RequestInit, maxBytes?: number) => Promise<Answer>} Ask
 */

const MAX_DOCUMENT = 8 << 20; // bytes

/** The documents of one device, in its store. */
export class Agreements {
  #store;
  #publicKey;
  #ask;
  #several;
  /** @type {Map<string, Followed>} */
  #opened = new Map();
  #last = "";

  /**
   * @param {Store} store
   * @param {string} publicKey
   * @param {Ask} ask
   * @param {boolean} several whether there is a limit over all campaigns, without which one is all
   */
  constructor(store, publicKey, ask, several) {
    this.#store = store;
    this.#publicKey = publicKey;
    this.#ask = ask;
    this.#several = several;
  }

  async state() {
    return present(await this.#store.read());
  }

  /** @param {(state: State) => State} change */
  update(change) {
    return this.#store.update((state) => change(present(state)));
  }

  /** Fetch a document and check who signed it. @param {string} url */
  async fetch(url) {
    const { status, body } = await this.#ask(checkAddress(url), {}, MAX_DOCUMENT);
    return status === 200 ? this.check(body) : refuse(url, status);
  }

  /** Check who signed a document. @param {Uint8Array} envelope */
  check(envelope) {
    return openCampaign(envelope, this.#publicKey);
  }

  /**
   * Agree to a document, which is the one that is meant from now on.
   *
   * @param {SignedCampaign} signed
   * @param {string | null} url
   */
  async join(signed, url) {
    const { campaign } = await this.#agree(signed, url);
    this.#last = campaign.id;
    return structuredClone(campaign);
  }

  /**
   * Follow a document from now on, unless it asks for more than the one before.
   *
   * @param {SignedCampaign} signed
   * @param {string | null} url
   * @returns {Promise<Followed>}
   */
  async #agree(signed, url) {
    const { campaign, digest } = signed;
    const { id } = campaign;
    const before = own((await this.state()).campaigns, id);
    const reasons = before && weakerThan(campaign, (await this.open(before)).campaign).join("; ");
    if (reasons)
      fail(
        "campaign",
        `campaign "${id}" must promise no less than the document that was agreed to: ${reasons}; nothing was sent`,
      );
    const { campaigns } = await this.update((state) => {
      const known = state.campaigns;
      if (own(known, id)?.digest !== before?.digest) return state; // another tab agreed meanwhile
      if (!before) checkOpen(campaign);
      const [other] = Object.keys(known);
      if (!before && other && !this.#several)
        fail(
          "campaign",
          `a device without epsilonLimit takes part in one campaign, "${other}", got "${id}": give what all may cost`,
        );
      const agreed = {
        deviceId: before?.deviceId ?? token(),
        digest,
        envelope: toBase64(signed.envelope),
        url: url ?? before?.url ?? null,
        digests: [...new Set(before?.digests).add(digest)],
      };
      return { ...state, campaigns: { ...known, [id]: agreed } };
    });
    return own(campaigns, id)?.digest === digest ? this.open(campaigns[id]) : this.#agree(signed, url);
  }

  /** Return a campaign of this device: by name, or the one that is meant. @param {string} [name] */
  async find(name) {
    const state = await this.state();
    const known = Object.keys(state.campaigns);
    const id = name ?? (this.#last || (known.length === 1 ? known[0] : ""));
    if (!known.includes(id)) fail("parameter", `campaign must be one that was joined, of ${known}, got "${id}"`);
    return { id, state, agreed: state.campaigns[id], followed: await this.open(state.campaigns[id]) };
  }

  /**
   * Return the document of a campaign; its signature is checked once in a process.
   *
   * @param {Agreed} agreed
   * @returns {Promise<Followed>}
   */
  async open({ digest, envelope }) {
    let followed = this.#opened.get(digest);
    if (!followed) {
      const { campaign } = await this.check(bytesOf(envelope));
      // All that decides what a report means.
      followed = { campaign, digest, mechanism: hex(await sha256(utf8(canonical(campaign.mechanism)))) };
      this.#opened.set(digest, followed);
    }
    return followed;
  }

  /**
   * Fetch the document that the collector has now, and agree to it or refuse.
   *
   * @param {string} id
   * @param {Agreed} agreed
   */
  async renew(id, { url }) {
    if (!url)
      return fail("delivery", `the collector has another document of campaign "${id}": join it, the report is kept`, {
        final: true,
      });
    const signed = await this.fetch(url);
    if (signed.campaign.id !== id) fail("campaign", `${url} must have campaign "${id}", got another: nothing was sent`);
    return this.#agree(signed, url);
  }
}

/** Refuse a campaign that is closed, by the clock of this device. @param {Campaign} campaign */
export function checkOpen({ id, closes }) {
  if (!(Date.now() < Date.parse(closes)))
    fail("campaign", `campaign "${id}" must be open, got one that closed at ${closes} by the clock of this device`);
}
