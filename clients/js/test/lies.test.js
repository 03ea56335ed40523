// Documents of a lying author, who signs what they like: what is promised must hold for every one that is taken, and no
// report may fail for some records and not for others, since its absence would tell them apart.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openCampaign, promiseOf } from "../src/campaign.js";
import { prepareReports } from "../src/mechanisms.js";
import { encodeIndices } from "../src/reportFormat.js";
import { columnRate } from "../src/schema.js";
import { secureWords } from "../src/words.js";
import { KEY, makeCampaign, signCampaign } from "./stubCollector.js";

const refused = { name: "ShoalError", code: "campaign" };

/** Open a campaign whose mechanism was changed, with the promise that goes with it. @param {any} campaign */
function open(campaign) {
  campaign.mechanism.guarantee = promiseOf(campaign.mechanism);
  return openCampaign(signCampaign({ ...campaign, guarantee: campaign.mechanism.guarantee }), KEY);
}

/** Draw many reports of a record: none may fail. @param {any} campaign @param {number[]} x */
async function drawMany({ mechanism, report_format: format }, x) {
  const { draw, encode } = await prepareReports(mechanism, format);
  const record = encode(x);
  for (let i = 0; i < 100; i += 1) encodeIndices(format, draw(record, secureWords));
}

test("a place beside fields that are not reported is promised in the unit of its noise", async () => {
  const campaign = makeCampaign({}, "place");
  const rate = columnRate(campaign.mechanism);
  const { fields } = campaign.mechanism.parameters.schema;
  fields.push({ name: "note", type: "string", shoal: { role: "ignore" } });
  const opened = await open(campaign);
  assert.equal(columnRate(opened.campaign.mechanism), rate);
  assert.equal(opened.campaign.guarantee.unit, "km");
  const without = { ...opened.campaign.guarantee, unit: "" };
  campaign.mechanism.guarantee = without;
  await assert.rejects(openCampaign(signCampaign({ ...campaign, guarantee: without }), KEY), refused);
});

test("the distance of a schema of several fields has no unit", () => {
  const { mechanism } = makeCampaign({}, "place");
  const { fields } = mechanism.parameters.schema;
  fields.push({ name: "age", type: "number", constraints: { required: true, minimum: 0, maximum: 9 } });
  assert.equal(promiseOf(mechanism).unit, "");
  for (const unit of ["km", ["km"], 1]) {
    mechanism.parameters.unit = unit;
    assert.throws(() => promiseOf(mechanism), refused);
  }
});

test("a name with a comma is not two names", async () => {
  const campaign = makeCampaign({}, "laplace");
  const { truncate, unit, ...parameters } = campaign.mechanism.parameters;
  campaign.mechanism.parameters = { ...parameters, "truncate,unit": 0 }; // would be a local promise
  await assert.rejects(open(campaign), refused);
  const { title, version, ...rest } = makeCampaign();
  await assert.rejects(openCampaign(signCampaign({ ...rest, "title,unit": title, version }), KEY), refused);
});

test("cells without a color cost no report", async () => {
  const campaign = makeCampaign();
  for (const block of campaign.mechanism.parameters.partitions.blocks)
    block.axes = block.axes.map((/** @type {any} */ axis) => [...axis.slice(0, 3), 0.5, 0.5]);
  const opened = await open(campaign);
  for (const x of [0.5, 0.9]) await drawMany(opened.campaign, [x, x]); // no number, and one
});

test("a box without a middle costs no report", async () => {
  for (const base of ["wave", "hybrid", "piecewise"]) {
    const campaign = makeCampaign({}, base);
    const { parameters } = campaign.mechanism;
    parameters.bounds = [0, 5e-324].map((end) => parameters.bounds[0].map(() => end));
    const opened = await open(campaign);
    for (const x of [0, 1]) await drawMany(opened.campaign, parameters.bounds[0].map(() => x));
  }
});

test("cells that are not told apart in doubles are refused", async () => {
  const campaign = makeCampaign({}, "wave");
  const levels = 2 ** 53 + 2 ** 24;
  const positions = levels - (2 ** 22 + 1);
  for (const column of campaign.report_format.columns)
    Object.assign(column, { levels, first: -(positions + 2 ** 22) / 2 });
  campaign.report_format.bytes = Math.ceil((54 * campaign.report_format.columns.length) / 8);
  await assert.rejects(open(campaign), refused);
});

test("a box that is too wide for its lattice is refused, for near and far records alike", async () => {
  for (const base of ["laplace", "planar"]) {
    const campaign = makeCampaign({}, base);
    campaign.mechanism.parameters.bounds[1][1] = Number.MAX_VALUE;
    await assert.rejects(open(campaign), refused);
  }
});

test("colors that nothing is drawn from are refused before anything is", async () => {
  for (const colors of [0, -2, 2.5, 1e300, "4"]) {
    const campaign = makeCampaign();
    for (const block of campaign.mechanism.parameters.partitions.blocks) block.n_colors = colors;
    campaign.report_format.columns[1].levels = colors;
    await assert.rejects(prepareReports(campaign.mechanism, campaign.report_format), refused);
  }
});
