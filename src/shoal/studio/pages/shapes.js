// Shapes: a density, its tree and its clusters. Records, columns and epsilon decide the density;
// thresholds are moved on what it published, for nothing, and only rows of the chart change.
import { fetchFile, get, post } from "/static/api.js";
import { chart } from "/static/charts.js";
import { card, download, element, field, grid, number, progress, roundedUp, select } from "/static/elements.js";
import { StudioPage } from "/static/page.js";

const SLOW = 250; // milliseconds after which work is said to go on
const STEPS = 100; // of the slider of the level
const UNSET = { level: "", alpha: "", min_size: "" };
const SOURCES = {
  "made-up": "made-up records of the schema",
  shapes: "generated shapes",
  copy: "the private copy",
  release: "a release you bought",
};

class StudioShapes extends StudioPage {
  #table = null; // whose controls are built
  #choices = null;
  #answer = null;
  #parts = {};
  #asking = false;
  #again = false;

  async render(state, table) {
    if (!table) return this.needTable("Shapes of clusters");
    if (!table.schema) return this.#empty("The table has no schema yet: describe it on the Table page.");
    const choices = await get(`/api/tables/${encodeURIComponent(table.id)}/shapes`, { signal: this.signal });
    if (!choices.fields.length) return this.#empty("None of this table's features is a number, date or place, so its clusters have no shape. Find its clusters on the Explore page.");
    const text = JSON.stringify([table.id, choices]);
    if (this.#table !== text || !this.#parts.chart?.isConnected) {
      [this.#table, this.#choices, this.#answer] = [text, choices, null];
      this.#build();
    }
    this.#sync();
    await this.#ask();
  }

  #empty(words) {
    this.#table = null;
    this.replaceChildren(element("div", { className: "empty" }, element("h1", {}, "Shapes of clusters"), element("p", {}, words),
      element("a", { href: `/?table=${encodeURIComponent(this.state.table)}`, className: "button", "data-page": true }, "Go to the table")));
  }

