// A device that takes part in campaigns: one store, one report a value, the same bytes until they arrive.
//
// A value that never changes costs epsilon once, however often it is asked for and sent (proofs/reports.md, "Sent
// again"). The order is: see that the campaign is open and the budget allows it, draw, keep, seal and keep that, send.
// Nothing is sent that is not kept; nothing that a server answers changes what is sent. No record is kept: a value is
// named by a hash that is keyed by a secret of the store.

import { agreementsOf, checkOpen } from "./agreements.js";
import { charge, checkLimits } from "./budget.js";
import { concat, hex, hmac, keyBytes, toBase64, utf8 } from "./bytes.js";
import { checkAddress, promiseOf, signerKey } from "./campaign.js";
import { ask, checkRetries, isStored, refuse } from "./delivery.js";
import { badParameter, fail, part, ShoalError } from "./errors.js";
import { encodeIndices } from "./reportFormat.js";
import { bytesOf, newState, own, token } from "./state.js";
import { secureWords } from "./words.js";

/** @import { Limits } from "./budget.js" */
/** @import { Ask, Followed } from "./agreements.js" */
/** @import { Campaign } from "./campaign.js" */
/** @import { Retries } from "./delivery.js" */
/** @import { Agreed, KeptReport, Published } from "./state.js" */
/** @import { Store } from "./stores.js" */

/**
 * @typedef {{campaign: string, report: Uint8Array, sealed: Uint8Array | null, duplicate: boolean, sent: boolean}} Receipt
 *   report: as it was drawn; sealed: as a shuffler gets it; duplicate: whether this value was reported before, so that
 *   nothing was spent; sent: whether the collector has said that it stored the report
 * @typedef {{campaign: Campaign, digest: string, drawn: number, acknowledged: number, epsilon: number,
 *   slack: number}} CampaignStatus
 * @typedef {Record<string, unknown> | readonly unknown[]} Values of a record, by name or in order
 * @typedef {{store: Store, publicKey?: string, ingestKey?: string | Record<string, string>,
 *   epsilonLimit?: number | Limits | null, fetch?: typeof globalThis.fetch, retries?: Partial<Retries>}} Options
 */

/** Takes part in signed campaigns: reports a value once, and finds its cluster. */
export class Device {
  #agreements;
  #ingestKey;
  #limits;
  /** @type {Ask} */
  #ask;

  /**
   * For `Device.open`, which looks into the store first.
   *
   * @param {Options & {publicKey: string}} options
   */
  constructor({ store, publicKey, ingestKey = "", epsilonLimit = null, fetch = globalThis.fetch.bind(globalThis), retries }) {
    if (!Object.values(ingestKey).every((key) => /^[!-~]*$/.test(key))) // of one key, its letters
      badParameter("ingestKey must be visible letters without spaces");
    this.#ingestKey = ingestKey;
    this.#limits = checkLimits(epsilonLimit);
    const chosen = checkRetries({ attempts: 4, firstWait: 0.5, maxWait: 30, ...retries });
    this.#ask = (...request) => ask(fetch, chosen, ...request);
    this.#agreements = agreementsOf(store, publicKey, this.#ask, this.#limits !== null);
  }

  /**
   * Open the device of a store, which is pinned to the key that it was first opened with.
   *
   * @param {Options} options `publicKey`: who may ask, shipped with the app; `ingestKey`: what the collector wants to
   *   see, or one for each campaign by its id; `epsilonLimit`: what all campaigns together may cost this device, for
   *   ever, without which it takes part in one
   * @returns {Promise<Device>}
   */
  static async open(options) {
    const given = options.publicKey ?? (await options.store.read())?.publicKey ?? "";
    signerKey(given);
    const device = new Device({ ...options, publicKey: given });
    const { version, publicKey } = await options.store.update((state) => state ?? newState(given));
    if (version !== 1) badParameter("store must be one of this version: open it with the version that wrote it");
    if (publicKey !== given) badParameter(`publicKey must be the one that the store is pinned to, ${publicKey}`);
    return device;
  }

  /**
   * Fetch a campaign's document, check it, and agree to it.
   *
   * @param {string} url it is asked again when the collector says that the document has changed
   * @returns {Promise<Campaign>} show title, purpose and guarantee to whoever is asked
   */
  async join(url) {
    return this.#agreements.join(await this.#agreements.fetch(url), url);
  }

