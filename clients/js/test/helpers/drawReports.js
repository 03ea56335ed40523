// Draws reports for tests in Python: one job a line of JSON comes in, the reports' bytes go out.
//
//     node drawReports.js SOURCE_FOLDER
//
// A job is {mechanism, format, records, each, seed}: `each` reports of every record, with words from
// a seed, or from the client's own source where the seed is null. The folder holds the modules to
// test: those of the client, or a copy with a bug planted.
import { createCipheriv, createHash } from "node:crypto";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.argv[2] ?? "");
/** @param {string} name */
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
const [{ prepareReports }, { encodeIndices }, { secureWords }] = await Promise.all(
  ["mechanisms.js", "reportFormat.js", "words.js"].map(load),
);

/** @param {string} seed */
function seededWords(seed) {
  const key = createHash("sha256").update(`shoal test words:${seed}`).digest().subarray(0, 16);
  const cipher = createCipheriv("aes-128-ctr", key, Buffer.alloc(16));
  return {
    /** @param {number} count */
    words(count) {
      const bytes = cipher.update(Buffer.alloc(8 * count));
      return Array.from({ length: count }, (_, i) => bytes.readBigUInt64LE(8 * i));
    },
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { mechanism, format, records, each, seed } = JSON.parse(line);
  const { encode, draw } = await prepareReports(mechanism, format);
  const source = seed === null ? secureWords : seededWords(seed);
  const drawn = Buffer.alloc(records.length * each * format.bytes);
  let at = 0;
  for (const record of records) {
    const encoded = encode(record);
    for (let i = 0; i < each; i += 1) {
      drawn.set(encodeIndices(format, draw(encoded, source)), at);
      at += format.bytes;
    }
  }
  process.stdout.write(drawn);
}
