// A device in a process of its own, for tests that kill it: FOLDER LOG CAMPAIGN POINT VALUE...
//
// What it sends goes to a log, one line each, as a collector would see it. At POINT the process kills itself.

import fs from "node:fs";

import { FileStore } from "../src/fileStore.js";
import { joined, makeCampaign, StubCollector } from "./stubCollector.js";

const [folder, log, base, point, ...values] = process.argv.slice(2);
const kill = () => process.kill(process.pid, "SIGKILL");

class KilledStore extends FileStore {
  /** @override @param {import("../src/stores.js").Change} change */
  async update(change) {
    const state = await super.update(change);
    const [report] = state.reports;
    if (point === "drawn" && report) kill();
    if (point === "sealed" && report?.sealed) kill();
    return state;
  }
}

const collector = new StubCollector(makeCampaign({ id: "homes", reports_per_device: 5 }, base));
const device = await joined(collector, {
  store: new KilledStore(folder),
  fetch: async (url, request) => {
    const answer = await collector.fetch(url, request);
    if (request?.method === "POST") {
      if (point === "sent") kill();
      fs.appendFileSync(log, `${collector.sent.at(-1)}\n`);
      if (point === "stored") kill();
    }
    return answer;
  },
});
for (const value of values) {
  try {
    await device.report([Number(value), 0.5]);
  } catch (refused) {
    if (/** @type {any} */ (refused).code !== "budget") throw refused;
  }
}
