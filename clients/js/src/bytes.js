// Bytes and their texts, for all that is signed, hashed, sealed and kept.

const { subtle } = crypto;
const encoder = new TextEncoder();

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} its UTF-8 */
export const utf8 = (text) => encoder.encode(text);

/**
 * Join bytes.
 *
 * @param {...Iterable<number>} parts
 * @returns {Uint8Array<ArrayBuffer>}
 */
export const concat = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** @param {Uint8Array} bytes @returns {string} hexadecimal */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {Uint8Array} bytes @returns {string} base64 */
export const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/**
 * Read base64 that is written in full: there is one text of the same bytes.
 *
 * @param {unknown} text
 * @returns {Uint8Array<ArrayBuffer> | undefined} undefined for anything else
 */
export function fromBase64(text) {
  try {
    const bytes = Uint8Array.from(atob(/** @type {string} */ (text)), (letter) => letter.charCodeAt(0));
    if (toBase64(bytes) === text) return bytes;
  } catch {
    // no base64
  }
  return undefined;
}

/** @param {Uint8Array} bytes @returns {string} base64url without padding */
export const toBase64Url = (bytes) =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/**
 * Read a key of 32 bytes, written as a prefix and base64url without padding.
 *
 * @param {string} prefix
 * @param {unknown} text
 * @returns {Uint8Array<ArrayBuffer> | undefined} undefined for anything else
 */
export function keyBytes(prefix, text) {
  const letters = String(text).slice(prefix.length);
  const bytes = fromBase64(letters.replaceAll("-", "+").replaceAll("_", "/") + "=");
  return bytes?.length === 32 && prefix + toBase64Url(bytes) === text ? bytes : undefined;
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Uint8Array<ArrayBuffer>>} SHA-256 */
export const sha256 = async (bytes) => new Uint8Array(await subtle.digest("SHA-256", bytes));

/**
 * Return HMAC-SHA-256.
 *
 * @param {Uint8Array<ArrayBuffer>} key at least one byte
 * @param {Uint8Array<ArrayBuffer>} message
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export const hmac = async (key, message) =>
  new Uint8Array(await subtle.sign("HMAC", await importKey(key, { name: "HMAC", hash: "SHA-256" }, "sign"), message));

/**
 * Read a key for these uses.
 *
 * @param {Uint8Array<ArrayBuffer>} key
 * @param {string | HmacImportParams} algorithm
 * @param {...KeyUsage} uses
 */
export const importKey = (key, algorithm, ...uses) => subtle.importKey("raw", key, algorithm, false, uses);
