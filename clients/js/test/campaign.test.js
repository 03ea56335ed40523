// Campaigns: Python's documents are read, what it refuses is refused, and weaker ones are told in the same words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { guaranteeOf, openCampaign } from "#client";
import { weakerThan } from "#part/changes";

import { signerKey } from "../src/campaign.js";
import { readJson } from "../src/json.js";
import { KEY, makeCampaign, signCampaign, VECTORS } from "./stubCollector.js";

const refused = { name: "ShoalError", code: "campaign" };

test("signed documents are opened as Python opens them", async () => {
  for (const [name, { envelope, digest, ...promise }] of Object.entries(VECTORS.campaigns)) {
    const signed = await openCampaign(Buffer.from(envelope), KEY);
    const { epsilon, slack = 0, notion, unit } = guaranteeOf(signed.campaign);
    assert.deepEqual({ epsilon, slack, notion, unit }, promise);
    assert.deepEqual([signed.campaign.id, signed.digest], [name, digest]);
    assert.deepEqual(signed.campaign.guarantee, guaranteeOf(signed.campaign));
    assert.equal(Buffer.from(signed.envelope).toString(), envelope);
  }
});

test("what Python refuses is refused", async () => {
  const plain = makeCampaign({ reports_per_device: 3 });
  for (const [name, envelope] of Object.entries(VECTORS.refused))
    await assert.rejects(openCampaign(Buffer.from(envelope), KEY), refused, name);
  for (const [name, fields] of Object.entries(VECTORS.refused_fields))
    await assert.rejects(openCampaign(signCampaign({ ...plain, ...fields }), KEY), refused, name);
});

test("every bit of an envelope that is changed is noticed", async () => {
  const envelope = Buffer.from(VECTORS.campaigns.duchi.envelope);
  const start = envelope.indexOf('"payload": "') + 12;
  for (let i = 0; i < 40; i += 1) {
    const changed = Buffer.from(envelope);
    changed[start + i * 37] ^= 1 << (i % 3);
    await assert.rejects(openCampaign(changed, KEY), refused);
  }
});

test("a newer document is weaker for Python's reasons, in its words", () => {
  const first = makeCampaign({ reports_per_device: 3 });
  for (const [name, { newer, earlier, reasons }] of Object.entries(VECTORS.weaker))
    assert.deepEqual(weakerThan({ ...first, ...newer }, { ...first, ...earlier }), reasons, name);
});

test("numbers of another kind are no parameters", async () => {
  const planar = makeCampaign({}, "planar");
  const { parameters } = planar.mechanism;
  await openCampaign(signCampaign(planar), KEY);
  for (const changed of [
    { level: "2" },
    { level: null },
    { radius: null },
    { level: -2, radius: -0.5 },
    { epsilon: 2 },
    { unit: 5 },
    { bounds: [[0, 0], [1, -1]] },
    { bounds: [[0, 0], [1, null]] },
    { bounds: [[0], [1]] },
    { bounds: null },
  ]) {
    const mechanism = { ...planar.mechanism, parameters: { ...parameters, ...changed } };
    if ("unit" in changed) mechanism.guarantee = { ...mechanism.guarantee, unit: changed.unit };
    await assert.rejects(openCampaign(signCampaign(makeCampaign({ mechanism }, "planar")), KEY), refused, JSON.stringify(changed));
  }
});

test("a report of fewer columns than the record would spend more", async () => {
  for (const name of ["wave", "hybrid", "duchi", "laplace"]) {
    const campaign = makeCampaign({}, name);
    const { columns } = campaign.report_format;
    for (const list of [columns.slice(1), [...columns, columns[0]]]) {
      const report_format = { ...campaign.report_format, columns: list };
      await assert.rejects(openCampaign(signCampaign({ ...campaign, report_format }), KEY), refused, name);
    }
  }
});

test("another format of the same mechanism is another mechanism", () => {
  const wave = makeCampaign({}, "wave");
  const columns = wave.report_format.columns.map((/** @type {any} */ column) => ({ ...column, levels: column.levels + 2 }));
  const newer = { ...wave, revision: 2, report_format: { ...wave.report_format, columns } };
  assert.deepEqual(weakerThan(newer, wave), ["its reports come from another mechanism"]);
});

test("a mechanism that this client does not know is refused", async () => {
  for (const mechanism of ["constructor", "Gaussian", ["Duchi"], null]) {
    const campaign = makeCampaign({}, "duchi");
    const changed = { ...campaign.mechanism, mechanism };
    await assert.rejects(openCampaign(signCampaign({ ...campaign, mechanism: changed }), KEY), refused, String(mechanism));
  }
});

test("keys that nobody owns are refused", () => {
  const zeros = Buffer.alloc(32);
  const one = Buffer.alloc(32, 1).fill(0, 1);
  const order8 = Buffer.from("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", "hex");
  const last = Buffer.from(`ec${"ff".repeat(30)}7f`, "hex");
  for (const key of [zeros, one, order8, last])
    assert.throws(() => signerKey(`ed25519:${key.toString("base64url")}`), { code: "parameter" });
  for (const text of ["", null, KEY.slice(1), `${KEY}=`, KEY.slice(0, -1), `${KEY}A`])
    assert.throws(() => signerKey(text), { code: "parameter" });
  assert.equal(signerKey(KEY).length, 32);
});

test("a name that occurs twice is noticed wherever it stands", () => {
  for (const [text, valid] of /** @type {[string, boolean][]} */ ([
    ['{"a": {"b": 1}, "b": ["a\\":", {"a": "{}"}]}', true],
    ['{"a": {"b": 1, "b": 1}}', false],
    ['[{"a": 1}, {"a": 1, "\\u0061": 2}]', false],
    ['{"\\\\": 1, "x": "\\\\\\":"}', true],
    ["[NaN]", false],
  ]))
    assert.equal(readJson(Buffer.from(text)) !== undefined, valid, text);
});
