// A collector that does as it is told: stores, fails, lies or does not answer. It takes the place of `fetch`.

import { createHash, createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";

import { Device, MemoryStore } from "#client";

/** @import { Options } from "../src/device.js" */

export const VECTORS = JSON.parse(readFileSync(new URL("../../vectors/campaigns.json", import.meta.url), "utf8"));
export const KEY = VECTORS.public_key;
export const SITE = "https://example.org/v1/campaigns";
export const URL_OF_HOMES = `${SITE}/homes`;
export const HOME = [0.123456789, 0.7];
export const WORK = [0.9, 0.4];
export const QUICK = { attempts: 3, firstWait: 0, maxWait: 5 };

const TYPE = "application/vnd.shoal.campaign+json";
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** @param {Record<string, any>} given its document with other fields; the promise of all reports follows */
export function makeCampaign(given = {}, base = "homes") {
  const plain = JSON.parse(Buffer.from(JSON.parse(VECTORS.campaigns[base].envelope).payload, "base64").toString());
  const document = { ...plain, reports_per_device: 1, ...given };
  if (given.id) {
    document.reports_url = `${SITE}/${given.id}/reports`;
    document.results_url = `${SITE}/${given.id}/results`;
  }
  const report = document.mechanism.guarantee;
  document.guarantee = { ...report, epsilon: report.epsilon * document.reports_per_device };
  if (report.slack) document.guarantee.slack = report.slack * document.reports_per_device;
  return document;
}

/** @param {string} text @param {number} [first] byte of the secret key, of bytes that count up */
export function signText(text, first = 0) {
  const payload = Buffer.from(text);
  const message = Buffer.concat([Buffer.from(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload]);
  const secret = Buffer.from(Array.from({ length: 32 }, (_, i) => i + first));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: "der", type: "pkcs8" });
  const signatures = [{ keyid: "", sig: sign(null, message, key).toString("base64") }];
  return Buffer.from(JSON.stringify({ payload: payload.toString("base64"), payloadType: TYPE, signatures }));
}

/** @param {any} campaign @param {number} [first] */
export const signCampaign = (campaign, first) => signText(JSON.stringify(campaign), first);

/** @param {any} campaign */
export const digestOf = (campaign) => createHash("sha256").update(JSON.stringify(campaign)).digest("hex");

/** @typedef {{url: string, method: string, headers: Record<string, string>, body: string | null}} Request */

/** Answers by path; `plan` holds what to do instead with the next reports, first one first. */
export class StubCollector {
  /** @type {Map<string, string | Uint8Array>} */
  pages = new Map();
  /** @type {Map<string, string>} */
  stored = new Map();
  /** @type {Request[]} */
  requests = [];
  /** @type {(number | Response | Error | ((request: Request) => any))[]} */
  plan = [];
  /** Where set, reports under another document are refused. @type {string | null} */
  digest = null;

  /** @param {...any} campaigns */
  constructor(...campaigns) {
    campaigns.forEach((campaign) => this.publish(campaign));
  }

  /** @param {any} campaign @param {number} [first] */
  publish(campaign, first) {
    this.pages.set(`${SITE}/${campaign.id}`, signCampaign(campaign, first));
  }

  /** @param {any} campaign @param {any} release */
  publishResults(campaign, release) {
    const results = { version: 1, digest: digestOf(campaign), release };
    this.pages.set(campaign.results_url, JSON.stringify(results));
  }

  get posts() {
    return this.requests.filter((request) => request.method === "POST");
  }

  /** Idempotency key and bytes of every report that was sent. */
  get sent() {
    return this.posts.map((post) => `${post.headers["Idempotency-Key"]} ${post.body}`);
  }

  /** @returns {typeof globalThis.fetch} */
  get fetch() {
    return async (url, { method = "GET", headers = {}, body } = {}) => {
      const bytes = /** @type {Uint8Array | undefined} */ (body);
      const request = {
        url: String(url),
        method,
        headers: /** @type {Record<string, string>} */ (headers),
        body: bytes ? Buffer.from(bytes).toString("hex") : null,
      };
      this.requests.push(request);
      if (method === "GET") {
        const page = this.pages.get(request.url);
        return page === undefined ? new Response("{}", { status: 404 }) : new Response(/** @type {any} */ (page));
      }
      const step = this.plan.shift();
      if (step instanceof Error) throw step;
      if (typeof step === "number") return new Response(null, { status: step });
      return step instanceof Response ? step : step ? step(request) : this.store(request);
    };
  }

  /** @param {Request} request */
  store({ headers, body }) {
    if (this.digest !== null && headers["Shoal-Campaign"] !== this.digest) return new Response("{}", { status: 412 });
    const key = headers["Idempotency-Key"];
    const before = this.stored.get(key);
    if (before !== undefined && before !== body) return new Response("{}", { status: 409 });
    this.stored.set(key, body ?? "");
    return Response.json({ stored: 1, duplicate: before !== undefined }, { status: before === undefined ? 201 : 200 });
  }
}

/** @param {StubCollector} collector @param {Partial<Options>} [options] */
export const openDevice = (collector, options = {}) =>
  Device.open({ store: new MemoryStore(), publicKey: KEY, fetch: collector.fetch, retries: QUICK, ...options });

/** @param {StubCollector} [collector] @param {Partial<Options>} [options] a device that joined "homes" */
export async function joined(collector = new StubCollector(makeCampaign()), options = {}) {
  const device = await openDevice(collector, options);
  await device.join(URL_OF_HOMES);
  return device;
}
