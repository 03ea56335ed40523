// Delivery: the same bytes and key until they arrive, whatever the collector answers.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { MemoryStore } from "#client";

import {
  digestOf,
  HOME,
  joined,
  makeCampaign,
  openDevice,
  signCampaign,
  StubCollector,
  URL_OF_HOMES,
  WORK,
} from "./stubCollector.js";

/** @param {string} code @param {RegExp} message @param {boolean} [final] */
const failure = (code, message, final = false) => ({ name: "ShoalError", code, message, final });
const noNetwork = new TypeError("fetch failed");

test("an attempt after trouble sends the same", async () => {
  for (const trouble of [[noNetwork, noNetwork], [503, 429], [500, 502], ["drop"]]) {
    const collector = new StubCollector(makeCampaign());
    const device = await joined(collector);
    collector.plan = trouble.map((step) =>
      step === "drop"
        ? (/** @type {any} */ request) => {
            collector.store(request);
            throw noNetwork;
          }
        : /** @type {any} */ (step),
    );
    assert.ok((await device.report(HOME)).sent);
    assert.equal(collector.sent.length, trouble.length + 1);
    assert.equal(new Set(collector.sent).size, 1);
    assert.equal(collector.stored.size, 1);
  }
});

test("a collector that is busy for ever gets no fresh report", async () => {
  for (const base of ["homes", "shuffled"]) {
    const collector = new StubCollector(makeCampaign({ id: "homes" }, base));
    const store = new MemoryStore();
    collector.plan = Array(30).fill(503);
    for (let i = 0; i < 5; i += 1) {
      const device = await joined(collector, { store });
      await assert.rejects(device.report(HOME), failure("delivery", /503.*try again/));
    }
    const device = await joined(collector, { store });
    assert.equal((await device.sendPending()).kept, 1);
    assert.equal(collector.sent.length, 18, "bounded: three attempts a call");
    assert.equal(new Set(collector.sent).size, 1);
    collector.plan = [];
    assert.deepEqual(await device.sendPending(), { sent: 1, kept: 0, reasons: [] });
    assert.equal((await device.status())[0].epsilon, 1);
  }
});

test("a refusal is final and the report is kept", async () => {
  for (const status of [400, 401, 403, 404, 409, 410, 413, 415, 422, 301, 307]) {
    const collector = new StubCollector(makeCampaign());
    const device = await joined(collector);
    collector.plan = [status];
    await assert.rejects(device.report(HOME), failure("delivery", RegExp(`refused for good, status ${status}`), true));
    assert.equal(collector.posts.length, 1);
    assert.ok((await device.report(HOME)).duplicate, "kept, and tried again where somebody asks for it");
    assert.equal(new Set(collector.sent).size, 1);
  }
});

test("only a collector's word is taken for arrival", async () => {
  for (const answer of [
    new Response("<html>Sign in to this network</html>"),
    new Response(null, { status: 201 }),
    new Response("[]"),
    Response.json({ stored: 0, duplicate: false }, { status: 201 }),
    Response.json({ stored: true }),
    new Response(null, { status: 204 }),
    Response.json({ stored: 1 }, { status: 299 }),
    new Response(`{"stored": 1, "x": "${"x".repeat(70_000)}"}`),
  ]) {
    const collector = new StubCollector(makeCampaign());
    const device = await joined(collector);
    collector.plan = [answer, noNetwork, noNetwork];
    await assert.rejects(device.report(HOME), failure("delivery", /must answer as a collector does|no answer/));
    assert.equal((await device.status())[0].acknowledged, 0);
    collector.plan = [];
    assert.equal((await device.sendPending()).sent, 1);
  }
});

test("the server's words and the report stay out of messages", async () => {
  const collector = new StubCollector(makeCampaign());
  const device = await joined(collector);
  collector.plan = [(request) => new Response(`bad report: ${request.body}`, { status: 422 })];
  await assert.rejects(device.report(HOME), (/** @type {Error} */ { message }) => {
    return !message.includes("bad report") && !message.includes(String(collector.posts[0].body));
  });
});

