// A device: agrees to no less than before, reports a value once, keeps to its budget, keeps no record.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { MemoryStore } from "#client";

import {
  digestOf,
  HOME,
  joined,
  KEY,
  makeCampaign,
  openDevice,
  signCampaign,
  SITE,
  StubCollector,
  URL_OF_HOMES,
  VECTORS,
  WORK,
} from "./stubCollector.js";

/** @param {string} code @param {RegExp} message */
const failure = (code, message) => ({ name: "ShoalError", code, message });

test("a value is reported once by every mechanism", async () => {
  for (const name of Object.keys(VECTORS.campaigns)) {
    const campaign = makeCampaign({ id: "homes", reports_per_device: 3 }, name);
    const collector = new StubCollector(campaign);
    const device = await joined(collector);
    const [home, work] =
      name === "mixed"
        ? [{ age: 41, city: "B" }, [30, "A"]]
        : name === "place"
          ? [{ home: "2.31, 48.81" }, ["2.4, 48.7"]]
          : [[...HOME, 1], [...WORK, 1]].map((x) => x.slice(0, name === "spherical" ? 3 : 2));
    const first = await device.report(home);
    assert.deepEqual([first.duplicate, first.sent, first.campaign], [false, true, "homes"], name);
    for (let i = 0; i < 3; i += 1) assert.deepEqual((await device.report(home)).report, first.report);
    assert.equal(collector.posts.length, 1, "what has arrived is not sent again");
    await device.report(work);
    const again = await device.report(home);
    assert.deepEqual([again.report, again.duplicate], [first.report, true], "no new question");
    const [status] = await device.status();
    assert.deepEqual([status.drawn, status.acknowledged], [2, 2]);
    assert.equal(status.epsilon, 2 * campaign.mechanism.guarantee.epsilon);
    assert.equal(first.report.length, campaign.report_format.bytes);
    assert.equal(collector.posts[0].body?.length, 2 * (campaign.report_format.bytes + (campaign.shuffler ? 48 : 0)));
  }
});

test("equal values are one: clipped to the bounds, and zero has no sign", async () => {
  const device = await joined(new StubCollector(makeCampaign({ reports_per_device: 9 })));
  await device.draw([0, 1]);
  for (const same of [
    [-0, 1],
    [-5, 9],
  ])
    assert.ok((await device.draw(same)).duplicate);
  assert.ok(!(await device.draw([0, 1 - 2 ** -53])).duplicate);
});

test("what was drawn while another process was faster is forgotten", async () => {
  const store = new MemoryStore();
  const collector = new StubCollector(makeCampaign());
  const first = await joined(collector, { store });
  const before = await store.read();
  const { report } = await first.draw(HOME);
  const slow = {
    read: () => store.read(),
    update: (/** @type {import("../src/stores.js").Change} */ change) => {
      change(before);
      return store.update(change);
    },
  };
  const second = await openDevice(collector, { store: slow });
  const receipt = await second.report(HOME);
  assert.deepEqual([receipt.report, receipt.duplicate], [report, true]);
  assert.equal((await second.status())[0].drawn, 1);
});

/**
 * Return a store in which something happens once, just before an update.
 *
 * @param {MemoryStore} store
 * @param {() => Promise<unknown>} other
 */
const interrupted = (store, other) => {
  let armed = false;
  return {
    arm: () => (armed = true),
    read: () => store.read(),
    update: async (/** @type {import("../src/stores.js").Change} */ change) => {
      if (armed) {
        armed = false;
        await other();
      }
      return store.update(change);
    },
  };
};

test("a document that another tab agreed to before the draw decides about it", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 2 }));
  const store = new MemoryStore();
  const tab = await joined(collector, { store });
  await tab.draw(HOME);
  collector.publish(makeCampaign({ reports_per_device: 1, revision: 2 }));
  const slow = interrupted(store, () => tab.join(URL_OF_HOMES));
  const device = await openDevice(collector, { store: slow });
  slow.arm();
  await assert.rejects(device.draw(WORK), failure("budget", /allows 1 reports/));
  assert.equal((await device.status())[0].drawn, 1);
});

