// The store in a folder: a device that is stopped anywhere goes on with the same bytes, and pays once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { FileStore } from "../src/fileStore.js";
import { HOME, joined, makeCampaign, openDevice, StubCollector } from "./stubCollector.js";

// In memory where there is such a disk: hundreds of devices would wait for another one.
const scratch = fs.mkdtempSync(path.join(fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir(), "shoal-"));
after(() => fs.rmSync(scratch, { recursive: true }));
let folders = 0;
const newFolder = () => path.join(scratch, String((folders += 1)));

// What reads alone can stop nothing half-way.
const CALLS = ["fsyncSync", "linkSync", "mkdirSync", "openSync", "renameSync", "rmSync", "writeFileSync"];

/**
 * Run with a disk that is gone from some call on, before that call or after it, and a network that is gone with it.
 *
 * @param {StubCollector} collector
 * @param {number} steps
 * @param {boolean} done whether the call itself still takes place
 * @param {(fetch: typeof globalThis.fetch) => Promise<unknown>} run
 * @returns {Promise<boolean>} whether it came to its end
 */
async function stopAfter(collector, steps, done, run) {
  let left = steps;
  const gone = new Error("gone");
  /** @template T @param {() => T} call @returns {T} */
  const step = (call) => {
    left -= 1;
    if (left < 0) throw gone;
    if (left > 0) return call();
    if (done) call();
    throw gone;
  };
  /** @type {Record<string, any>} */
  const calls = fs;
  const whole = Object.fromEntries(CALLS.map((name) => [name, calls[name]]));
  for (const name of CALLS) calls[name] = (/** @type {any[]} */ ...given) => step(() => whole[name](...given));
  try {
    await run(async (...request) => step(() => collector.fetch(...request)));
    return true;
  } catch (failure) {
    const { code } = /** @type {any} */ (failure);
    assert.ok(failure === gone || code === "delivery", String(failure));
    return false;
  } finally {
    Object.assign(fs, whole);
  }
}

test("a device that is stopped at any point sends the same report, and pays once", async () => {
  let points = 0;
  for (const done of [false, true]) {
    for (let steps = 1, ended = false; !ended; steps += 1) {
      const collector = new StubCollector(makeCampaign({ id: "homes" }, "shuffled"));
      const folder = newFolder();
      ended = await stopAfter(collector, steps, done, async (fetch) => {
        const device = await joined(collector, { store: new FileStore(folder), fetch });
        await device.report(HOME);
      });
      points += 1;
      const device = await joined(collector, { store: new FileStore(folder) });
      await device.report(HOME);
      const [{ drawn, acknowledged, epsilon }] = await device.status();
      assert.deepEqual([drawn, acknowledged, epsilon], [1, 1, 1], `stopped after ${steps}`);
      assert.equal(new Set(collector.sent).size, 1, `stopped after ${steps}`);
      assert.equal(collector.stored.size, 1);
      assert.ok(fs.readdirSync(folder).every((name) => Number(name) > 0), "nothing is left behind");
    }
  }
  assert.ok(points > 100, `${points} points`);
});

test("a report is on the disk, under its name, before it is sent", async () => {
  /** @type {string[]} */
  const order = [];
  /** @type {Record<string, any>} */
  const calls = fs;
  const whole = Object.fromEntries(CALLS.map((name) => [name, calls[name]]));
  for (const name of CALLS)
    calls[name] = (/** @type {any[]} */ ...given) => {
      order.push(name);
      return whole[name](...given);
    };
  try {
    const collector = new StubCollector(makeCampaign());
    const device = await joined(collector, { store: new FileStore(newFolder()) });
    order.length = 0;
    await device.draw(HOME);
  } finally {
    Object.assign(fs, whole);
  }
  const written = order.slice(order.indexOf("writeFileSync"), order.indexOf("rmSync")).join(" ");
  assert.match(written, /^writeFileSync fsyncSync linkSync openSync fsyncSync/);
});

test("a new store is on the disk, with the name of its folder", async () => {
  const { fsyncSync, openSync, renameSync } = fs;
  const folder = newFolder();
  /** @type {Map<number, string>} */
  const opened = new Map();
  /** @type {string[]} */
  const order = [];
  fs.openSync = (file, ...given) => {
    const made = openSync(file, ...given);
    opened.set(made, path.relative(scratch, String(file)).replace(/\.[\w-]+/, ".new"));
    return made;
  };
  fs.fsyncSync = (file) => {
    order.push(`sync ${opened.get(file)}`);
    fsyncSync(file);
  };
  fs.renameSync = (from, to) => {
    order.push("rename");
    renameSync(from, to);
  };
  try {
    await new FileStore(folder).update((state) => add(state, 1));
  } finally {
    Object.assign(fs, { fsyncSync, openSync, renameSync });
  }
  const name = path.basename(folder);
  assert.deepEqual(order, [`sync ${name}.new/1`, `sync ${name}.new`, "rename", "sync "]);
});

/** @param {string[]} given @returns {Promise<string>} signal, or the exit code */
const run = (...given) =>
  new Promise((resolve) => {
    const script = fileURLToPath(new URL("deviceProcess.js", import.meta.url));
    spawn(process.execPath, ["--no-warnings", script, ...given], { stdio: ["ignore", "ignore", "inherit"] }).on(
      "exit",
      (code, signal) => resolve(signal ?? String(code)),
    );
  });

