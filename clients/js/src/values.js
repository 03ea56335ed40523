// What one value of a record means: a number, a level of a category, a truth or a day (src/shoal/schema/values.py).
// NaN stands for a missing number, undefined for what is no number.

// Words for a missing number or day, in any capitals; categories may be called so (NA is Namibia).
const MISSING = /^(|n\/?a|#n\/a|<na>|-?nan|nat|null|none)$/i;
// No letter can be matched in two ways: long text is refused in one pass.
const NUMBER = /^[ \t]*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?[ \t]*$/i;
const EXACT = 2 ** 53; // doubles tell whole numbers below apart
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?)?$/;

/** @param {unknown} value */
export const isMissing = (value) => value == null || Number.isNaN(value);

/**
 * Return the double that a value is.
 *
 * @param {unknown} value
 * @param {string[]} missing words that mean missing
 * @returns {number | undefined}
 */
export function readNumber(value, missing) {
  if (isMissing(value)) return NaN;
  let number = ["object", "symbol"].includes(typeof value) ? NaN : Number(value);
  if (typeof value === "string") {
    const word = blankless(value).toLowerCase();
    if (MISSING.test(word) || missing.some((one) => one.trim().toLowerCase() === word)) return NaN;
    number = parseNumber(value);
  }
  return missing.some((one) => parseNumber(one) === number) ? NaN : Number.isNaN(number) ? undefined : number;
}

/** Return text without spaces and tabs at its ends. @param {string} text */
function blankless(text) {
  let [first, end] = [0, text.length];
  while (first < end && " \t".includes(text[first])) first++;
  while (end > first && " \t".includes(text[end - 1])) end--;
  return text.slice(first, end);
}

/** @param {string} text @returns {number} NaN where it is none */
const parseNumber = (text) => (NUMBER.test(text) ? Number(text) : NaN);

/**
 * Return the level of a value by its text. A category that is a number, such as 007, is also found as 7, and true
 * as 1.
 *
 * @param {unknown} value
 * @param {string[]} levels
 * @param {string[]} missing words that mean missing, unless they are levels
 * @param {number} other level of unknown values
 * @param {number} absent level of missing values
 * @returns {number | undefined} undefined where a value is unclear
 */
export function readLevel(value, levels, missing, other, absent) {
  if (isMissing(value)) return absent;
  if (isUnclear(value)) return undefined;
  const words = [...levels, ...missing.filter((word) => !levels.includes(word))].map(sameCategory);
  const found = words.indexOf(sameCategory(String(value)));
  return found < 0 ? other : found < levels.length ? found : absent;
}

/**
 * Return whether a value has no text of its own: a number that other whole numbers would be, too, or one that takes long
 * to write.
 *
 * @param {unknown} value
 */
const isUnclear = (value) =>
  typeof value === "bigint"
    ? value >= 2n ** 1024n || value <= -(2n ** 1024n)
    : typeof value === "number"
      ? Math.abs(value) >= EXACT
      : ["object", "symbol"].includes(typeof value);

/** Return the text by which words for yes and no are compared. @param {string} text */
export const truthWord = (text) => spelled(text).toLowerCase();

/**
 * @param {unknown} value
 * @param {Map<string, string>} truths what words mean
 * @returns {string} "true" or "false", or "" where a value means neither
 */
export const readTruth = (value, truths) => truths.get(truthWord(isUnclear(value) ? "" : String(value))) ?? "";

/**
 * Return how a number or a truth would be written if it were one: 1.0 is 1, True is true.
 *
 * @param {string} text
 */
export function spelled(text) {
  const plain = text.trim();
  const number = parseNumber(plain);
  if (/^(true|false)$/i.test(plain)) return plain.toLowerCase();
  return Math.abs(number) < EXACT ? String(number) : plain;
}

/**
 * Return what is the same of all texts that one category may have: truths are numbers, too.
 *
 * @param {string} text
 */
export function sameCategory(text) {
  const plain = spelled(text);
  return plain === "true" ? "1" : plain === "false" ? "0" : plain;
}

/**
 * Return days since 1970, with their fractions.
 *
 * @param {unknown} value a Date, or text as ISO 8601 writes it; UTC unless it says a zone
 * @param {string[]} missing
 * @returns {number | undefined}
 */
export function readDay(value, missing) {
  if (isMissing(value)) return NaN;
  if (value instanceof Date) return (+value * 1000) / 864e8;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (missing.includes(text) || MISSING.test(text)) return NaN;
  const [, date, clock = "00:00", second = ":00", fraction = "", zone = "Z"] = TIME.exec(text) ?? [];
  const time = `${date}T${clock}${second}`;
  const days = (Date.parse(time + zone) * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"))) / 864e8;
  // Days that a month does not have would count on into the next one.
  return new Date(`${time}Z`).toJSON()?.startsWith(time) && !Number.isNaN(days) ? days : undefined;
}
