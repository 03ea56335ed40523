// Analyses of the reports of a campaign: asked for, watched, drawn, compared with earlier ones, published.
import { get, post } from "/static/api.js";
import { chart } from "/static/charts.js";
import { card, download, element, field, grid, number, select } from "/static/elements.js";

const METHODS = {
  "noise-aware": "centers: k-means that accounts for the known noise", density: "any shape: density peaks that are more than chance",
  remap: "each report moved to its likely position, then k-means",
};

/** The card of all analyses, and the result of the one that the address names. */
export function analysesCard(page, path, told, here) {
  const { version, against } = page.state;
  const list = element("div");
  const result = element("div");
  const comparison = element("div");
  let known = "";
  let shown = false;
  const hint = element("p", { className: "warn-words", hidden: true });
  const update = (news) => {
    const text = JSON.stringify([news.analyses, news.published]);
    if (text === known) return;
    known = text;
    drawList(page, path, list, news);
    const chosen = news.analyses.find((one) => String(one.version) === version);
    hint.hidden = here || !news.analyses.some((one) => one.waits);
    hint.textContent = "An analysis is waiting for a worker: start the collector here, or wait for the one that runs elsewhere.";
    if (chosen && !shown) {
      const done = chosen.state === "done";
      shown = done;
      if (done) show(page, path, chosen.version, news, result);
      else result.replaceChildren(element("p", { role: "status" }, chosen.error ? `Version ${version} failed: ${chosen.error}` : `Version ${version} is ${chosen.state} …`));
      if (done && against) compare(path, against, version, comparison, page.signal);
    }
  };
  return { node: card("Analyses", {}, analysisForm(page, path, told), hint, list, result, comparison), update };
}

function analysisForm(page, path, told) {
  const method = select(told.methods.map((name) => [name, `${name}: ${METHODS[name]}`]), told.methods[0]);
  const k = element("input", { type: "number", min: 1, max: 1000, value: told.clusters ?? 5 });
  const shuffled = told.document.shuffler !== null;
  const share = element("input", { type: "number", min: 0, max: 1, step: "any", value: 0.9 });
  const clusters = field("Clusters", k);
  method.onchange = () => { clusters.hidden = method.value !== "noise-aware"; };
  const outcome = element("div", { role: "status" });
  const button = element("button", { type: "submit", className: "main" }, "Analyze the reports");
  return element("form", { className: "row analysis", onsubmit: async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const asked = { method: method.value, ...(method.value === "noise-aware" ? { clusters: Number(k.value) } : {}), ...(shuffled ? { honest_share: Number(share.value) } : {}) };
      const { version } = await post(`${path}/analyses`, asked);
      await page.go({ version, against: "" });
    } catch (problem) {
      if (problem.lost) throw problem;
      outcome.replaceChildren(element("p", { className: "bad-words" }, problem.message));
    } finally {
      button.disabled = false;
    }
  } }, field("Method", method), clusters,
  shuffled ? field("Honest share of each batch", share, "What you assume about the devices behind the relay.") : null,
  button, element("p", { className: "hint" }, "This uses the reports stored now. It reads only reports, so nothing is spent."), outcome);
}

function drawList(page, path, list, { analyses, published }) {
  if (!analyses.length) {
    list.replaceChildren(element("p", { className: "hint" }, "No analysis yet."));
    return;
  }
  const rows = analyses.map((one) => [
    String(one.version), one.error ? `failed: ${one.error}` : one.state,
    one.state === "done" ? element("button", { type: "button", "aria-label": `Show version ${one.version}`, onclick: () => page.go({ version: one.version, against: "" }) }, "Show") : "",
    one.method, number(one.reports, 9), published === one.version ? "published" : "",
  ]);
  list.replaceChildren(grid(["Version", "State", "", "Method", "Reports", ""], rows, { caption: "Analyses, oldest first" }));
}

async function show(page, path, version, { analyses, published }, place) {
  const told = await get(`${path}/analyses/${version}`);
  const picture = told.picture ? chart(`Clusters of version ${version}; the table below has the same numbers`) : null;
  const others = analyses.filter((one) => one.state === "done" && one.version !== version);
  const publish = element("button", { type: "button", className: "main", disabled: published === version, onclick: async () => {
    publish.disabled = true;
    await post(`${path}/analyses/${version}/publish`);
    outcome.textContent = "Published: devices can find their own cluster now.";
  } }, published === version ? "Published" : "Publish this result");
  const outcome = element("p", { role: "status", className: "good-words" });
  const blind = told.better_than_blind;
  place.replaceChildren(
    element("h3", {}, `Version ${version}: ${told.clusters} cluster${told.clusters === 1 ? "" : "s"} behind ${number(told.reports, 9)} reports`),
    blind === false ? element("p", { className: "note warn" }, "Judging by the reports, these centers are not better than points spread over the box: collect more reports, or use a larger epsilon.")
      : blind ? element("p", { className: "good-words" }, "Judging by the reports, these centers are better than a blind guess.") : "",
    element("div", { className: "side-by-side" }, picture ?? "", grid(told.headings, told.rows, { caption: told.caption || "Clusters" })),
    element("p", { className: "sentence" }, `Promised to each device, even if no one is trusted: ${told.guarantee}`),
    told.shuffled ? element("p", { className: "sentence" }, `Through the shuffler: ${told.shuffled}`) : "",
    element("div", { className: "row" }, publish,
      element("button", { type: "button", onclick: () => download(`version-${version}.release.json`, new Blob([told.release], { type: "application/json" })) }, "Save the release"),
      others.length ? field("Compare with", select([["", "none"], ...others.map((one) => [one.version, `version ${one.version}, ${number(one.reports, 9)} reports`])], page.state.against,
        (event) => page.go({ against: event.target.value }))) : null),
    outcome);
  await picture?.draw(told.picture);
}

async function compare(path, earlier, later, place, signal) {
  const [told, before, after] = await Promise.all([
    get(`${path}/compare?earlier=${earlier}&later=${later}`, { signal }), get(`${path}/analyses/${earlier}`, { signal }), get(`${path}/analyses/${later}`, { signal })]);
  const rows = (told.pairs ?? []).map(({ earlier: a, later: b, shift }) => [`cluster ${a}`, `cluster ${b}`, `${number(100 * shift)} % of the box`]);
  const side = (one) => element("div", {}, grid(one.headings, one.rows, { caption: `Version ${one.version}, ${number(one.reports, 9)} reports` }),
    element("p", { className: "hint" }, one.better_than_blind === false ? "Not better than a blind guess." : one.better_than_blind ? "Better than a blind guess." : ""));
  place.replaceChildren(element("h3", {}, `Version ${later} beside version ${earlier}`), element("p", { className: "sentence" }, told.words),
    rows.length ? grid([`Version ${earlier}`, `Version ${later}`, "Moved by"], rows, { caption: "Centers, paired so that they move least" }) : "",
    ...(told.gone?.length ? [element("p", {}, `Unmatched: cluster ${told.gone.join(", ")} of version ${earlier}.`)] : []),
    ...(told.new?.length ? [element("p", {}, `Unmatched: cluster ${told.new.join(", ")} of version ${later}.`)] : []),
    element("div", { className: "side-by-side" }, side(before), side(after)));
}
