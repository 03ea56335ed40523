// JSON of others, read strictly, and one text for equal values.

const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Read JSON in which each name of an object occurs once, and no number is beyond a double.
 *
 * @param {Uint8Array} bytes
 * @returns {any} undefined if it is something else
 */
export function readJson(bytes) {
  try {
    const text = decoder.decode(bytes);
    let names = 0;
    const plain = JSON.parse(text, (_, value) => {
      if (isObject(value)) names += Object.keys(value).length;
      if (value === Infinity || value === -Infinity) throw value; // 1e400, which `canonical` would take for null
      return value;
    });
    for (const [, colon] of text.matchAll(STRINGS)) if (colon) names -= 1;
    return names ? undefined : plain;
  } catch {
    return undefined;
  }
}

/**
 * Write a value as JSON with sorted names: equal values have equal texts.
 *
 * @param {unknown} value
 * @returns {string}
 */
export const canonical = (value) =>
  JSON.stringify(value, (_, part) =>
    isObject(part) ? Object.fromEntries(Object.keys(part).sort().map((name) => [name, part[name]])) : part,
  );

/** @param {unknown} value @returns {value is Record<string, any>} whether it is a JSON object */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
