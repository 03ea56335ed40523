// What a comparison found: the sentence, the curves, their points as a table, and files.
import { fetchFile } from "/static/api.js";
import { chart } from "/static/charts.js";
import { card, download, element, grid, number, roundedUp } from "/static/elements.js";

const MODELS = { central: "you hold the records", local: "no one is trusted", shuffled: "behind a shuffler" };

/** The cards on the right of the page. */
export class TradeOffResult {
  constructor(table, path) {
    this.table = table;
    this.path = path;
    this.whole = element("div", {});
    this.clear();
  }

  clear() {
    this.chart = null;
    this.whole.replaceChildren(element("p", { className: "hint" }, "No comparison yet: begin with a quick look."));
  }

  /** Draw curves of a comparison that still runs. */
  sketch({ picture }) {
    this.#place();
    this.verdict.textContent = "Curves appear as their methods finish.";
    return this.chart.draw(picture);
  }

  /** Show a finished comparison; `onpick(address)` opens one of its points in Explore. */
  async show(job, result, onpick) {
    this.#place();
    const links = new Map(result.rows.map((row) => [`${row.contender}/${row.model}/${row.epsilon}`, this.#link(row, result.settings)]));
    this.chart.onpick = ({ detail: { name, version, x, series } }) => {
      const address = series === undefined && links.get(`${name}/${version}/${x}`);
      if (address) onpick(address);
    };
    this.verdict.textContent = result.recommendation;
    this.about.textContent = this.#about(result);
    this.details.replaceChildren(this.#points(result), this.#files(job, result), this.#texts(result));
    await this.chart.draw(result.picture);
    this.whole.dataset.job = job;
  }

  #place() {
    if (this.chart) return;
    this.chart = chart("Cost of clusters against worst-case epsilon: one curve for each method, with 95% bands. The same numbers are in the table below.");
    this.chart.addEventListener("pick", (event) => this.chart.onpick?.(event));
    this.verdict = element("p", { className: "sentence", role: "status" });
    this.about = element("p", { className: "hint" });
    this.details = element("div", {});
    delete this.whole.dataset.job;
    this.whole.replaceChildren(
      card("What privacy costs", {}, this.verdict, this.chart, this.about), this.details);
  }

  #about({ records, source_words: words, settings, blind }) {
    const few = records < this.table.n_guess ? " With more records, all methods do better." : "";
    return `On ${records.toLocaleString("en")} records (${words}). A cost of 1 is k-means without privacy; ${number(blind)} is the cost of centers spread evenly without looking at the records. ` +
      `${settings.clusters} clusters, ${settings.runs} runs each, seed ${settings.seed}.${few} Click a point to open it in Explore.`;
  }

  #link(row, { source, clusters }) {
    return `/explore?${new URLSearchParams({ table: this.table.id, source, method: row.contender, epsilon: row.explore, k: clusters })}`;
  }

  #points({ rows, settings, decides, left_out: leftOut }) {
    const other = rows.some(({ model }) => model !== this.table.trust_model);
    const cells = rows.filter(({ cost }) => cost).map((row) => [
      row.method, roundedUp(row.epsilon), number(row.cost.mean),
      decides ? `${number(row.cost.low)} to ${number(row.cost.high)}` : "–", roundedUp(row.own_epsilon), MODELS[row.model],
      element("a", { href: this.#link(row, settings), "data-page": true, "aria-label": `Explore ${row.contender} at epsilon ${roundedUp(row.epsilon)}` }, "Explore"),
    ]);
    return card("All points", { className: "trade-off-card" },
      grid(["Method", "Worst-case epsilon", "Cost", "95% interval", "Its own epsilon", "Who is trusted", ""], cells, { caption: "Cost of each method at each epsilon" }),
      decides ? null : element("p", { className: "hint" }, "With fewer than 5 runs there are no intervals, and the bands of the chart are rough."),
      other ? element("p", { className: "hint" }, "Explore shows only methods for the trust model you chose on the Table page; for points of other methods it opens with one of these.") : null,
      ...leftOut.map((why) => element("p", { className: "hint" }, `Left out: ${why}.`)));
  }

  #files(job, { settings }) {
    const base = `${this.path}/${encodeURIComponent(job)}`;
    const file = (words, name, address) => element("button", { type: "button", onclick: async () => download(name, await fetchFile(address)) }, words);
    return card("Download", { className: "trade-off-card" },
      element("div", { className: "row" },
        file("PNG", "trade-off.png", `${base}/picture.png`),
        file("SVG", "trade-off.svg", `${base}/picture.svg`),
        file("CSV of all points", "trade-off.csv", `${base}/rows.csv`)),
      element("p", { className: "hint" }, "The picture and the points contain no records."),
      settings.source === "copy" ? element("p", { className: "hint" }, "They come from the private copy, which may be shared.") : null);
  }

  #texts({ command, snippet, files }) {
    const text = (title, content) => {
      const shown = element("pre", { tabIndex: 0, "aria-label": title }, content);
      const copied = element("span", { role: "status", className: "hint" });
      const copy = async () => {
        await navigator.clipboard.writeText(content);
        copied.textContent = "Copied.";
      };
      return [element("div", { className: "row" }, element("h3", {}, title), element("button", { type: "button", onclick: copy, "aria-label": `Copy: ${title}` }, "Copy"), copied), shown];
    };
    const link = (name, address) => element("a", { href: address, download: name }, name);
    return card("The same without the studio", { className: "trade-off-card" },
      element("p", {}, "Both give the same numbers, to every digit. They read ", link(files.schema, `/api/tables/${encodeURIComponent(this.table.id)}/schema.json`),
        " and ", link(files.records, `${this.path}/records.csv?source=${files.source}`), ": save these first."),
      ...text("Command", command), ...text("Python", snippet));
  }
}
