// Print the size of the module that browsers load, and fail where it is no longer small.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 20_000; // bytes, as servers send it
const bundle = readFileSync(new URL("../dist/shoal-client.js", import.meta.url));
const sent = gzipSync(bundle, { level: 9 }).length;
console.log(`shoal-client.js: ${bundle.length} bytes, ${sent} with gzip, of ${LIMIT}`);
process.exitCode = sent < LIMIT ? 0 : 1;
