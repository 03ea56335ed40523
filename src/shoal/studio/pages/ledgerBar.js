// How much of a ledger's limit is used, as a bar and in words.
import { element, number, roundedDown, roundedUp } from "/static/elements.js";

/** A promise of the library as a sentence. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** What is left, in one sentence. */
export function ledgerWords({ epsilon, delta, remaining, used, entries }) {
  const limit = delta ? `epsilon ${roundedUp(epsilon)} and delta ${roundedUp(delta)}` : `epsilon ${roundedUp(epsilon)}`;
  if (!entries) return `None of the limit of ${limit} has been spent.`;
  const times = entries === 1 ? "1 charge" : `${entries} charges`;
  return `${number(100 * used)}% of the limit of ${limit} is used, by ${times}; the next may cost at most epsilon ${roundedDown(remaining)}.`;
}

/** A bar of a ledger (as the studio's answers have it) with its sentence. */
export function ledgerBar(ledger, title) {
  const words = ledgerWords(ledger);
  return element("div", { className: "ledger-bar" },
    element("h3", {}, title),
    element("progress", { max: 1, value: Math.min(1, ledger.used), "aria-label": `${title}: part of the limit that is used` }),
    element("p", {}, words));
}