test("waits grow, are drawn, and a named time is respected", async () => {
  /** @type {number[]} */
  const waits = [];
  const clock = mock.method(globalThis, "setTimeout", (/** @type {() => void} */ run, /** @type {number} */ wait) => {
    waits.push(wait / 1000);
    queueMicrotask(run);
  });
  try {
    const collector = new StubCollector(makeCampaign());
    const device = await joined(collector, { retries: { attempts: 40, firstWait: 1, maxWait: 8 } });
    collector.plan = Array(39).fill(503);
    await device.report(HOME);
    assert.equal(waits.length, 39);
    assert.ok(waits.every((wait, i) => wait <= Math.min(8, 2 ** i)));
    assert.equal(new Set(waits).size, 39);
    for (const [header, least] of /** @type {[string, number][]} */ ([
      ["3", 3],
      ["soon", 0],
      ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ])) {
      waits.length = 0;
      const other = await joined(collector);
      collector.plan = [new Response(null, { status: 503, headers: { "Retry-After": header } })];
      await other.report(HOME);
      assert.deepEqual(waits, [least]);
    }
    for (const header of ["3600", "9".repeat(400), "Fri, 31 Dec 2100 23:59:59 GMT"]) {
      waits.length = 0;
      const other = await joined(collector);
      collector.plan = [new Response(null, { status: 429, headers: { "Retry-After": header } })];
      await assert.rejects(other.report(HOME), (/** @type {any} */ refused) => refused.wait >= 3600 && !refused.final);
      assert.deepEqual(waits, [], "left to the scheduler");
    }
  } finally {
    clock.mock.restore();
  }
});

test("pending reports of a campaign that does not answer wait together", async () => {
  const collector = new StubCollector(makeCampaign({ reports_per_device: 9 }));
  const device = await joined(collector);
  for (const first of [0.1, 0.2, 0.3]) await device.draw([first, 0.5]);
  assert.equal(collector.posts.length, 0);
  collector.plan = [503, 503, 503];
  assert.equal((await device.sendPending()).kept, 3);
  assert.equal(collector.posts.length, 3, "one of them was tried");
  collector.plan = [422];
  const { sent, kept, reasons } = await device.sendPending();
  assert.deepEqual([sent, kept], [2, 1], "a refused one does not hold up the others");
  assert.match(reasons[0], /422/);
});

test("headers say what the collector needs and no more", async () => {
  const campaign = makeCampaign({ reports_per_device: 2 });
  const collector = new StubCollector(campaign);
  await (await joined(collector, { ingestKey: "secret" })).report(HOME);
  const { headers } = collector.posts[0];
  assert.deepEqual(Object.keys(headers).sort(), ["Authorization", "Content-Type", "Idempotency-Key", "Shoal-Campaign"]);
  assert.equal(headers.Authorization, "Bearer secret");
  assert.equal(headers["Shoal-Campaign"], digestOf(campaign));
  assert.match(headers["Idempotency-Key"], /^[\w-]{32}$/);
  const numbered = new StubCollector(makeCampaign({ device_ids: true, open_intake: true, reports_per_device: 2 }));
  const device = await joined(numbered, { ingestKey: { homes: "secret" } });
  await device.report(HOME);
  await device.report(WORK);
  const [first, second] = numbered.posts.map((post) => post.headers);
  assert.ok(!("Authorization" in first), "open to all");
  assert.equal(first["Shoal-Device"], second["Shoal-Device"]);
  assert.notEqual(first["Idempotency-Key"], second["Idempotency-Key"]);
});

