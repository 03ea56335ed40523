// Sealing: the RFC's own vector, what Python sealed and opens, and keys that must be refused.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { seal } from "#part/hpke";

import { utf8 } from "../src/bytes.js";

const VECTORS = JSON.parse(readFileSync(new URL("../../vectors/sealing.json", import.meta.url), "utf8"));

/** @param {string} text */
const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));

/**
 * @param {string} secret
 * @param {string} open
 * @returns {Promise<CryptoKeyPair>}
 */
async function pair(secret, open) {
  const [d, x] = [secret, open].map((text) => Buffer.from(text, "hex").toString("base64url"));
  const form = { kty: "OKP", crv: "X25519", ...(x && { x }) };
  return {
    privateKey: await crypto.subtle.importKey("jwk", { ...form, ...(d && { d }) }, "X25519", false, ["deriveBits"]),
    publicKey: await crypto.subtle.importKey("jwk", form, "X25519", true, []),
  };
}

for (const [name, one] of Object.entries(VECTORS.sealed)) {
  test(`sealed bytes of ${name}`, async () => {
    const ephemeral = await pair(one.ephemeral_secret, one.ephemeral_public);
    const options = { ephemeral, aad: bytes(one.aad) };
    const sealed = await seal(bytes(one.public), bytes(one.info), bytes(one.plaintext), options);
    assert.equal(Buffer.from(sealed).toString("hex"), one.sealed);
  });
}

test("a message is 48 bytes longer and never the same twice", async () => {
  const key = bytes(VECTORS.sealed["RFC 9180, A.1"].public);
  const seals = await Promise.all([1, 2].map(() => seal(key, utf8("info"), utf8("ab"))));
  assert.deepEqual(seals.map((sealed) => sealed.length), [50, 50]);
  assert.notDeepEqual(seals[0].slice(0, 32), seals[1].slice(0, 32));
});

test("keys of small order are refused", async () => {
  for (const key of VECTORS.small_order) {
    await assert.rejects(seal(bytes(key), utf8(""), utf8("ab")), { name: "ShoalError", code: "campaign" });
  }
});
