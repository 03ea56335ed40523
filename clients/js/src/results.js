// The cluster of a record by published results: fetched, kept if they answer a document that was agreed to, and read.

import { renew } from "./changes.js";
import { refuse } from "./delivery.js";
import { fail } from "./errors.js";
import { readJson } from "./json.js";
import { labelRecord } from "./labels.js";
import { own } from "./state.js";

/** @import { Agreements, Ask } from "./agreements.js" */

const MAX_RESULTS = 64 << 20; // bytes

/**
 * Return the published cluster of the true record.
 *
 * @param {Agreements} agreements
 * @param {Ask} ask
 * @param {any} x
 * @param {string | undefined} name of the campaign
 * @param {boolean} refresh whether to look for newer results
 */
export async function labelOf(agreements, ask, x, name, refresh) {
  const { state, campaign } = await agreements.find(name);
  const { id, results_url } = campaign;
  const { names, parameters } = campaign.mechanism;
  const kept = own(state.results, id);
  const release = kept && !refresh ? kept.release : await fetchedResults(agreements, ask, id, results_url);
  // A release without a schema has no names.
  const byName = names && !parameters.schema && !Array.isArray(x);
  return labelRecord(release, byName ? names.map((name) => x[name]) : x);
}

/**
 * Fetch results and keep them, if they answer a document that was agreed to.
 *
 * @param {Agreements} agreements
 * @param {Ask} ask
 * @param {string} id
 * @param {string} url
 */
async function fetchedResults(agreements, ask, id, url) {
  const { status, body } = await ask(url, {}, MAX_RESULTS);
  if (status === 404) fail("campaign", `campaign "${id}" has no results yet: ask again later`);
  if (status !== 200) refuse(url, status);
  const { digest, release } = readJson(body) ?? {};
  const agreed = (await agreements.state()).campaigns[id];
  if (agreed.url && !agreed.digests.includes(digest)) await renew(agreements, id, agreed); // a later one may be meant
  await agreements.update((state) => {
    if (!release || !state.campaigns[id].digests.includes(digest))
      fail("campaign", `results of campaign "${id}" must answer a document that this device agreed to, got others`);
    return { ...state, results: { ...state.results, [id]: { digest, release } } };
  });
  return release;
}
