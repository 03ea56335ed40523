// Reports are those of Python, from the same words: bytes, and how many words they took.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { prepareReports } from "../src/mechanisms.js";
import { decodePoints, encodeIndices } from "../src/reportFormat.js";
import { GivenWords } from "./givenWords.js";

const CASES = JSON.parse(readFileSync(new URL("../../vectors/reports.json", import.meta.url), "utf8"));

for (const [number, { mechanism, report_format: format, reports }] of CASES.entries()) {
  const { columns } = format;
  test(`reports of ${mechanism.mechanism}, case ${number} with ${columns.length} columns`, async () => {
    const { draw } = await prepareReports(mechanism, format);
    for (const { note, record, words, seed, used, report, points } of reports) {
      const source = new GivenWords(words, seed);
      const bytes = encodeIndices(format, draw(record, source));
      assert.equal(Buffer.from(bytes).toString("hex"), report, note);
      assert.equal(source.used, used, note);
      if (points) assert.deepEqual(decodePoints(format, bytes), points, note);
    }
  });
}