test("a document that was overtaken is weaker, and does not come back", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 3 }));
  const store = new MemoryStore();
  const tab = await joined(collector, { store });
  const slow = interrupted(store, async () => {
    collector.publish(makeCampaign({ reports_per_device: 1, revision: 3 }));
    await tab.join(URL_OF_HOMES);
  });
  const device = await openDevice(collector, { store: slow });
  collector.publish(makeCampaign({ reports_per_device: 2, revision: 2 }));
  slow.arm();
  await assert.rejects(device.join(URL_OF_HOMES), failure("campaign", /revision 2 is older than 3/));
  assert.equal((await device.status())[0].campaign.revision, 3);
});

test("a report of another mechanism is not sent, and one of another price counts", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 2 }));
  const store = new MemoryStore();
  const device = await joined(collector, { store });
  await device.draw(HOME);
  /** @param {Partial<import("../src/state.js").KeptReport>} news */
  const change = (news) =>
    store.update((state) => {
      const now = /** @type {import("../src/state.js").State} */ (state);
      return { ...now, reports: now.reports.map((report) => ({ ...report, ...news })) };
    });
  await change({ epsilon: 1.5 });
  await assert.rejects(device.draw(WORK), failure("budget", /allows 2 times epsilon = 1 of a device, which was spent/));
  await change({ mechanism: "another" });
  const { sent, reasons } = await device.sendPending();
  assert.deepEqual([sent, collector.posts.length], [0, 0]);
  assert.match(reasons[0], /drawn by another mechanism: it is kept, and not sent/);
});

test("bad records cost nothing and are not named", async () => {
  const device = await joined();
  for (const bad of [[NaN, 0.5], ["secret", "b"], [0.123456], [], {}])
    await assert.rejects(device.report(bad), (/** @type {Error} */ refused) => {
      assert.equal(/** @type {any} */ (refused).code, "data");
      return !/secret|0\.123|\n/.test(refused.message);
    });
  assert.equal((await device.status())[0].drawn, 0);
});

test("a record is in no store, no request and no message", async () => {
  const store = new MemoryStore();
  const collector = new StubCollector(makeCampaign());
  const device = await joined(collector, { store });
  await device.report(HOME);
  await assert.rejects(device.report(WORK), (/** @type {Error} */ refused) => !/0\.9|0\.4/.test(refused.message));
  const kept = JSON.stringify(await store.read());
  const bytes = Buffer.from(new Float64Array(HOME).buffer);
  for (const trace of ["0.1234", "1234567", bytes.toString("hex"), bytes.toString("base64").slice(0, 10)])
    assert.ok(!kept.includes(trace) && !JSON.stringify(collector.requests).includes(trace), trace);
});

test("the name of a value is keyed by the store", async () => {
  const names = [];
  for (let i = 0; i < 2; i += 1) {
    const store = new MemoryStore();
    await (await joined(undefined, { store })).draw(HOME);
    names.push((await store.read())?.reports[0].value);
  }
  assert.notEqual(names[0], names[1]);
});

// Budget

test("a campaign's number of reports", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 2 }));
  const device = await joined(collector);
  await device.report(HOME);
  await device.report(WORK);
  await assert.rejects(device.report([0.5, 0.5]), failure("budget", /allows 2 reports of a device.*nothing was drawn/));
  assert.ok((await device.report(HOME)).duplicate);
  assert.equal(collector.posts.length, 2);
});

test("fewer reports by a new document count those that were drawn", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 3 }));
  const device = await joined(collector);
  await device.report(HOME);
  await device.report(WORK);
  collector.publish(makeCampaign({ reports_per_device: 2, revision: 2 }));
  await device.join(URL_OF_HOMES);
  await assert.rejects(device.report([0.5, 0.5]), failure("budget", /allows 2 reports/));
});

