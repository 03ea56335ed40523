// One class of errors. Messages are one line (parameter, rule, way out) and hold no value of a record or a report.

/** @typedef {"budget" | "campaign" | "data" | "delivery" | "parameter"} Code */

/** What the client refuses, and why: `code` says of which kind it is. */
export class ShoalError extends Error {
  /**
   * @param {Code} code
   * @param {string} message
   * @param {{final?: boolean, wait?: number | null}} [details]
   */
  constructor(code, message, { final = false, wait = null } = {}) {
    super(message);
    this.name = "ShoalError";
    /** @type {Code} */
    this.code = code;
    /** Whether a later attempt to deliver the same cannot succeed. */
    this.final = final;
    /** Seconds that the server asked to wait, or null. */
    this.wait = wait;
  }
}

/**
 * Throw a ShoalError.
 *
 * @param {Code} code
 * @param {string} message
 * @param {{final?: boolean, wait?: number | null}} [details]
 * @returns {never}
 */
export function fail(code, message, details) {
  throw new ShoalError(code, message, details);
}
