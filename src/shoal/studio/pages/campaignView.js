// One campaign: its public document, the reports that come in, analyses, and a device in this browser.
import { fetchFile, follow, get, post } from "/static/api.js";
import { analysesCard } from "/static/campaignAnalyses.js";
import { deviceCard } from "/static/device.js";
import { card, download, element, field, number, progress } from "/static/elements.js";
import { qrCode } from "/static/qr.js";

const LOOK = 1500; // milliseconds between two looks at the number of reports

/** Make the view of a campaign, which looks for news while it is shown. */
export async function campaignView(page, state, collector) {
  const path = `/api/campaigns/${encodeURIComponent(state.campaign)}`;
  const told = await get(path, { signal: page.signal });
  const here = collector && told.document.reports_url.startsWith(`${collector.address}/`);
  const analyses = analysesCard(page, path, told, here);
  const reports = reportsCard(page, path, told, here);
  const view = element("div", {},
    element("p", {}, element("a", { href: `/campaigns${state.table ? `?table=${encodeURIComponent(state.table)}` : ""}`, "data-page": true }, "All campaigns")),
    element("h1", {}, told.document.title), element("p", {}, told.document.purpose),
    element("div", { className: "side-by-side" }, documentCard(path, told), element("div", { className: "stack" }, reports.node,
      deviceCard(page, path, told, here))),
    analyses.node);
  const update = (news) => {
    reports.update(news);
    analyses.update(news);
  };
  update(told);
  watch(page.signal, path, update);
  return view;
}

async function watch(signal, path, update) {
  try {
    while (!signal.aborted) {
      await new Promise((done) => setTimeout(done, LOOK));
      if (document.visibilityState === "visible" && !signal.aborted) update(await get(`${path}/state`, { signal }));
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

function documentCard(path, { id, words, document: campaign, link, public_key: key, digest }) {
  const save = async () => download(`${id}.campaign.json`, await fetchFile(`${path}/document`));
  const own = /^http:/.test(link);
  return card("The public document", { mark: "public" },
    element("dl", { className: "facts" }, ...Object.entries(words).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]),
      element("dt", {}, "public key"), element("dd", {}, element("code", { className: "long" }, key))),
    element("div", { className: "link" }, qrCode(link, `QR code of ${link}`),
      element("div", {}, element("p", {}, "Link: ", element("code", { className: "long" }, link)),
        element("p", { className: "hint" }, own ? "This is an address of this machine: only devices running on it can open the link." : "Devices join through this link and check the signature with the public key."),
        element("div", { className: "row" }, element("button", { type: "button", onclick: save }, "Save the signed document"),
          element("button", { type: "button", onclick: () => navigator.clipboard?.writeText(link) }, "Copy the link")))),
    element("details", {}, element("summary", {}, "As JSON"), element("p", { className: "hint" }, "SHA-256 ", element("code", { className: "long" }, digest)),
      element("pre", { tabIndex: 0, "aria-label": "Document as JSON", className: "tall" }, JSON.stringify(campaign, null, 1))));
}

function reportsCard(page, path, { shuffled }, here) {
  const count = element("p", { className: "big", "data-reports": true });
  const devices = element("input", { type: "number", min: 1, max: 20000, value: 500, required: true });
  const start = element("button", { type: "submit" }, "Let made-up devices report");
  const place = element("div");
  const submit = async (event) => {
    event.preventDefault();
    start.disabled = true;
    let running;
    const shown = progress("Made-up devices are reporting", { oncancel: () => running && post(`/api/jobs/${running.id}/cancel`) });
    place.replaceChildren(shown);
    try {
      running = await post(`${path}/devices`, { devices: Number(devices.value) });
      await follow(running, (job) => shown.update(job), { signal: page.signal });
      place.replaceChildren();
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (problem.lost) throw problem;
      place.replaceChildren(element("p", { className: "bad-words" }, problem.message));
    } finally {
      start.disabled = false;
    }
  };
  const simulate = element("form", { onsubmit: submit },
    field("Devices", devices, "Made-up people generated from the schema. Each report is drawn by the mechanism and sent over HTTP."), start, place);
  const batches = element("p", { className: "hint" });
  return {
    node: card("Reports", { mark: "live" }, count, batches, here && !shuffled ? simulate
      : element("p", { className: "hint" }, "Its collector runs elsewhere: devices report there.")),
    update: (news) => {
      count.textContent = news.reports === null ? "in no database" : `${number(news.reports, 9)} report${news.reports === 1 ? "" : "s"}`;
      if (news.shuffled) batches.textContent = `in ${news.shuffled.n_batches} shuffled batches`;
    },
  };
}