test("without a limit a device takes part in one campaign", async () => {
  const collector = new StubCollector(makeCampaign(), makeCampaign({ id: "jobs" }));
  const store = new MemoryStore();
  const device = await joined(collector, { store });
  await assert.rejects(device.join(`${SITE}/jobs`), failure("campaign", /one campaign, "homes", got "jobs"/));
  const limited = await openDevice(collector, { store, epsilonLimit: 2 });
  await limited.join(`${SITE}/jobs`);
  await limited.report(HOME);
  await assert.rejects(device.report(HOME, { campaign: "homes" }), failure("budget", /without epsilonLimit/));
});

test("a limit over all campaigns, to the last digit and not beyond", async () => {
  const ids = Array.from({ length: 11 }, (_, i) => `homes-${i}`);
  const mechanism = structuredClone(makeCampaign().mechanism);
  mechanism.parameters.epsilon = mechanism.guarantee.epsilon = 0.1;
  const collector = new StubCollector(...ids.map((id) => makeCampaign({ id, mechanism })));
  const device = await openDevice(collector, { epsilonLimit: 1 });
  for (const [i, id] of ids.entries()) {
    await device.join(`${SITE}/${id}`);
    if (i < 10) await device.report(HOME);
    else await assert.rejects(device.report(HOME), failure("budget", /over all campaigns, allows no such report/));
  }
});

test("metric and local epsilons are counted apart, per unit", async () => {
  const planar = makeCampaign({ id: "planar" }, "planar"); // 4 per km
  const collector = new StubCollector(makeCampaign(), planar);
  /** @param {any} epsilonLimit */
  const outcome = async (epsilonLimit) => {
    const device = await joined(collector, { epsilonLimit });
    if (epsilonLimit.epsilon < 1) return device.report(HOME).catch(() => "first");
    await device.report(HOME);
    await device.join(`${SITE}/planar`);
    const code = await device.report(HOME).then(() => "sent", (refused) => refused.code);
    const [local, metric] = await device.status();
    assert.equal(local.slack, 0);
    assert.equal(metric.slack, code === "sent" ? planar.mechanism.guarantee.slack : 0);
    return code;
  };
  assert.equal(await outcome(9), "budget");
  assert.equal(await outcome({ epsilon: 1, metricEpsilon: 4, metricUnit: "km" }), "sent");
  assert.equal(await outcome({ epsilon: 1, metricEpsilon: 3.99, metricUnit: "km" }), "budget");
  assert.equal(await outcome({ epsilon: 0.9, metricEpsilon: 4, metricUnit: "km" }), "first");
  assert.equal(await outcome({ epsilon: 1, metricEpsilon: 1e9, metricUnit: "m" }), "budget");
  assert.equal(await outcome({ epsilon: 1, metricEpsilon: 1e9 }), "budget");
});

test("a limit is a positive number", async () => {
  for (const epsilonLimit of [0, -1, NaN, Infinity, "1", true, { epsilon: 0 }, { epsilon: 1, metricEpsilon: -1 }, {}])
    await assert.rejects(
      openDevice(new StubCollector(), { epsilonLimit: /** @type {any} */ (epsilonLimit) }),
      failure("parameter", /epsilonLimit/),
    );
});

// Time

test("a closed campaign takes and sends nothing", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 2 }));
  const device = await joined(collector);
  const [arrived, kept] = [await device.report(HOME), await device.draw(WORK)];
  const clock = mock.method(Date, "now", () => Date.UTC(2130, 0, 1));
  try {
    for (const value of [WORK, [0.5, 0.5]])
      await assert.rejects(device.report(value), failure("campaign", /must be open, got one that closed at 2130-01-01/));
    assert.deepEqual((await device.report(HOME)).report, arrived.report);
    assert.deepEqual((await device.draw(WORK)).report, kept.report);
    const { sent, kept: pending, reasons } = await device.sendPending();
    assert.deepEqual([sent, pending, reasons.length, collector.posts.length], [0, 1, 1, 1]);
    await device.join(URL_OF_HOMES); // known already: its results may come
    await assert.rejects(joined(collector), failure("campaign", /must be open/));
  } finally {
    clock.mock.restore();
  }
});

// Documents

