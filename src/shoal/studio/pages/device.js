// "Be a device": this browser takes part in a campaign, by the same client that apps and pages have.
//
// The record lives in the memory of this page. Noise is drawn here; one noisy report is sent to the collector, and to
// nobody else, the studio included. What was spent is in the browser's database, by campaign.
import { hex } from "/client/bytes.js";
import { Device, IndexedDbStore, ShoalError } from "/client/index.js";
import { ReportForm } from "/client/reportForm.js";
import { clusterCount, plural, reportWords, whatLeaves, WHAT_STAYS } from "/client/reportWords.js";
import { post } from "/static/api.js";
import { besideRecord } from "/static/deviceSight.js";
import { card, element, roundedUp } from "/static/elements.js";

/** The card of a device; nothing is opened or drawn before a button is pressed. */
export function deviceCard(page, path, told, here) {
  const body = element("div", { className: "device" });
  const title = "Be a device";
  if (!here || told.document.shuffler) return card(title, {}, element("p", { className: "hint" }, "Available only if reports go to this studio's collector."));
  if (!told.document.origins.includes(location.origin))
    return card(title, {}, element("p", { className: "hint" }, `The campaign document does not list ${location.origin} among the web pages that may send reports.`));
  // What was typed stays while other parts of the page change, and is gone with the page.
  const kept = page.device?.digest === told.digest && page.state.device ? page.device.node : null;
  if (kept) return kept;
  const begin = element("button", { type: "button", onclick: () => page.go({ device: 1 }) }, "Take part in this browser");
  if (page.state.device) openDevice(path, told, body).catch((error) => refuse(body, error));
  else body.append(element("p", {}, "See what leaves a device and what stays: enter a record, draw its noisy report here, and send it."), begin);
  const node = card(title, { mark: "in this browser" }, body);
  page.device = page.state.device ? { digest: told.digest, node } : null;
  return node;
}

async function openDevice(path, told, place) {
  const { link, public_key: publicKey, ingest_key: ingestKey } = await post(`${path}/device`);
  const store = new IndexedDbStore(`shoal studio ${told.digest.slice(0, 32)}`);
  const device = await Device.open({ store, publicKey, ingestKey, retries: { attempts: 2 } });
  const campaign = await device.join(link);
  const form = new ReportForm(campaign.mechanism);
  const outcome = element("div", { role: "status" });
  const sight = element("div");
  const budget = element("p", { className: "hint" });
  let busy = false;
  const act = (task) => async () => {
    if (busy) return;
    busy = true;
    outcome.replaceChildren();
    try {
      const record = form.read();
      if (record) await task(record);
    } catch (error) {
      refuse(outcome, error);
    }
    busy = false;
  };

  const count = async () => {
    const [{ drawn, acknowledged, epsilon }] = await device.status();
    const limit = campaign.reports_per_device;
    budget.textContent = `This device's ledger: ${drawn} of ${plural(limit, "report")} drawn, ${acknowledged} arrived; epsilon ${roundedUp(epsilon)} of ${roundedUp(campaign.guarantee.epsilon)} spent.`;
  };
  const draw = act(async (record) => {
    const receipt = await device.draw(record);
    sight.replaceChildren(...leaving(campaign, record, receipt));
    await count();
  });
  const send = act(async (record) => {
    const { duplicate } = await device.draw(record);
    await count();
    const receipt = await device.report(record);
    sight.replaceChildren(...leaving(campaign, record, receipt));
    outcome.replaceChildren(element("p", { className: "good-words" }, duplicate && receipt.sent
      ? "Your report has arrived. It is the one drawn earlier: the same bytes, and nothing more was spent."
      : "Your noisy report has arrived; your record has not left this page."));
    await count();
  });
  const find = act(async (record) => {
    let label;
    try {
      label = await device.label(record, { refresh: true });
    } catch (error) {
      if (!String(error).includes("no results yet")) throw error;
      outcome.replaceChildren(element("p", {}, "Nothing is published yet: analyze the reports, then publish the result."));
      return;
    }
    const clusters = clusterCount((await device.results()).release);
    outcome.replaceChildren(element("p", { className: "sentence good-words" }, label < 0 ? "Your record lies in no cluster." : `Your cluster: ${label}${clusters ? ` of ${clusters}` : ""}`),
      element("p", { className: "hint" }, "Cluster numbers start at 0, as in the published result. Yours was computed in this browser and sent to no one."));
  });

  place.replaceChildren(
    element("details", {}, element("summary", {}, "What leaves, and what stays"),
      element("ul", {}, ...whatLeaves(campaign).map((line) => element("li", {}, line))), element("ul", {}, ...WHAT_STAYS.map((line) => element("li", {}, line)))),
    element("p", { className: "note" }, "Your record never leaves this page. It is kept only in the page's memory."),
    // No browser keeps what was typed, for the next visit or to come back to.
    element("form", { autocomplete: "off", onsubmit: (event) => event.preventDefault() }, form.node),
    element("div", { className: "row" }, button("Make one up", () => { makeUp(form); }), button("Draw the report", draw), button("Send it", send, "main"), button("Find my cluster", find)),
    budget, outcome, sight);
  await count();
}

const button = (words, onclick, className = "") => element("button", { type: "button", onclick, className }, words);

function leaving(campaign, record, { report, sent }) {
  return [
    element("h3", {}, sent ? `Exactly these ${plural(report.length, "byte")} left` : `Exactly these ${plural(report.length, "byte")} will leave`),
    element("p", {}, element("code", { className: "bytes", "data-report": true }, hex(report))),
    element("p", {}, reportWords(campaign, report)),
    besideRecord(campaign, record, report),
  ];
}

/** Fill the form with a record that is nobody's. */
function makeUp(form) {
  for (const { controls } of form.questions)
    for (const control of controls) {
      if (control.localName === "select") {
        control.selectedIndex = 1 + Math.floor(Math.random() * (control.options.length - 1));
      } else if (control.type === "date") {
        const [low, high] = [Date.parse(control.min), Date.parse(control.max)];
        control.value = new Date(low + Math.random() * (high - low)).toISOString().slice(0, 10);
      } else {
        const [low, high] = [Number(control.min), Number(control.max)];
        control.value = String(Number((low + Math.random() * (high - low)).toPrecision(4)));
      }
    }
}

function refuse(place, error) {
  if (error.lost || !(error instanceof ShoalError || error.status)) throw error;
  const words = error.code === "budget" ? "This device has sent all the reports it may send, so its ledger refuses another. Nothing was drawn or sent. " : "";
  place.replaceChildren(element("p", { className: "bad-words" }, words, words ? element("span", { className: "hint" }, error.message) : error.message));
}
