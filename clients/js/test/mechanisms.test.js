// Documents that contradict their epsilon are refused before a word is drawn; words are used as Python uses them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ShoalError } from "../src/errors.js";
import { MECHANISMS, prepareReports } from "../src/mechanisms.js";
import { encodeIndices } from "../src/reportFormat.js";
import { keepThreshold, twoLevel, uniformIntegers } from "../src/samplers.js";
import { secureWords } from "../src/words.js";
import { GivenWords } from "./givenWords.js";

/** @type {any[]} */
const CASES = JSON.parse(readFileSync(new URL("../../vectors/reports.json", import.meta.url), "utf8"));

/**
 * @param {string} name
 * @param {(parameters: any, columns: number) => boolean} [wanted]
 */
const caseOf = (name, wanted = () => true) =>
  structuredClone(
    CASES.find(({ mechanism: m, report_format: f }) => m.mechanism === name && wanted(m.parameters, f.columns.length)),
  );

/** @type {Record<string, [string, (mechanism: any, format: any) => void]>} */
const LIES = {
  "a coarser lattice": ["Laplace", (_, { columns }) => columns.forEach((/** @type {any} */ c) => (c.step *= 2))],
  "a finer lattice": ["SphericalLaplace", (_, { columns }) => (columns[0].step /= 2)],
  "a shifted lattice": ["PlanarLaplace", (_, { columns }) => (columns[1].origin = 0.5)],
  "a range between indices": ["Laplace", (_, { columns }) => (columns[0].first += 0.5)],
  "an empty range": ["Laplace", (_, { columns }) => (columns[0].levels = 0)],
  "a column less": ["SphericalLaplace", (_, { columns }) => columns.pop()],
  "planar noise for one column": ["Laplace", (mechanism) => (mechanism.mechanism = "PlanarLaplace")],
  "an odd number of positions": ["Piecewise", (_, { columns }) => (columns[0].levels += 1)],
  "windows that are cut": ["SquareWave", (_, { columns }) => (columns[0].first += 1)],
  "fewer cells than a window": ["Piecewise", (_, { columns }) => (columns[0].levels = 2 ** 22 + 1)],
  "another upper value": ["Hybrid", (_, { columns }) => ((columns[0].first -= 1), (columns[0].stride += 2))],
  "three values": ["Duchi", (_, { columns }) => (columns[0].levels = 3)],
  "a color more": ["PartitionResponse", (_, { columns }) => (columns[1].levels += 1)],
  "colors that differ": ["PartitionResponse", ({ parameters }) => (parameters.partitions.blocks[0].n_colors += 1)],
  "partitions of an earlier round": ["PartitionResponse", (_, { columns }) => (columns[0].first += 1)],
  "no partition": [
    "PartitionResponse",
    ({ parameters }, { columns }) => {
      columns[0].first = parameters.first_partition = parameters.partitions.blocks[0].n_partitions;
      columns[0].levels = 0;
    },
  ],
  "half a partition": [
    "PartitionResponse",
    ({ parameters }, { columns }) => {
      columns[0].first = parameters.first_partition = 0.5;
      columns[0].levels -= 0.5;
    },
  ],
  "no epsilon": ["Duchi", ({ parameters }) => (parameters.epsilon = 0)],
  "an endless epsilon": ["Laplace", ({ parameters }) => (parameters.epsilon = Infinity)],
  "an epsilon in words": ["Piecewise", ({ parameters }) => (parameters.epsilon = "much")],
};

for (const [lie, [name, change]] of Object.entries(LIES)) {
  test(`refused: ${lie}`, async () => {
    const { mechanism, report_format: format } = caseOf(name, (parameters) => parameters.truncate == null);
    assert.ok(await prepareReports(mechanism, format));
    change(mechanism, format);
    await assert.rejects(
      prepareReports(mechanism, format),
      (error) => error instanceof ShoalError && error.code === "campaign",
    );
  });
}

test("refused: redrawn reports of another box", async () => {
  const { mechanism, report_format: format } = caseOf("Laplace", ({ truncate }) => truncate === "resample");
  format.columns[0].levels -= 1;
  await assert.rejects(prepareReports(mechanism, format), ShoalError);
});

test("every mechanism draws from the generator for keys", async () => {
  for (const { mechanism, report_format: format, reports } of CASES) {
    const { record } = reports[0];
    const { draw } = await prepareReports(mechanism, format);
    assert.equal(encodeIndices(format, draw(record, secureWords)).length, format.bytes);
  }
});

test("many words are all drawn", () => {
  assert.ok(secureWords.words(20_000).every((word) => word !== 0n));
});

test("a module that does not load is refused, and with it the mechanism", async () => {
  const { mechanism, report_format: format } = caseOf("Duchi");
  const [, load] = MECHANISMS.Duchi;
  MECHANISMS.Duchi[1] = () => Promise.reject(new TypeError("no such module"));
  try {
    await assert.rejects(
      prepareReports(mechanism, format),
      (error) => error instanceof ShoalError && /all files of the client must be served/.test(error.message),
    );
  } finally {
    MECHANISMS.Duchi[1] = load;
  }
});

test("what is no report is not encoded, and not told", () => {
  const { report_format: format } = caseOf("Duchi");
  for (const index of [0, 3, -3, NaN]) {
    assert.throws(
      () => encodeIndices(format, Array(format.columns.length).fill(index)),
      (error) => error instanceof ShoalError && !/\d/.test(error.message),
    );
  }
});

test("refused words are drawn again, after all others", () => {
  const source = new GivenWords(["ffffffffffffffff", "5", "ffffffffffffffff", "ffffffffffffffff", "7", "8"]);
  assert.deepEqual(uniformIntegers(3, 10, source), [8, 5, 7]);
  assert.equal(source.used, 6);
});

test("a level is chosen by its chance alone", () => {
  // (1 - q) / (1 + q) for q = 1/e, in hexadecimal digits.
  const first = "764d4f5d5a2bcd94";
  for (const [words, high] of /** @type {[string[], boolean][]} */ ([
    [["764d4f5d5a2bcd93"], true],
    [["764d4f5d5a2bcd95"], false],
    [[first, "0"], true],
    [[first, "ffffffffffffffff"], false],
  ])) {
    assert.deepEqual(twoLevel(1, [1n, 1n], [1n, 1n], new GivenWords(words)), [high]);
  }
});

test("thresholds are whole numbers below the exact one", () => {
  assert.equal(keepThreshold([1n, 1n], 4), 5543047035272007536n);
  assert.equal(keepThreshold([1n, 1n << 40n], 4), 4194304n);
  assert.equal(keepThreshold([1000n, 1n], 4), (1n << 64n) - 1n);
});