test("a process that is killed between drawing and sending leaves one report", async () => {
  /** @param {string} point */
  const killed = async (point) => {
    const folder = newFolder();
    const log = `${folder}.log`;
    assert.equal(await run(folder, log, "shuffled", point, "0.25"), "SIGKILL", point);
    assert.equal(await run(folder, log, "shuffled", "", "0.25"), "0", point);
    const sent = fs.readFileSync(log, "utf8").trim().split("\n");
    assert.equal(new Set(sent).size, 1, point);
    const device = await openDevice(new StubCollector(), { store: new FileStore(folder) });
    const [{ drawn, acknowledged }] = await device.status();
    assert.deepEqual([drawn, acknowledged], [1, 1]);
  };
  await Promise.all(["drawn", "sealed", "sent", "stored"].map(killed));
});

test("two processes share a folder: one report a value, and no more than allowed", async () => {
  const folder = newFolder();
  const values = Array.from({ length: 8 }, (_, i) => String(i / 8));
  const logs = [1, 2].map((i) => `${folder}.log${i}`);
  for (const log of logs) fs.writeFileSync(log, ""); // all that one wants to send may have arrived by the other
  await Promise.all(logs.map((log, i) => run(folder, log, "homes", "", ...(i ? [...values].reverse() : values))));
  const sent = logs.flatMap((log) => fs.readFileSync(log, "utf8").split("\n").filter(Boolean));
  const device = await openDevice(new StubCollector(), { store: new FileStore(folder) });
  const [{ drawn, acknowledged, epsilon }] = await device.status();
  assert.deepEqual([drawn, acknowledged, epsilon], [5, 5, 5], "five reports of a device");
  assert.equal(new Set(sent.map((line) => line.split(" ")[0])).size, 5);
  assert.equal(new Set(sent).size, 5, "the same bytes under the same key");
});

test("only the owner may read, and what is no whole store is refused", async () => {
  const folder = newFolder();
  const store = new FileStore(folder);
  await (await joined(undefined, { store })).draw(HOME);
  const last = Math.max(...fs.readdirSync(folder).map(Number));
  const file = path.join(folder, String(last));
  assert.equal(fs.statSync(path.join(folder, String(last - 1))).size, 0, "what was before is emptied");
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  const whole = fs.readFileSync(file);
  const refused = { name: "ShoalError", code: "parameter", message: /is damaged or no store of a device/ };
  const flipped = Buffer.from(whole);
  flipped[whole.indexOf('"epsilon":1') + 10] = 0x30;
  for (const torn of [whole.subarray(0, -1), whole.subarray(0, 64), Buffer.alloc(0), flipped]) {
    fs.writeFileSync(file, torn);
    await assert.rejects(store.read(), refused);
    await assert.rejects(openDevice(new StubCollector(), { store }), refused);
  }
  fs.rmSync(file);
  await assert.rejects(store.read(), refused, "emptied");
  fs.writeFileSync(file, whole);
  assert.equal((await store.read())?.reports.length, 1);
});

/** @param {any} state @param {number} spent @returns {any} */
const add = (state, spent) => ({ spent: (state?.spent ?? 0) + spent });

test("a writer that was asleep while others went on does not bring back the past", async () => {
  for (const others of [3, 600]) {
    const folder = newFolder();
    const [slow, quick] = [new FileStore(folder), new FileStore(folder)];
    await quick.update((state) => add(state, 1));
    let asleep = true;
    await slow.update((state) => {
      if (asleep) for (let i = 0; i < others; i += 1) void quick.update((now) => add(now, 1));
      asleep = false;
      return add(state, 10_000);
    });
    assert.deepEqual(await quick.read(), { spent: 10_001 + others });
    assert.ok(fs.readdirSync(folder).length < 300, "a number of files that does not grow");
  }
});

test("an update that others build on at once counts once", async () => {
  const folder = newFolder();
  const [first, quick] = [new FileStore(folder), new FileStore(folder)];
  await first.update((state) => add(state, 1));
  await first.update((state) => add(state, 1));
  const { linkSync } = fs;
  for (const others of [1, 300]) {
    fs.linkSync = (...given) => {
      fs.linkSync = linkSync;
      linkSync(...given);
      for (let i = 0; i < others; i += 1) void quick.update((now) => add(now, 1));
    };
    await first.update((state) => add(state, 10_000));
  }
  assert.deepEqual(await quick.read(), { spent: 20_303 });
});

/**
 * Run with the rules of Windows: no folder is renamed in which a file is open, or to a name that is taken.
 *
 * @param {() => Promise<unknown>} run
 */
async function onWindows(run) {
  const { closeSync, openSync, renameSync } = fs;
  /** @type {Map<number, string>} */
  const open = new Map();
  fs.openSync = (file, ...given) => {
    const opened = openSync(file, ...given);
    open.set(opened, String(file));
    return opened;
  };
  fs.closeSync = (file) => {
    closeSync(file);
    open.delete(file);
  };
  fs.renameSync = (from, to) => {
    const inside = [...open.values()].some((file) => file.startsWith(`${from}/`));
    if (inside || fs.existsSync(to)) throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    renameSync(from, to);
  };
  try {
    await run();
  } finally {
    Object.assign(fs, { closeSync, openSync, renameSync });
  }
  assert.equal(open.size, 0, "no file stays open");
}

test("a folder is made by the rules of Windows, and by one process", async () => {
  await onWindows(async () => {
    const folder = newFolder();
    const [slow, quick] = [new FileStore(folder), new FileStore(folder)];
    let asleep = true;
    await slow.update((state) => {
      if (asleep) void quick.update((now) => add(now, 1));
      asleep = false;
      return add(state, 10_000);
    });
    assert.deepEqual(await quick.read(), { spent: 10_001 });
    assert.deepEqual(fs.readdirSync(scratch).filter((name) => name.startsWith(`${path.basename(folder)}.`)), []);
  });
});