  #build() {
    const parts = (this.#parts = {});
    const { fields, shapes, releases, has_copy: hasCopy, epsilons, alphas } = this.#choices;
    const kept = Object.entries(SOURCES).filter(([key]) => (key !== "copy" || hasCopy) && (key !== "release" || releases.length));
    const choose = (changes) => this.go({ ...changes, ...UNSET });
    parts.source = select(kept, "", () => choose({ source: parts.source.value }));
    parts.shape = select(Object.entries(shapes), "", () => choose({ shape: parts.shape.value }));
    parts.release = select(releases.map(({ key, name }) => [key, name]), "", () => choose({ release: parts.release.value, stratum: "" }));
    parts.stratum = select([], "", () => choose({ stratum: parts.stratum.value }));
    parts.columns = fields.map(({ name, columns }, index) => {
      const box = element("input", { type: "checkbox", value: String(index), onchange: () => this.#pick(box) });
      box.dataset.columns = String(columns);
      return element("label", { className: "shapes-column" }, box, columns > 1 ? `${name} (two columns)` : name);
    });
    const slider = (max, oninput) => element("input", { type: "range", min: 0, max, step: 1, oninput });
    parts.epsilon = slider(epsilons.length - 1, () => this.#move({ ...UNSET, epsilon: epsilons[parts.epsilon.value] }));
    parts.level = slider(STEPS, () => this.#move({ level: this.#level(Number(parts.level.value)) }));
    parts.size = slider(1, () => this.#move({ min_size: parts.size.value === "0" ? "" : this.#answer.sizes[parts.size.value - 1] }));
    parts.alpha = slider(alphas.length - 1, () => this.#move({ alpha: alphas[parts.alpha.value] }));
    parts.automatic = element("button", { type: "button", onclick: () => this.#move(UNSET) }, "Automatic");
    for (const name of ["epsilon", "level", "size", "alpha"]) parts[`${name}Told`] = element("output", { className: "hint" });
    parts.fields = {
      shape: field("Shape", parts.shape), release: field("Release", parts.release), stratum: field("Part of the table", parts.stratum),
      epsilon: this.#slider("Epsilon of the density", "epsilon", "Smaller values are more private and coarser."),
      columns: element("fieldset", { className: "field" }, element("legend", {}, "Columns (at most 4)"), ...parts.columns),
    };
    const lacking = [hasCopy ? "" : "You can buy a private copy of your table on the Explore page.", releases.length ? "" : "DPDensity releases that you buy can be clustered again here."];
    const controls = card("What is clustered", {}, field("Records", parts.source, lacking.filter(Boolean).join(" ")), ...Object.values(parts.fields));
    parts.free = element("p", { className: "note" });
    const thresholds = card("Thresholds, moved afterward", { mark: "free" }, parts.free,
      this.#slider("Cut the tree at this density", "level", "Far left: clusters of different densities, chosen by excess of mass."),
      this.#slider("Smallest cluster", "size"),
      this.#slider("Probability of any false cluster", "alpha", "A smaller value requires clearer peaks."),
      element("div", { className: "row" }, parts.automatic), parts.warning = element("p", { className: "hint" }));
    thresholds.querySelector(".mark").classList.add("good");
    parts.words = element("p", { className: "note" });
    parts.summary = element("p", { className: "sentence", role: "status" });
    parts.busy = element("div", {});
    parts.chart = chart("Density, clusters and tree of clusters");
    parts.list = element("div", {});
    parts.guarantee = element("p", {});
    const save = (kind, words) => element("button", { type: "button", onclick: () => this.#save(kind) }, words);
    parts.outlines = save("geojson", "Outlines (GeoJSON)");
    this.replaceChildren(
      element("h1", {}, "Shapes of clusters"),
      element("p", {}, "Clusters are regions of any shape where records lie close together. A release publishes a noisy density; which of its peaks count as clusters can be decided later, as often as you like."),
      element("div", { className: "with-controls" },
        element("div", { className: "shapes-controls" }, controls, thresholds),
        element("div", { className: "shapes-shown" }, parts.words,
          card("Density, clusters, tree", {}, parts.summary, parts.busy, parts.chart,
            element("p", { className: "hint" }, "Density is in records per cell, from white (lowest) to dark (highest). Branches of the tree rise to the peaks and split at the valleys between them.")),
          card("Clusters", {}, parts.list, element("div", { className: "row" }, save("png", "Picture (PNG)"), save("svg", "Picture (SVG)"), parts.outlines)),
          card("What such a release promises", {}, parts.guarantee))));
  }

  #slider(label, name, hint = "") {
    const made = field(label, this.#parts[name], hint);
    made.children[1].after(this.#parts[`${name}Told`]);
    return made;
  }

  /** Show the state of the address in the controls. */
  #sync() {
    const { parts, source } = { parts: this.#parts, source: this.#source };
    parts.source.value = source;
    parts.shape.value = this.state.shape || "moons";
    if (this.state.release) parts.release.value = this.state.release;
    const bought = source === "release";
    parts.fields.shape.hidden = source !== "shapes";
    parts.fields.release.hidden = !bought;
    parts.fields.epsilon.hidden = parts.fields.columns.hidden = bought;
    const chosen = this.#columns;
    for (const label of parts.columns) label.firstChild.checked = chosen.includes(Number(label.firstChild.value));
    const epsilon = this.#epsilon;
    const gaps = this.#choices.epsilons.map((one) => Math.abs(Math.log(one / epsilon)));
    parts.epsilon.value = gaps.indexOf(Math.min(...gaps));
    this.#tell("epsilon", roundedUp(epsilon));
    this.#tellThresholds();
  }

  #tell(name, words) {
    this.#parts[`${name}Told`].textContent = words;
    this.#parts[name].setAttribute("aria-valuetext", words);
  }

  #tellThresholds() {
    const { parts, state } = { parts: this.#parts, state: this.state };
    const known = this.#answer;
    const { alphas } = this.#choices;
    const level = Number(state.level) || 0;
    parts.level.value = known && level ? Math.min(STEPS, Math.max(1, Math.round(STEPS * Math.sqrt(level / known.peak)))) : 0;
    this.#tell("level", level ? `${number(level)} ${known?.unit ?? ""}` : "automatic");
    const sizes = known?.sizes ?? [];
    const least = Number(state.min_size) || 0;
    parts.size.max = Math.max(1, sizes.length);
    parts.size.value = sizes.filter((one) => one <= least).length;
    this.#tell("size", least ? `${number(least, 6)} records` : "automatic: any size");
    const alpha = Number(state.alpha) || known?.alpha || 0.05;
    parts.alpha.value = alphas.filter((one) => one < alpha * 0.999).length;
    this.#tell("alpha", `${number(alpha)}${state.alpha ? "" : " (automatic)"}`);
    parts.automatic.disabled = !(state.level || state.min_size || state.alpha);
  }

  get #source() {
    const { source } = this.state;
    const has = [...this.#parts.source.options].some((one) => one.value === source);
    return has ? source : "made-up";
  }

  get #epsilon() {
    const given = Number(this.state.epsilon);
    return given >= 0.05 && given <= 16 ? given : 1;
  }

  get #columns() {
    const { fields } = this.#choices;
    const given = (this.state.columns ?? "").split(",").filter(Boolean).map(Number).filter((one) => fields[one]);
    if (given.length) return given;
    return fields[0].columns > 1 || fields.length < 2 || fields[1].columns > 1 ? [0] : [0, 1];
  }

  #level(position) {
    return position ? Number((this.#answer.peak * (position / STEPS) ** 2).toPrecision(4)) : "";
  }

  #pick(box) {
    const chosen = this.#parts.columns.map((label) => label.firstChild).filter((one) => one.checked);
    const total = chosen.reduce((sum, one) => sum + Number(one.dataset.columns), 0);
    if (!chosen.length || total > 4) {
      box.checked = !box.checked;
      this.#parts.summary.textContent = chosen.length ? "Choose at most 4 columns (a place counts as two)." : "Choose at least one column.";
      return;
    }
    this.go({ columns: chosen.map((one) => one.value).join(","), ...UNSET });
  }

  #move(changes) {
    if (!this.#answer) return;
    this.note(changes);
    this.#sync();
    this.#ask();
  }

  #settings() {
    const { state } = this;
    const source = this.#source;
    const optional = Object.fromEntries(Object.keys(UNSET).filter((name) => Number(state[name]) > 0).map((name) => [name, Number(state[name])]));
    const density = source === "release"
      ? { release: this.#parts.release.value, stratum: Number(state.stratum) || 0 }
      : { columns: this.#columns, epsilon: this.#epsilon, ...(source === "shapes" ? { shape: this.#parts.shape.value } : {}) };
    return { source, ...density, ...optional };
  }

  get #path() {
    return `/api/tables/${encodeURIComponent(this.state.table)}/shapes`;
  }

  /** Ask for the clusters of the present state; while an answer is awaited, only the last counts. */
  async #ask() {
    this.#again = true;
    if (this.#asking) return;
    this.#asking = true;
    const bar = progress("Estimating the density");
    const told = setTimeout(() => this.#parts.busy.replaceChildren(bar), SLOW);
    try {
      while (this.#again) {
        this.#again = false;
        const built = this.#table;
        const { drawn = "", frame = "" } = this.#answer ?? {};
        const answer = await post(this.#path, { ...this.#settings(), drawn, frame });
        if (!this.isConnected) return;
        if (built !== this.#table) continue; // of another table, which was asked for meanwhile
        if (answer.spec) await this.#parts.chart.draw(answer.spec);
        else await this.#parts.chart.swap(answer.rows);
        this.#show(answer);
      }
    } catch (problem) {
      this.#answer = null;
      this.#parts.words.textContent = problem.message;
      this.#parts.summary.textContent = "";
      if (problem.lost || problem.status === 404) throw problem;
    } finally {
      clearTimeout(told);
      this.#parts.busy.replaceChildren();
      this.#asking = false;
    }
    if (this.#again) await this.#ask();
  }

  #show(answer) {
    this.#answer = { ...answer, spec: null, rows: null };
    const shown = this.#parts;
    const count = (n) => (n === 1 ? "1 cluster" : `${n} clusters`);
    const { automatic } = answer;
    const compared = automatic.same ? "This is what DPDensity chooses by itself." : `Without settings, DPDensity chooses ${count(automatic.n_clusters)}.`;
    shown.summary.textContent = `${count(answer.n_clusters)} at epsilon ${roundedUp(answer.epsilon)}. ${compared}`;
    shown.chart.setAttribute("aria-label", `Density, ${count(answer.n_clusters)} and their tree: ${answer.words}`);
    shown.chart.dataset.clusters = answer.n_clusters;
    shown.words.textContent = `Shown: ${answer.words}.`;
    shown.free.textContent = answer.free;
    shown.warning.textContent = answer.warning;
    const release = this.#source === "release";
    shown.guarantee.textContent = release ? answer.guarantee : `For your own table it would say: ${answer.guarantee}. What you see here is about no real person and costs nothing.`;
    shown.fields.stratum.hidden = !answer.strata.length;
    shown.stratum.replaceChildren(...answer.strata.map((name, index) => element("option", { value: String(index), selected: String(index) === (this.state.stratum || "0") }, name)));
    shown.outlines.disabled = !answer.has_outlines;
    shown.outlines.title = answer.has_outlines ? "" : "Outlines need one or two columns.";
    const rows = answer.clusters.map(({ size, share }, index) => [`cluster ${index}`, number(Math.round(size), 3), `${number(100 * share, 2)}%`]);
    shown.list.replaceChildren(rows.length ? grid(["Cluster", "Records (noisy)", "Share"], rows, { caption: "Noisy sizes of the clusters" }) : element("p", {}, "No cluster passes these thresholds: lower them, or press Automatic."));
    this.#tellThresholds();
  }

  async #save(kind) {
    const query = new URLSearchParams({ settings: JSON.stringify(this.#settings()) });
    const columns = this.#source === "release" ? "release" : this.#columns.map((one) => this.#choices.fields[one].name).join("-");
    const source = this.#source === "shapes" ? this.#parts.shape.value : this.#source;
    const name = `shapes-${source}-${columns}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    download(`${name}.${kind}`, await fetchFile(`${this.#path}/files/${kind}?${query}`));
  }
}
customElements.define("studio-shapes", StudioShapes);
