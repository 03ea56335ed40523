// Ask a collector, and ask again while the trouble is temporary; what is sent stays the same.

import { badParameter, fail } from "./errors.js";
import { readJson } from "./json.js";

/**
 * @typedef {{status: number, headers: Headers, body: Uint8Array}} Answer
 * @typedef {{attempts: number, firstWait: number, maxWait: number}} Retries seconds; the n-th wait is uniform between
 *   0 and firstWait 2^n, at most maxWait: devices that failed together do not come back together
 */

const TEMPORARY = [408, 425, 429, 500, 502, 503, 504];
const TIMEOUT = 10_000; // milliseconds until an answer must be whole

/** @param {Retries} retries */
export function checkRetries(retries) {
  const { attempts, firstWait, maxWait } = retries;
  if (!(Number.isSafeInteger(attempts) && attempts > 0 && firstWait >= 0 && maxWait >= firstWait))
    badParameter("retries must have attempts >= 1 and 0 <= firstWait <= maxWait");
  return retries;
}

/**
 * Return the first answer that is not a temporary refusal.
 *
 * @param {typeof globalThis.fetch} fetch
 * @param {Retries} retries
 * @param {string} url
 * @param {RequestInit} request
 * @param {number} [maxBytes] of the answer
 * @returns {Promise<Answer>}
 */
export async function ask(fetch, { attempts, firstWait, maxWait }, url, request, maxBytes = 1 << 16) {
  let reason;
  /** @type {number | null} */
  let named = null;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt) await wait(Math.max(named ?? 0, Math.min(maxWait, firstWait * 2 ** (attempt - 1)) * chance()));
    try {
      const answer = await askOnce(fetch, url, request, maxBytes);
      if (!TEMPORARY.includes(answer.status)) return answer;
      reason = `status ${answer.status}`;
      named = namedWait(answer.headers.get("retry-after") ?? "");
      if ((named ?? 0) > maxWait) break;
    } catch {
      // No network, a server that is too slow, too long an answer: fetch tells no more than this.
      [reason, named] = ["no answer", null];
    }
  }
  return fail("delivery", `${url} gave ${reason}: try again later`, { wait: named });
}

/** Return whether a collector says that it has stored the report. @param {Answer} answer */
export const isStored = ({ status, body }) => (status === 200 || status === 201) && readJson(body)?.stored === 1;

/**
 * Throw the error for an answer that no further attempt will change; the server's own words stay out, they may repeat
 * what was sent.
 *
 * @param {string} url
 * @param {number} status
 * @returns {never}
 */
export const refuse = (url, status) =>
  status >= 200 && status < 300
    ? fail("delivery", `${url} must answer as a collector does, got something else with status ${status}`)
    : fail("delivery", `${url} refused for good, status ${status}${hint(status)}`, { final: true });

/** @param {number} status */
const hint = (status) =>
  status === 410 ? ": the campaign is closed" : status === 401 || status === 403 ? ": check ingestKey" : "";

/**
 * @param {typeof globalThis.fetch} fetch
 * @param {string} url
 * @param {RequestInit} request
 * @param {number} maxBytes
 * @returns {Promise<Answer>}
 */
async function askOnce(fetch, url, request, maxBytes) {
  const answer = await fetch(url, {
    ...request,
    cache: "no-store",
    credentials: "omit",
    redirect: "manual", // addresses come from a signed document, or from the app
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(TIMEOUT),
  });
  const reader = answer.body?.getReader();
  const bytes = [];
  for (let part; reader && !(part = await reader.read()).done; ) {
    bytes.push(part.value);
    maxBytes -= part.value.length;
    if (maxBytes < 0) throw new RangeError("too long");
  }
  return { status: answer.status, headers: answer.headers, body: new Uint8Array(await new Blob(bytes).arrayBuffer()) };
}

/** Return the seconds of `Retry-After`, which are a number or a date. @param {string} text */
function namedWait(text) {
  if (/^\d+$/.test(text)) return +text.slice(0, 9);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? null : Math.max(0, (moment - Date.now()) / 1000);
}

/** @param {number} seconds */
const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

/** Return a number in [0, 1). */
const chance = () => crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
