// Print what a page loads, in minified bytes, and fail where that of a plain campaign is 20,000 or more.
//
// Counted is every file that is asked for until one report is sent: the module that a page imports, the part of the
// campaign's mechanism, and with a schema or a shuffler theirs. tests/js/test_browser.py holds Chromium to the same list.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { MECHANISMS } from "../src/mechanisms.js";

const LIMIT = 20_000; // bytes: the module itself, and all that a campaign without a schema and a shuffler loads
const ENTRY = "shoal-device.js";
const IMPORTED = /\bfrom"\.\/([\w.-]+)"/g;
const PART = /import\("\.\/([\w.-]+)"\)/;

/** @param {string} name */
const read = (name) => readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8");

/**
 * Return files with all that they import.
 *
 * @param {string[]} names
 * @returns {Set<string>}
 */
function closure(names) {
  /** @type {Set<string>} */
  const loaded = new Set();
  const visit = (/** @type {string} */ name) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const [, imported] of read(name).matchAll(IMPORTED)) visit(imported);
  };
  names.forEach(visit);
  return loaded;
}

/** @param {...string} parts */
const loadOf = (...parts) => [...closure([ENTRY, ...parts])].reduce((sum, name) => sum + Buffer.byteLength(read(name)), 0);

const entry = read(ENTRY);
console.log(`${ENTRY}: ${Buffer.byteLength(entry)} bytes, ${gzipSync(entry, { level: 9 }).length} with gzip, of ${LIMIT}`);
console.log("bytes that a page loads to send one report, by mechanism:");
console.log(["", "plain", "schema", "shuffler", "both"].map((title, i) => (i ? title.padStart(9) : title.padEnd(18))).join(""));
let largest = Buffer.byteLength(entry);
for (const [name, [, load]] of Object.entries(MECHANISMS)) {
  const part = PART.exec(String(load))?.[1] ?? "";
  const loads = [[], ["schema.js"], ["hpke.js"], ["schema.js", "hpke.js"]].map((more) => loadOf(part, ...more));
  console.log(name.padEnd(18) + loads.map((bytes) => String(bytes).padStart(9)).join(""));
  largest = Math.max(largest, loads[0]);
}
const [label, change] = ["results.js", "changes.js"].map((part) => loadOf(part) - loadOf());
console.log(`later: ${label} for a label, ${change} where the document has changed`);
console.log(`largest plain load: ${largest} of ${LIMIT}`);
process.exitCode = largest < LIMIT ? 0 : 1;