test("a document that the pinned key did not sign is refused", async () => {
  const collector = new StubCollector();
  const device = await openDevice(collector);
  for (const document of [signCampaign(makeCampaign(), 1), "<html>", makeCampaign({ closes: "2020-01-01T00:00:00Z" })]) {
    if (typeof document === "string" || document instanceof Buffer) collector.pages.set(URL_OF_HOMES, document);
    else collector.publish(document);
    await assert.rejects(device.join(URL_OF_HOMES), failure("campaign", /signed|must be open/));
    await assert.rejects(device.report(HOME), failure("parameter", /campaign must be one that was joined/));
  }
  assert.equal(collector.posts.length, 0);
});

test("a weaker document is refused with all its reasons, and the agreed one stays in force", async () => {
  const collector = new StubCollector(makeCampaign({ revision: 2 }));
  const device = await joined(collector);
  await device.draw(HOME);
  for (const [changed, reason] of /** @type {[object, RegExp][]} */ ([
    [{ reports_per_device: 2 }, /epsilon of all reports is 2, above 1/],
    [{ device_ids: true, purpose: "Sell it." }, /another purpose; it asks for a number of the device/],
    [{ revision: 1 }, /revision 1 is older than 2/],
    [{ revision: 2, title: "Now" }, /revision 2 was something else before/],
  ])) {
    collector.publish(makeCampaign({ revision: 3, ...changed }));
    await assert.rejects(device.join(URL_OF_HOMES), failure("campaign", reason));
  }
  assert.equal((await device.status())[0].campaign.revision, 2);
  assert.ok((await device.report(HOME)).sent);
});

test("a store is pinned to its key", async () => {
  const store = new MemoryStore();
  await (await joined(undefined, { store })).report(HOME);
  const theirs = new StubCollector();
  theirs.publish(makeCampaign(), 1);
  const { other_public_key: publicKey } = VECTORS;
  await assert.rejects(openDevice(theirs, { store, publicKey }), failure("parameter", /pinned to/));
  const again = await openDevice(theirs, { store, publicKey: /** @type {any} */ (undefined) });
  await assert.rejects(again.join(URL_OF_HOMES), failure("campaign", /signed by/));
  await assert.rejects(openDevice(theirs, { publicKey: /** @type {any} */ (undefined) }), failure("parameter", /publicKey/));
});

test("a document can come with the app", async () => {
  const collector = new StubCollector();
  const device = await openDevice(collector);
  const campaign = await device.joinEnvelope(signCampaign(makeCampaign()));
  assert.equal(campaign.title, "Where people live");
  campaign.mechanism.parameters.epsilon = 50; // a copy: what was signed is followed
  assert.ok((await device.report(HOME)).sent);
  assert.equal((await device.status())[0].epsilon, 1);
  assert.deepEqual(collector.requests.map((request) => request.method), ["POST"]);
});

test("a page that joins at every visit keeps no more", async () => {
  const store = new MemoryStore();
  const collector = new StubCollector(makeCampaign());
  await joined(collector, { store });
  const before = JSON.stringify(await store.read());
  for (let i = 0; i < 3; i += 1) await joined(collector, { store });
  assert.equal(JSON.stringify(await store.read()), before);
});

test("documents come over https", async () => {
  const collector = new StubCollector();
  const device = await openDevice(collector);
  for (const url of ["http://example.org/c", "ftp://a/b", "file:///etc/passwd", "", 3, "https://a/?b", "https://a@b/"])
    await assert.rejects(device.join(/** @type {any} */ (url)), failure("parameter", /url must be an https address/));
  assert.equal(collector.requests.length, 0);
});

test("the campaign is named where there are several", async () => {
  const collector = new StubCollector(makeCampaign(), makeCampaign({ id: "jobs" }));
  const options = { store: new MemoryStore(), epsilonLimit: 9 };
  const device = await joined(collector, options);
  await device.join(`${SITE}/jobs`);
  assert.equal((await device.report(HOME)).campaign, "jobs", "the one that was joined last");
  const again = await openDevice(collector, options);
  await assert.rejects(again.report(HOME), failure("parameter", /of homes,jobs, got/));
  assert.equal((await again.report(HOME, { campaign: "homes" })).campaign, "homes");
  await assert.rejects(again.report(HOME, { campaign: "toString" }), failure("parameter", /joined/));
});