test("keys and waits that cannot be are refused, and not repeated", async () => {
  for (const ingestKey of ["two words", "line\n", { homes: "ä" }])
    await assert.rejects(openDevice(new StubCollector(), { ingestKey }), failure("parameter", /^ingestKey must be [a-z ]+$/));
  for (const wrong of [{ attempts: 0 }, { attempts: 1.5 }, { firstWait: -1 }, { firstWait: 9, maxWait: 1 }])
    await assert.rejects(openDevice(new StubCollector(), { retries: wrong }), failure("parameter", /retries/));
});

// The document changed

test("a new document with the same mechanism takes the same report", async () => {
  for (const base of ["homes", "shuffled"]) {
    const campaign = makeCampaign({ id: "homes" }, base);
    const collector = new StubCollector(campaign);
    const device = await joined(collector);
    const later = makeCampaign({ id: "homes", revision: 2, closes: "2131-01-01T00:00:00Z" }, base);
    collector.publish(later);
    collector.digest = digestOf(later);
    assert.ok((await device.report(HOME)).sent);
    assert.equal(new Set(collector.sent).size, 1);
    assert.deepEqual(collector.posts.map((post) => post.headers["Shoal-Campaign"]), [digestOf(campaign), digestOf(later)]);
    assert.equal((await device.status())[0].campaign.revision, 2);
  }
});

test("a weaker document is refused in the middle too", async () => {
  const campaign = makeCampaign({ id: "homes" }, "shuffled");
  for (const changed of [{ reports_per_device: 4 }, { shuffler: null }, { purpose: "Sell it." }]) {
    const collector = new StubCollector(campaign);
    const device = await joined(collector);
    const weaker = makeCampaign({ id: "homes", revision: 2, ...changed }, "shuffled");
    collector.publish(weaker);
    collector.digest = digestOf(weaker);
    for (let i = 0; i < 2; i += 1)
      await assert.rejects(device.report(HOME), failure("campaign", /must promise no less.*: \w.*; nothing was sent/));
    assert.equal(new Set(collector.sent).size, 1);
    assert.equal(collector.stored.size, 0);
    assert.equal((await device.sendPending()).kept, 1);
    assert.equal((await device.status())[0].digest, digestOf(campaign));
  }
});

test("a collector that refuses its own document is asked twice", async () => {
  const collector = new StubCollector(makeCampaign());
  const device = await joined(collector);
  collector.digest = "0".repeat(64);
  await assert.rejects(device.report(HOME), failure("delivery", /412 again/, true));
  assert.equal(collector.posts.length, 2);
});

test("another campaign at the address is not joined in passing", async () => {
  const collector = new StubCollector(makeCampaign());
  const device = await joined(collector, { epsilonLimit: 9 });
  collector.pages.set(URL_OF_HOMES, signCampaign(makeCampaign({ id: "jobs" })));
  collector.digest = "0".repeat(64);
  await assert.rejects(device.report(HOME), failure("campaign", /must have campaign "homes"/));
  assert.deepEqual((await device.status()).map((status) => status.campaign.id), ["homes"]);
});

test("without an address the app brings the new document", async () => {
  const collector = new StubCollector();
  const device = await openDevice(collector);
  await device.joinEnvelope(signCampaign(makeCampaign()));
  const later = makeCampaign({ revision: 2, title: "Where people live now" });
  collector.digest = digestOf(later);
  await assert.rejects(device.report(HOME), failure("delivery", /another document of campaign "homes": join it/, true));
  await device.joinEnvelope(signCampaign(later));
  assert.equal((await device.sendPending()).sent, 1);
  assert.equal(new Set(collector.sent).size, 1);
});

test("two tabs that report at once send one report", async () => {
  for (const base of ["homes", "shuffled"]) {
    const collector = new StubCollector(makeCampaign({ id: "homes" }, base));
    const store = new MemoryStore();
    const [first, second] = [await joined(collector, { store }), await joined(collector, { store })];
    await Promise.all([first.report(HOME), second.report(HOME), first.sendPending()]);
    assert.equal(new Set(collector.sent).size, 1);
    assert.equal(collector.stored.size, 1);
    assert.equal((await first.status())[0].drawn, 1);
  }
});
