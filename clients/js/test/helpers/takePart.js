// A device that takes part in a campaign of a collector on this machine: a job as JSON in, what became of it out.

import { keyBytes, utf8 } from "../../src/bytes.js";
import { seal } from "../../src/hpke.js";
import { Device, FileStore, ShoalError } from "../../src/node.js";

const job = JSON.parse(process.argv[2]);
/** @param {Uint8Array} bytes */
const hex = (bytes) => Buffer.from(bytes).toString("hex");
/** @param {Promise<any>} asked */
const outcome = (asked) =>
  asked.catch((/** @type {unknown} */ refused) => {
    if (refused instanceof ShoalError) return { code: refused.code, message: refused.message };
    throw refused;
  });

const retries = { attempts: 2, firstWait: 0 };
const device = await Device.open({ store: new FileStore(job.folder), retries, ...job.options });
const campaign = await device.join(job.url);
const receipts = [];
for (const record of job.records ?? []) {
  const { report, ...rest } = await outcome(device.report(record));
  receipts.push(report ? { ...rest, report: hex(report) } : rest);
}
const labels = [];
for (const record of job.labeled ?? []) labels.push(await outcome(device.label(record)));
const { key, id, report } = job.sealed ?? {};
const owner = keyBytes("x25519:", key);
const sealed = owner && hex(await seal(owner, utf8(`shoal report 1\n${id}`), Uint8Array.from(Buffer.from(report, "hex"))));
const status = (await device.status()).map(({ drawn, acknowledged, digest }) => ({ drawn, acknowledged, digest }));
console.log(JSON.stringify({ title: campaign.title, receipts, labels, sealed, status }));
