// What a page gets: reports and labels by the public calls alone, so that the built modules can be held to the vectors.
//
// `npm run test:built` runs this and the tests of the device against dist, `npm test` against src.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";

import { Device, MemoryStore, ShoalError } from "#client";

import { GivenWords } from "./givenWords.js";
import { joined, KEY, makeCampaign, openDevice, QUICK, signCampaign, StubCollector, URL_OF_HOMES } from "./stubCollector.js";

/** @param {string} name */
const vectors = (name) => JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8"));

test("reports are those of Python, from the same words", async () => {
  /** @type {GivenWords | undefined} */
  let source;
  const real = crypto.getRandomValues.bind(crypto);
  const stub = mock.method(crypto, "getRandomValues", (/** @type {any} */ array) => {
    if (!(array instanceof BigUint64Array && source)) return real(array);
    array.set(source.words(array.length));
    return array;
  });
  try {
    let count = 0;
    for (const { mechanism, report_format, reports } of vectors("reports")) {
      if (mechanism.parameters.schema) continue; // its records are encoded already
      for (const { note, record, words, seed, used, report } of reports) {
        const device = await openDevice(new StubCollector());
        await device.joinEnvelope(signCampaign(makeCampaign({ mechanism, report_format })));
        source = new GivenWords(words, seed);
        const drawn = await device.draw(record);
        assert.deepEqual([Buffer.from(drawn.report).toString("hex"), source.used], [report, used], note);
        source = undefined;
        count += 1;
      }
    }
    assert.ok(count > 100);
  } finally {
    stub.mock.restore();
  }
});

test("labels are those of Python", async () => {
  const campaign = makeCampaign();
  for (const { name, release, records } of vectors("labels")) {
    const collector = new StubCollector(campaign);
    collector.publishResults(campaign, release);
    const device = await joined(collector);
    for (const { x, result, refused } of records) {
      if (JSON.stringify(x).includes("$")) continue; // values that JSON cannot hold: see data.test.js
      const label = await device.label(x).catch((/** @type {any} */ failure) => failure.code);
      assert.equal(label, refused ?? result, `${name}: ${JSON.stringify(x)}`);
    }
  }
});

test("what a part refuses has the one class of errors", async () => {
  const mixed = await joined(new StubCollector(makeCampaign({ id: "homes" }, "mixed")));
  await assert.rejects(mixed.draw(["secret", "A"]), (failure) => failure instanceof ShoalError && failure.code === "data");
  const campaign = makeCampaign({}, "laplace");
  campaign.report_format.columns[0].step *= 2;
  const device = await Device.open({ store: new MemoryStore(), publicKey: KEY, retries: QUICK });
  await assert.rejects(
    device.joinEnvelope(signCampaign(campaign)),
    (failure) => failure instanceof ShoalError && failure.code === "campaign",
  );
});

test("a document that changed is followed or refused", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 2 }));
  const device = await joined(collector);
  collector.publish(makeCampaign({ reports_per_device: 1, revision: 2 }));
  assert.equal((await device.join(URL_OF_HOMES)).revision, 2);
  collector.publish(makeCampaign({ reports_per_device: 5, revision: 3 }));
  await assert.rejects(device.join(URL_OF_HOMES), { code: "campaign", message: /epsilon of all reports is 5, above 1/ });
});
