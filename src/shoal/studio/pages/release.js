// Release: the one step that reads the true records. Price first, then a deliberate order, once.
import { Problem, UNSURE, followPurchase, get, post } from "/static/api.js";
import { card, element, field, grid, progress, select } from "/static/elements.js";
import { ledgerBar, sentence } from "/static/ledgerBar.js";
import { StudioPage } from "/static/page.js";
import { code, showRelease } from "/static/releaseResult.js";

const SETTINGS = { method: "DPKMeans", epsilon: "1", delta: "", k: "5", profile: "", profile_delta: "" };
// Find the number of clusters themselves; of a density, it can be changed afterwards for nothing.
const FINDS_K = new Set(["DPDensity", "DPWaveCluster"]);
const findsK = (method) => FINDS_K.has(method.split("-")[0]);

class StudioRelease extends StudioPage {
  #turn = 0; // counts prices: a slow one is not shown over a later one
  #right = element("div", { className: "stack", "aria-live": "polite" });
  #list = element("div");

  async render(state, table) {
    if (!table) return this.needTable("Release");
    const head = [
      element("h1", {}, "Release"),
      element("p", {}, "The one step that reads the true records. You see the price first; what is spent cannot be taken back."),
    ];
    const missing = this.#missing(table);
    if (missing) {
      const [words, path, name] = missing;
      this.replaceChildren(...head, element("p", { className: "note warn" }, words),
        element("a", { className: "button main", href: `${path}?table=${encodeURIComponent(table.id)}`, "data-page": true }, name), this.#list);
      return this.#listReleases();
    }
    const methods = await get("/api/release/methods", { signal: this.signal });
    this.replaceChildren(...head,
      element("div", { className: "with-controls" }, this.#form(methods), this.#right), this.#list);
    await Promise.all([this.#show(), this.#listReleases()]);
  }

  #missing(table) {
    if (table.trust_model !== "central") {
      return ["No one holds the records in this trust model, so there is nothing to release here: devices report in a campaign, and clustering their reports costs nothing.", "/campaigns", "Go to Campaigns"];
    }
    if (!table.has_records) return ["This table has a schema but no records: open a file to make a release.", "/", "Open a file"];
    if (!table.schema || Object.keys(table.lacking).length) return ["The columns are not described yet: a release needs their bounds and categories from you, not from the records.", "/", "Describe the table"];
    if (!table.ledger) return ["The table has no ledger yet. Before the first release, set a limit on everything that will ever be spent on this table.", "/ledger", "Set the limit"];
    return null;
  }

  #form(methods) {
    const value = (name) => this.state[name] ?? SETTINGS[name];
    const changed = (name) => (event) => {
      const given = event.target.value;
      this.note({ [name]: name === "k" && given === "" ? "auto" : given, repeat: "", release: "" });
      this.#show();
    };
    const input = (name, properties) => element("input", { type: "number", value: value(name), onchange: changed(name), ...properties });
    const choices = Object.keys(methods).map((one) => [one, one]);
    const method = select(choices, value("method"), (event) => {
      changed("method")(event);
      described.textContent = methods[event.target.value];
      count.disabled = findsK(event.target.value);
    });
    const count = input("k", { value: value("k") === "auto" ? "" : value("k"), min: 1, step: 1, placeholder: "chosen by the method", disabled: findsK(value("method")) });
    const described = element("p", { className: "hint" }, methods[value("method")] ?? "");
    const wanted = element("input", { type: "checkbox", checked: Boolean(value("profile")), id: "with-profile",
      onchange: () => { profile.disabled = !wanted.checked; changed("profile")({ target: { value: wanted.checked ? profile.value : "" } }); } });
    const profile = input("profile", { value: value("profile") || "0.5", min: 0, step: "any", disabled: !wanted.checked });
    return card("What to release", { className: "asked" },
      element("form", { onsubmit: (event) => event.preventDefault() },
        field("Method", method), described,
        field("Epsilon of the clusters", input("epsilon", { min: 0, step: "any", required: true }), "The budget of this release: a smaller one hides people better and blurs the result more."),
        field("Number of clusters", count, "If empty, the method decides."),
        element("details", {}, element("summary", {}, "More settings"),
          field("Delta of the clusters", input("delta", { min: 0, max: 1, step: "any", placeholder: "0" }), "Above 0 allows Gaussian noise (DPKMeans)."),
          field("Delta of the profile", input("profile_delta", { min: 0, max: 1, step: "any", placeholder: "0" }), "Keywords from text need a delta above 0.")),
        element("p", { className: "row whole" }, wanted, element("label", { htmlFor: "with-profile" }, "Describe the clusters as well")),
        field("Epsilon of the description", profile, "A second charge, included in the same price.")));
  }

  /** The settings in the address, as the studio takes them. */
  get #settings() {
    const of = (name) => this.state[name] ?? SETTINGS[name];
    const amount = (name, empty) => (of(name) === "" ? empty : Number(of(name)));
    return {
      method: of("method"), epsilon: amount("epsilon", 0), delta: amount("delta", 0),
      k: of("k") === "auto" || findsK(of("method")) ? null : amount("k", null),
      profile: amount("profile", null), profile_delta: of("profile") === "" ? 0 : amount("profile_delta", 0),
    };
  }

  get #path() {
    return `/api/tables/${encodeURIComponent(this.state.table)}`;
  }

  /** Show the release that the address names, or the price of what it asks for. */
  async #show(told = "") {
    const mine = ++this.#turn;
    if (this.state.release) return this.#showRelease(this.state.release, mine);
    const asked = { settings: this.#settings, repeat: Number(this.state.repeat ?? 0) };
    this.#right.setAttribute("aria-busy", "true");
    let price;
    try {
      price = await post(`${this.#path}/release/price`, asked, { signal: this.signal });
    } catch (problem) {
      if (!(problem instanceof Problem) || problem.lost || problem.status === 404) throw problem;
      if (mine === this.#turn) await this.#refused(problem.message);
      return;
    } finally {
      if (mine === this.#turn) this.#right.removeAttribute("aria-busy");
    }
    if (mine !== this.#turn) return;
    if (price.bought) return this.#showRelease(price.key, mine, price);
    if (price.job?.state === "running") return this.#follow(price.job, price, mine);
    this.#right.replaceChildren(...this.#price(asked, price, told));
  }

  async #refused(words) {
    const { ledger } = await get(this.#path, { signal: this.signal });
    this.#right.replaceChildren(card("No price", {},
      element("p", { className: "bad-words", role: "alert" }, words), ledgerBar(ledger, "Ledger now")));
  }

  #price(asked, price, told) {
    const agree = element("input", { type: "checkbox", id: "agree", onchange: () => { buy.disabled = !agree.checked; } });
    const buy = element("button", { type: "button", className: "main", disabled: true, onclick: () => this.#order(asked, price, buy) }, price.button);
    const once = price.repeat ? element("p", { className: "note warn" }, `These settings were released ${price.earlier === 1 ? "once" : `${price.earlier} times`} before. This is another release with its own noise, and it is charged again.`) : null;
    return [
      card("Price", { className: "price" },
        told ? element("p", { className: "note warn", role: "alert" }, told) : null, once,
        element("p", { className: "sentence" }, `Clusters of ${price.columns.join(", ")}, by ${asked.settings.method}${price.spends.length > 1 ? ", and a description of each" : ""}; the records were not read to compute this price.`),
        grid(["What is released", "Cost", "Ledger entry"], price.spends.map((one, index) => [index ? "A description of each cluster" : "The clusters", one.price, one.purpose]), { caption: "What would be spent" }),
        element("h3", {}, "What is promised"),
        ...price.guarantees.map((one) => element("p", {}, sentence(one))),
        element("div", { className: "side-by-side" }, ledgerBar(price.before, "Ledger now"), ledgerBar(price.after, "Ledger afterward")),
        element("p", { className: "row whole" }, agree, element("label", { htmlFor: "agree" }, "I have seen the price. What is spent cannot be taken back.")),
        buy),
      code(price),
    ];
  }

  async #order(asked, { key, entries }, button) {
    button.disabled = true;
    const mine = this.#turn;
    let job;
    try {
      job = await post(`${this.#path}/release`, { ...asked, key, entries });
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (problem.lost) throw new Problem(UNSURE, { lost: true });
      return this.#show(problem.message);
    }
    if (mine === this.#turn) await this.#follow(job, { key }, mine);
  }

  async #follow(job, { key }, mine) {
    const bar = progress("Clustering the records");
    this.#right.replaceChildren(card("Releasing", {}, bar,
      element("p", { className: "hint" }, "This continues if you leave or reload the page, and is charged only once.")));
    try {
      await followPurchase(job, (now) => bar.update(now), { signal: this.signal });
    } catch (problem) {
      if (!(problem instanceof Problem) || problem.lost) throw problem;
      if (mine === this.#turn) await this.#show(problem.message);
      return;
    }
    if (mine !== this.#turn) return;
    await Promise.all([this.#showRelease(key, mine), this.#listReleases()]);
  }

  async #showRelease(key, mine, price = null) {
    const parts = await showRelease(this.state.table, key, { signal: this.signal });
    const table = await get(this.#path, { signal: this.signal });
    if (mine !== this.#turn) return;
    dispatchEvent(new CustomEvent("studio-table", { detail: table })); // the header says what is left
    const again = price ?? { earlier: 1 };
    const more = element("button", { type: "button", onclick: () => this.#again(key) }, "Release once more");
    this.#right.replaceChildren(...parts, card("Ledger", {}, ledgerBar(table.ledger, "Ledger now"),
      element("p", { className: "hint" }, `Another release of the same settings has its own noise and its own price (${again.earlier} so far).`), more));
    await Promise.all(parts.map((part) => part.drawn?.()));
  }

  /** Ask for the price of the same settings once more, on purpose. */
  async #again(key) {
    const released = await get(`${this.#path}/releases`, { signal: this.signal });
    const { settings } = released.find((one) => one.key === key);
    const repeat = released.filter((one) => JSON.stringify(one.settings) === JSON.stringify(settings)).length;
    const { method, epsilon, delta, k, profile, profile_delta } = settings;
    await this.go({ method, epsilon, delta: delta || "", k: k ?? "auto", profile: profile ?? "", profile_delta: profile_delta || "", repeat, release: "" });
  }

  async #listReleases() {
    const released = await get(`${this.#path}/releases`, { signal: this.signal });
    const link = (one) => element("a", { href: `/release?table=${encodeURIComponent(this.state.table)}&release=${one.key}`, "data-page": true }, new Date(one.time).toLocaleString("en"));
    this.#list.replaceChildren(...(released.length ? [card("Released so far", {},
      grid(["When", "By", "Epsilon", "Clusters", "Described"], [...released].reverse().map((one) => [
        link(one), one.settings.method, String(one.settings.epsilon), String(one.clusters), one.settings.profile ? `epsilon ${one.settings.profile}` : "no",
      ]), { caption: "Releases of this table" }))] : []));
  }
}
customElements.define("studio-release", StudioRelease);
