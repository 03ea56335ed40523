// What all modules need to refuse, or to say a number.

import { fail, ShoalError } from "./refusals.js";

export { fail, ShoalError };

/**
 * Wait for a module that only some campaigns need. What draws is loaded before anything is drawn: without it nothing is
 * spent.
 *
 * @template T
 * @param {Promise<T>} loading
 * @param {import("./refusals.js").Code} [code] "delivery" where a report is kept
 * @returns {Promise<T>}
 */
export const part = (loading, code = "campaign") =>
  loading.catch(() => fail(code, "all files of the client must be served, one was not: load the page again"));

/** Refuse what the app gave. @param {string} message */
export const badParameter = (message) => fail("parameter", message);

/**
 * Write an epsilon that is promised or spent: rounded up to six digits, but for the last digits of a sum.
 *
 * @param {number} value above 0
 */
export const roundedUp = (value) => {
  const near = +value.toPrecision(6);
  return near < value * (1 - 1e-12) ? +(near + 10 ** (Math.floor(Math.log10(value)) - 5)).toPrecision(6) : near;
};