  /**
   * Agree to a document that came with the app.
   *
   * @param {Uint8Array} envelope what `shoal collect new` wrote
   * @param {string | null} [url] where later documents are; null never looks for one
   * @returns {Promise<Campaign>}
   */
  async joinEnvelope(envelope, url = null) {
    return this.#agreements.join(await this.#agreements.check(envelope), url === null ? url : checkAddress(url));
  }

  /**
   * Draw the report of a value and keep it, or find the one that was kept; send nothing.
   *
   * @param {Values} x two records are the same value if they are equal after they were clipped to the bounds
   * @param {{campaign?: string}} [options] its id; by default the campaign that was joined last, or the only one
   * @returns {Promise<Receipt>}
   */
  async draw(x, { campaign } = {}) {
    return receipt(...(await this.#drawn(x, campaign)));
  }

  /**
   * Report a value: draw and keep the report unless it was, and send it unless it arrived.
   *
   * @param {Values} x as for `draw`
   * @param {{campaign?: string}} [options]
   * @returns {Promise<Receipt>} of a report that the collector has stored
   */
  async report(x, { campaign } = {}) {
    const [kept, duplicate] = await this.#drawn(x, campaign);
    return receipt(kept.acknowledged ? kept : await this.#send(kept), duplicate);
  }

  /**
   * Send all reports that were kept and have not arrived.
   *
   * @returns {Promise<{sent: number, kept: number, reasons: string[]}>}
   */
  async sendPending() {
    const pending = (await this.#agreements.state()).reports.filter((report) => !report.acknowledged);
    const reasons = new Set();
    const unreachable = new Set();
    let sent = 0;
    for (const report of pending) {
      if (unreachable.has(report.campaign)) continue; // it would wait as long
      try {
        await this.#send(report);
        sent += 1;
      } catch (failure) {
        if (!(failure instanceof ShoalError)) throw failure;
        reasons.add(failure.message);
        if (failure.code === "delivery" && !failure.final) unreachable.add(report.campaign);
      }
    }
    return { sent, kept: pending.length - sent, reasons: [...reasons] };
  }

  /**
   * Find the published cluster of the true record; the label stays on the device.
   *
   * @param {Values} x
   * @param {{campaign?: string, refresh?: boolean}} [options] refresh: whether to look for newer results
   * @returns {Promise<number>}
   */
  async label(x, { campaign, refresh = false } = {}) {
    const { labelOf } = await part(import("./results.js"));
    return labelOf(this.#agreements, this.#ask, x, campaign, refresh);
  }

  /**
   * Return the results that `label` fetched last.
   *
   * @param {{campaign?: string}} [options]
   * @returns {Promise<Published | undefined>} undefined where none were fetched
   */
  async results({ campaign } = {}) {
    const { state, campaign: { id } } = await this.#agreements.find(campaign);
    return own(state.results, id);
  }

  /**
   * Return the campaigns of this device, with what it spent in each.
   *
   * @returns {Promise<CampaignStatus[]>}
   */
  async status() {
    const { campaigns, reports } = await this.#agreements.state();
    return Promise.all(
      Object.keys(campaigns).map(async (id) => {
        const { campaign, digest } = await this.#agreements.open(campaigns[id]);
        const mine = reports.filter((report) => report.campaign === id);
        const total = (/** @type {"epsilon" | "slack"} */ cost) => mine.reduce((sum, report) => sum + report[cost], 0);
        return {
          campaign: structuredClone(campaign),
          digest,
          drawn: mine.length,
          acknowledged: mine.filter((report) => report.acknowledged).length,
          epsilon: total("epsilon"),
          slack: total("slack"),
        };
      }),
    );
  }

  /**
   * Return the report of a value, and whether it was drawn before.
   *
   * @param {Values} x
   * @param {string} [name]
   * @returns {Promise<[KeptReport, boolean]>}
   */
  async #drawn(x, name) {
    const { state, campaign, digest, mechanism, encode, draw } = await this.#agreements.find(name);
    const { id } = campaign;
    const record = encode(x);
    const named = concat(utf8(`${id}\n`), new Uint8Array(Float64Array.from(record).buffer));
    const value = hex(await hmac(bytesOf(state.secret), named));
    /** @type {KeptReport | undefined} */
    let kept;
    let duplicate = false;
    await this.#agreements.update((now) => {
      duplicate = true; // may be called again, where another process was faster
      kept = now.reports.find(
        (report) => report.campaign === id && report.mechanism === mechanism && report.value === value,
      );
      if (kept || now.campaigns[id].digest !== digest) return now;
      checkOpen(campaign);
      charge(campaign, now.reports, this.#limits);
      const { notion, unit, epsilon, slack = 0 } = promiseOf(campaign.mechanism);
      const body = toBase64(encodeIndices(campaign.report_format, draw(record, secureWords)));
      const key = token();
      const sealed = null;
      kept = { key, campaign: id, mechanism, value, body, sealed, notion, unit, epsilon, slack, acknowledged: false };
      duplicate = false;
      return { ...now, reports: [...now.reports, kept] };
    });
    return kept ? [kept, duplicate] : this.#drawn(x, id); // another tab agreed to a new document meanwhile
  }

  /**
   * Send a report that is kept, and note that it has arrived.
   *
   * @param {KeptReport} kept
   * @returns {Promise<KeptReport>}
   */
  async #send(kept) {
    const { state, ...followed } = await this.#agreements.find(kept.campaign);
    const { seal, campaign: { id, shuffler } } = followed;
    const agreed = state.campaigns[id];
    if (shuffler && seal && !kept.sealed) {
      const key = /** @type {Uint8Array<ArrayBuffer>} */ (keyBytes("x25519:", shuffler.key));
      const sealed = await seal(key, utf8(`shoal report 1\n${id}`), bytesOf(kept.body));
      kept = await this.#note(kept.key, { sealed: toBase64(sealed) });
    }
    if (!(await this.#delivered(kept, agreed, followed))) {
      const { renew } = await part(import("./changes.js"), "delivery");
      if (!(await this.#delivered(kept, agreed, await renew(this.#agreements, id, agreed))))
        fail("delivery", "the collector must take its own document, got status 412 again", { final: true });
    }
    return this.#note(kept.key, { acknowledged: true });
  }

  /**
   * Note what became of a report; the bytes that were sealed first stay.
   *
   * @param {string} key
   * @param {Partial<KeptReport>} news
   * @returns {Promise<KeptReport>}
   */
  async #note(key, news) {
    const { reports } = await this.#agreements.update((state) => ({
      ...state,
      reports: state.reports.map((report) =>
        report.key === key ? { ...report, ...news, sealed: report.sealed ?? news.sealed ?? null } : report,
      ),
    }));
    return /** @type {KeptReport} */ (reports.find((report) => report.key === key));
  }

  /**
   * Return true once a report has arrived, false where the collector has a new document.
   *
   * @param {KeptReport} kept
   * @param {Agreed} agreed
   * @param {Followed} followed
   */
  async #delivered(kept, { deviceId }, { campaign, digest, mechanism }) {
    checkOpen(campaign);
    if (mechanism !== kept.mechanism)
      fail("delivery", `a report of "${campaign.id}" was drawn by another mechanism: it is kept, and not sent`, {
        final: true,
      });
    const ingestKey = typeof this.#ingestKey === "string" ? this.#ingestKey : own(this.#ingestKey, campaign.id);
    const url = campaign.reports_url;
    const answer = await this.#ask(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/octet-stream",
        "Idempotency-Key": kept.key,
        "Shoal-Campaign": digest,
        ...(ingestKey && !campaign.open_intake && { Authorization: `Bearer ${ingestKey}` }),
        ...(campaign.device_ids && { "Shoal-Device": deviceId }),
      },
      body: bytesOf(campaign.shuffler ? /** @type {string} */ (kept.sealed) : kept.body), // a relay gets nothing it can read
    });
    return answer.status !== 412 && (isStored(answer) || refuse(url, answer.status));
  }
}

/** @param {KeptReport} kept @param {boolean} duplicate @returns {Receipt} */
const receipt = ({ campaign, body, sealed, acknowledged }, duplicate) => ({
  campaign,
  report: bytesOf(body),
  sealed: sealed === null ? null : bytesOf(sealed),
  duplicate,
  sent: acknowledged,
});
