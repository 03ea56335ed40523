// What <shoal-report> says, without a browser: guesses that a promise allows, and reports in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { clusterCount, guesses, promise, reportWords, whatLeaves } from "../src/reportWords.js";

const BOX = [[0, 0], [3, 4]];

/** @param {any} parameters @param {any} [campaign] @param {number} [slack] @returns {any} */
const made = (parameters, campaign = {}, slack = 2 ** -12) => ({
  reports_per_device: 1,
  unit: "device",
  device_ids: false,
  shuffler: null,
  report_format: { bytes: 2, columns: [{ levels: 256 }, { levels: 4 }] },
  ...campaign,
  mechanism: {
    mechanism: "Laplace",
    columns: null,
    names: null,
    parameters: { bounds: BOX, ...parameters },
    guarantee: { slack },
  },
});

test("guesses are rounded up: nobody does better", () => {
  for (const epsilon of [0.01, 0.5, 1, 2, 3, 4, 4.5]) {
    const right = 100 / (1 + Math.exp(-epsilon));
    const said = Number(guesses(epsilon).match(/\d+/)?.[0]);
    assert.ok(said >= right && said < right + 1, String(epsilon));
  }
  assert.equal(guesses(0), "at most 50 times out of 100");
  assert.equal(guesses(5), "nearly always");
});

test("a local promise counts all reports, and says when it is little", () => {
  const [sentence] = promise(made({ epsilon: 1 }));
  assert.match(sentence, /at most 74 times out of 100\. A blind guess is right 50 times\.$/);
  assert.match(promise(made({ epsilon: 1 }, { reports_per_device: 2 }))[0], /at most 89 times/);
  assert.match(promise(made({ epsilon: 4 }))[0], /little protection/);
});

test("a metric promise is told by distances in its unit", () => {
  const [near, far] = promise(made({ epsilon: 0.5, unit: "km" }));
  assert.match(near, /74 times out of 100 if they are 2 km apart, and at most 89 times .* if they are 4 km apart/);
  assert.match(far, /at most 93 times out of 100 for those that differ most/); // 5 km, e^2.5
  assert.match(promise(made({ epsilon: 0.5, unit: "80 m" }))[0], /if they are 2 times 80 m apart/);
  assert.match(promise(made({ epsilon: 0.5, unit: "" }))[0], /if they are 2 apart/);
});

test("with a schema it is told by questions, the heaviest one for all", () => {
  const constraints = { required: true, minimum: 0, maximum: 9 };
  const fields = [
    { name: "age", type: "number", constraints },
    { name: "rooms", type: "number", constraints, shoal: { weight: 4 } },
  ];
  const [one, all] = promise(made({ epsilon: 0.5, unit: "", bounds: null, schema: { fields } }));
  assert.match(one, /at most 74 times out of 100 if they differ in one question only/); // 0.5 times 2
  assert.match(all, /at most 76 times/); // 0.5 times the root of 1 + 4
});

test("who sees what is said for every way of sending", () => {
  const shuffler = { operator: "Open Relay", batch_size: 500, key: "" };
  const to = { reports_url: "https://relay.example:8443/v1/campaigns/homes/reports" };
  const lines = (/** @type {any} */ campaign) => whatLeaves(made({ epsilon: 1 }, { ...to, ...campaign })).join(" ");
  assert.match(lines({}), /The server sees your network address/);
  assert.match(lines({ shuffler }), /to relay\.example:8443, a relay run by Open Relay, which sees your network address and cannot read .* 500/);
  assert.doesNotMatch(lines({ shuffler }), /server sees/);
  assert.match(lines({ device_ids: true }), /A random number of this device/);
  assert.match(lines({ unit: "person", reports_per_device: 3 }), /At most 3 reports.*from one device only/);
});

test("a report in words", () => {
  const column = { origin: 0, step: 0.5, first: -4, stride: 1, levels: 9 };
  const report_format = { version: 1, bytes: 1, columns: [column, column], reported: null, clips: true };
  const campaign = made({ epsilon: 1, unit: "" }, { report_format });
  campaign.mechanism.names = ["x", "y"];
  assert.match(reportWords(campaign, Uint8Array.of(0x68)), /^It says: x 1, y 2\. /);
  campaign.shuffler = {};
  assert.match(reportWords(campaign, Uint8Array.of(0x68)), /the relay cannot read it\.$/);
});

test("clusters of results are counted by centers, by sizes, or over strata", () => {
  const sizes = { shape: [3], data: [1, 2, 3] };
  assert.equal(clusterCount({ values: { centers: { shape: [15, 2] } } }), 15);
  assert.equal(clusterCount({ values: { sizes } }), 3);
  assert.equal(clusterCount({ values: {} }), undefined);
  assert.equal(clusterCount({ values: { strata: [{ sizes }, { sizes }] } }), 6);
});
