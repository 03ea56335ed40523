// What pages ask the studio for. Every refusal is a Problem, whose message is one line for people.

/** A refusal of the studio, or no answer at all (`lost`). */
export class Problem extends Error {
  constructor(message, { status = 0, type = "", lost = false } = {}) {
    super(message);
    this.status = status;
    this.type = type.replace("/problems/", "");
    this.lost = lost;
  }
}

const LOST = "The studio is not responding. Is it still running? This request spent nothing.";

async function ask(method, path, { body, headers = {}, signal } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method, body, signal,
      headers: method === "GET" ? headers : { "Shoal-Studio": "1", ...headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(LOST, { lost: true });
  }
  if (response.ok) return response;
  let told = {};
  try {
    told = await response.json();
  } catch {
    // Not a problem document: the status has to do.
  }
  throw new Problem(told.detail ?? `The studio answered ${response.status}.`, {
    status: response.status, type: told.type ?? "",
  });
}

/** Return the JSON at a path. */
export const get = async (path, options) => (await ask("GET", path, options)).json();

/** Send JSON, return JSON. */
export const post = async (path, value = {}, options = {}) =>
  (await ask("POST", path, {
    ...options, body: JSON.stringify(value), headers: { "Content-Type": "application/json" },
  })).json();

/** Send a file as it is: a raw body, which the studio keeps in memory. */
export const send = async (path, file, options = {}) =>
  (await ask("POST", path, {
    ...options, body: file, headers: { "Content-Type": "application/octet-stream" },
  })).json();

/** Send JSON, return the answer's bytes as a blob. */
export const fetchFile = async (path, options) => (await ask("GET", path, options)).blob();

/** Drop something. */
export const remove = async (path) => (await ask("DELETE", path)).json();

/** What is said of an order when nobody knows whether it arrived. */
export const UNSURE = "The studio is not responding. If your order reached it, it was charged once: check the ledger when the studio is back.";

/** Follow a purchase. Why it failed may come from the true records, and is marked so. */
export async function followPurchase(job, onProgress, options) {
  try {
    return await follow(job, onProgress, options);
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status) throw problem;
    throw problem.lost ? new Problem(UNSURE, { lost: true }) : new Problem(`For your eyes only, since it may reveal something about the records: ${problem.message}`);
  }
}

/** Follow a job until it ends; `onProgress` gets it after every look. Returns the finished job. */
export async function follow(job, onProgress = () => {}, { signal } = {}) {
  let wait = 100;
  while (job.state === "running") {
    onProgress(job);
    await new Promise((done) => setTimeout(done, wait));
    signal?.throwIfAborted();
    wait = Math.min(wait * 1.5, 1000);
    job = await get(`/api/jobs/${job.id}`, { signal });
  }
  onProgress(job);
  if (job.state === "failed") throw new Problem(job.error);
  return job;
}