test("a campaign may be called constructor", async () => {
  const collector = new StubCollector(makeCampaign({ id: "constructor" }));
  const device = await openDevice(collector, { ingestKey: {} });
  await assert.rejects(device.report(HOME, { campaign: "constructor" }), failure("parameter", /joined/));
  await device.join(`${SITE}/constructor`);
  assert.equal(await device.results(), undefined);
  assert.ok((await device.report(HOME)).sent);
  assert.ok(!("Authorization" in collector.posts[0].headers));
});

// Labels

/** @param {...number[]} centers */
const release = (...centers) => ({
  schema_version: 1,
  method: "NoiseAwareKMeans",
  values: { metric: "euclidean", centers },
});

test("a label comes from published results and stays", async () => {
  const campaign = makeCampaign();
  const collector = new StubCollector(campaign);
  const store = new MemoryStore();
  const device = await joined(collector, { store });
  await assert.rejects(device.label(HOME), failure("campaign", /no results yet/));
  collector.publishResults(campaign, release(WORK, HOME));
  assert.deepEqual([await device.label(HOME), await device.label(WORK)], [1, 0]);
  collector.publishResults(campaign, release(HOME, WORK));
  const asked = collector.requests.length;
  assert.equal(await device.label(HOME), 1, "kept in the store");
  assert.equal(await (await openDevice(collector, { store })).label(HOME), 1);
  assert.equal(collector.requests.length, asked);
  assert.equal(await device.label(HOME, { refresh: true }), 0);
  assert.deepEqual((await device.results())?.release, release(HOME, WORK));
  assert.equal(collector.posts.length, 0);
});

test("a label of a record by names", async () => {
  const mechanism = { ...makeCampaign().mechanism, columns: 2, names: ["east", "north"] };
  const campaign = makeCampaign({ mechanism });
  const collector = new StubCollector(campaign);
  const device = await joined(collector);
  collector.publishResults(campaign, release([0.9, 0.1], [0.1, 0.9]));
  assert.equal(await device.label({ north: 0.8, east: 0.2 }), 1);
  assert.equal(await device.label({ north: 0.2, east: 0.8 }), 0);
  await assert.rejects(device.label({ north: 0.2 }), failure("data", /x/));
});

test("results answer a document that was agreed to, of today or before", async () => {
  const campaign = makeCampaign();
  const collector = new StubCollector(campaign);
  const device = await joined(collector);
  const later = makeCampaign({ revision: 2, title: "Where people live now" });
  collector.publishResults(later, release(WORK, HOME));
  collector.publish(later);
  assert.equal(await device.label(HOME), 1, "the document is fetched, and is no weaker");
  collector.publishResults(campaign, release(HOME, WORK));
  assert.equal(await device.label(HOME, { refresh: true }), 0);
  for (const other of [makeCampaign({ revision: 7 }), {}]) {
    collector.publishResults({ ...other, results_url: campaign.results_url }, release(WORK, HOME));
    await assert.rejects(device.label(HOME, { refresh: true }), failure("campaign", /must answer a document/));
  }
  assert.equal(await device.label(HOME), 0);
  assert.notEqual(digestOf(campaign), digestOf(later));
  for (const page of ["", "[]", "{}", '{"digest": []}', "<html>", `{"digest": "${digestOf(campaign)}"}`]) {
    collector.pages.set(campaign.results_url, page);
    await assert.rejects(device.label(HOME, { refresh: true }), failure("campaign", /must answer a document/));
  }
});

test("the key that nothing is kept without", async () => {
  const store = new MemoryStore();
  await assert.rejects(openDevice(new StubCollector(), { store, publicKey: KEY.slice(2) }), failure("parameter", /publicKey/));
  assert.equal(await store.read(), undefined);
});
