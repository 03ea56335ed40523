// All vectors of clients/vectors in a browser: each check returns what is not as Python has it.

import { concat, fromBase64, hex, toBase64, toBase64Url, utf8 } from "../src/bytes.js";
import { guaranteeOf, openCampaign } from "../src/campaign.js";
import { weakerThan } from "../src/changes.js";
import { ShoalError } from "../src/errors.js";
import { seal } from "../src/hpke.js";
import { prepareReports } from "../src/mechanisms.js";
import { decodePoints, encodeIndices } from "../src/reportFormat.js";
import { encodingFailures, labelFailures, schemaFailures } from "./dataVectors.js";
import { GivenWords } from "./givenWords.js";

const TYPE = "application/vnd.shoal.campaign+json";
const PKCS8 = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/** @param {string} text */
const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** @param {unknown} given @param {unknown} wanted */
const same = (given, wanted) => JSON.stringify(given) === JSON.stringify(wanted);

/** @param {() => Promise<unknown>} action */
async function refuses(action) {
  try {
    await action();
    return false;
  } catch (error) {
    return error instanceof ShoalError && error.code === "campaign";
  }
}

/** Sign a document with the key of the vectors, whose bytes count up. @param {object} campaign */
async function signed(campaign) {
  const secret = Uint8Array.from({ length: 32 }, (_, i) => i);
  const key = await crypto.subtle.importKey("pkcs8", concat(PKCS8, secret), "Ed25519", false, ["sign"]);
  const payload = utf8(JSON.stringify(campaign));
  const message = concat(utf8(`DSSEv1 ${TYPE.length} ${TYPE} ${payload.length} `), payload);
  const sig = toBase64(new Uint8Array(await crypto.subtle.sign("Ed25519", key, message)));
  return utf8(JSON.stringify({ payload: toBase64(payload), payloadType: TYPE, signatures: [{ keyid: "", sig }] }));
}

/** @type {Record<string, (vectors: any) => Promise<string[]> | string[]>} */
const CHECKS = {
  campaigns: async ({ public_key: key, other_public_key: other, campaigns, refused, refused_fields, weaker }) => {
    const failures = [];
    for (const [name, { envelope, digest, ...promise }] of /** @type {[string, any][]} */ (Object.entries(campaigns))) {
      const opened = await openCampaign(utf8(envelope), key);
      const { epsilon, slack = 0, notion, unit } = guaranteeOf(opened.campaign);
      const found = [opened.campaign.id, opened.digest, epsilon, slack, notion, unit];
      if (!same(found, [name, digest, promise.epsilon, promise.slack, promise.notion, promise.unit])) failures.push(name);
      if (!(await refuses(() => openCampaign(utf8(envelope), other)))) failures.push(`${name} by another key`);
    }
    for (const [name, envelope] of Object.entries(refused))
      if (!(await refuses(() => openCampaign(utf8(/** @type {string} */ (envelope)), key)))) failures.push(name);
    const payload = /** @type {Uint8Array} */ (fromBase64(JSON.parse(campaigns.homes.envelope).payload));
    const plain = { ...JSON.parse(new TextDecoder().decode(payload)), reports_per_device: 3 };
    plain.guarantee.epsilon = 3 * plain.mechanism.guarantee.epsilon;
    await openCampaign(await signed(plain), key);
    for (const [name, fields] of Object.entries(refused_fields)) {
      const envelope = await signed({ ...plain, .../** @type {object} */ (fields) });
      if (!(await refuses(() => openCampaign(envelope, key)))) failures.push(name);
    }
    for (const [name, { newer, earlier, reasons }] of /** @type {[string, any][]} */ (Object.entries(weaker)))
      if (!same(weakerThan({ ...plain, ...newer }, { ...plain, ...earlier }), reasons)) failures.push(name);
    return failures;
  },
  encoding: encodingFailures,
  labels: labelFailures,
  schemas: schemaFailures,
  reports: async (cases) => {
    const failures = [];
    for (const [number, { mechanism, report_format: format, reports }] of cases.entries()) {
      const { draw } = await prepareReports(mechanism, format);
      for (const { note, record, words, seed, used, report, points } of reports) {
        const source = new GivenWords(words, seed);
        const drawn = encodeIndices(format, draw(record, source));
        const right = hex(drawn) === report && source.used === used;
        if (!right || (points && !same(decodePoints(format, drawn), points))) failures.push(`${number}: ${note}`);
      }
    }
    return failures;
  },
  sealing: async ({ sealed, small_order }) => {
    const failures = [];
    for (const [name, one] of /** @type {[string, any][]} */ (Object.entries(sealed))) {
      const [d, x] = [one.ephemeral_secret, one.ephemeral_public].map((text) => toBase64Url(bytes(text)));
      const form = { kty: "OKP", crv: "X25519", x };
      const ephemeral = {
        privateKey: await crypto.subtle.importKey("jwk", { ...form, d }, "X25519", false, ["deriveBits"]),
        publicKey: await crypto.subtle.importKey("jwk", form, "X25519", true, []),
      };
      const options = { ephemeral, aad: bytes(one.aad) };
      const found = await seal(bytes(one.public), bytes(one.info), bytes(one.plaintext), options);
      if (hex(found) !== one.sealed) failures.push(name);
    }
    for (const key of small_order)
      if (!(await refuses(() => seal(bytes(key), utf8(""), utf8("ab"))))) failures.push(key);
    return failures;
  },
};

/** Check the vectors of a file that the server has. @param {string} name */
export async function vectorFailures(name) {
  const check = CHECKS[name];
  return check ? check(await (await fetch(`/vectors/${name}.json`)).json()) : [`${name}.json is not checked`];
}
