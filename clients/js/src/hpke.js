// Seal a report so that only the owner of a key reads it: HPKE (RFC 9180), base mode, one message.
//
// Suite: DHKEM(X25519, HKDF-SHA256) 0x0020, HKDF-SHA256 0x0001, AES-128-GCM 0x0001, all by WebCrypto. What is sealed
// twice gives different bytes, and only the length of the plaintext shows.

import { concat, hmac, importKey, utf8 } from "./bytes.js";
import { fail } from "./refusals.js";

const KEM = concat(utf8("KEM"), [0, 0x20]);
const SUITE = concat(utf8("HPKE"), [0, 0x20, 0, 1, 0, 1]);
const KEY = 16;
const NONCE = 12;
const SECRET = 32;
const ZEROS = new Uint8Array(SECRET); // HMAC's key where the RFC has an empty salt
const NOTHING = new Uint8Array();

/**
 * Seal bytes to a public key.
 *
 * @param {Uint8Array<ArrayBuffer>} publicKey 32 bytes of an X25519 key
 * @param {Uint8Array<ArrayBuffer>} info what both sides know of the message
 * @param {Uint8Array<ArrayBuffer>} plaintext
 * @param {{aad?: Uint8Array<ArrayBuffer>, ephemeral?: CryptoKeyPair}} [options] for test vectors: a device gives none
 * @returns {Promise<Uint8Array<ArrayBuffer>>} encapsulated key (32 bytes), ciphertext and tag (16 bytes)
 */
export async function seal(publicKey, info, plaintext, { aad = NOTHING, ephemeral } = {}) {
  const { subtle } = crypto;
  const own = ephemeral ?? (await newPair());
  const enc = new Uint8Array(await subtle.exportKey("raw", own.publicKey));
  const context = concat(enc, publicKey);
  const secret = await expand(
    await extract(KEM, ZEROS, "eae_prk", await agree(own.privateKey, publicKey)),
    KEM,
    "shared_secret",
    context,
    SECRET,
  );
  const schedule = concat(
    [0], // base mode
    await extract(SUITE, ZEROS, "psk_id_hash", NOTHING),
    await extract(SUITE, ZEROS, "info_hash", info),
  );
  const prk = await extract(SUITE, secret, "secret", NOTHING);
  const key = await expand(prk, SUITE, "key", schedule, KEY);
  const iv = await expand(prk, SUITE, "base_nonce", schedule, NONCE);
  const imported = await importKey(key, "AES-GCM", "encrypt");
  const sealed = await subtle.encrypt({ name: "AES-GCM", iv, additionalData: aad }, imported, plaintext);
  return concat(enc, new Uint8Array(sealed));
}

/** @returns {Promise<CryptoKeyPair>} */
async function newPair() {
  return /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey("X25519", false, ["deriveBits"]));
}

/**
 * Return the Diffie-Hellman secret; a key of small order, with which it is 0, is refused.
 *
 * @param {CryptoKey} privateKey
 * @param {Uint8Array<ArrayBuffer>} publicKey
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function agree(privateKey, publicKey) {
  let secret = NOTHING;
  try {
    const theirs = await importKey(publicKey, "X25519");
    const algorithm = { name: "X25519", public: theirs };
    secret = new Uint8Array(await crypto.subtle.deriveBits(algorithm, privateKey, 8 * SECRET));
  } catch {
    // Some engines refuse such keys here, others return zeros.
  }
  return secret.some(Boolean) ? secret : fail("campaign", "the shuffler's key must be an X25519 key, got another");
}

/**
 * LabeledExtract of the RFC.
 *
 * @param {Uint8Array} suite
 * @param {Uint8Array<ArrayBuffer>} salt
 * @param {string} label
 * @param {Uint8Array} ikm
 */
const extract = (suite, salt, label, ikm) => hmac(salt, concat(utf8("HPKE-v1"), suite, utf8(label), ikm));

/**
 * LabeledExpand of the RFC, for at most 32 bytes.
 *
 * @param {Uint8Array<ArrayBuffer>} prk
 * @param {Uint8Array} suite
 * @param {string} label
 * @param {Uint8Array} info
 * @param {number} length
 */
const expand = async (prk, suite, label, info, length) =>
  (await hmac(prk, concat([0, length], utf8("HPKE-v1"), suite, utf8(label), info, [1]))).slice(0, length);
