// Trade-off: what each method's clusters cost, against epsilon, at equal worst-case privacy.
import { Problem, follow, get, post } from "/static/api.js";
import { card, element, progress } from "/static/elements.js";
import { StudioPage } from "/static/page.js";
import { navigate } from "/static/studio.js";
import { readSettings, settingsForm, toAddress } from "/static/tradeOffSettings.js";
import { TradeOffResult } from "/static/tradeOffResult.js";

const GONE = "This comparison is gone: the studio keeps only the latest ones, and none after it stops. Its settings are still here: start it again.";

class StudioTradeOff extends StudioPage {
  #options = null;
  #table = "";
  #job = ""; // the one that is shown
  #result = null;

  async render(state, table) {
    if (!table) return this.needTable("Trade-off");
    if (!table.schema || Object.keys(table.lacking).length) return this.#needSchema(table);
    this.path = `/api/tables/${encodeURIComponent(table.id)}/trade-off`;
    this.#options = await get(this.path, { signal: this.signal });
    if (this.#table !== table.id) this.#build(table);
    this.#drawForm(state);
    await this.#follow(state.job ?? "");
  }

  #needSchema(table) {
    this.#table = "";
    this.replaceChildren(element("div", { className: "empty" }, element("h1", {}, "Trade-off"),
      element("p", {}, "Describe the table first: its columns and their public limits."),
      element("a", { className: "button", href: `/?table=${encodeURIComponent(table.id)}`, "data-page": true }, "Describe the table")));
  }

  #build(table) {
    this.#table = table.id;
    this.#job = "";
    this.#result = new TradeOffResult(table, this.path);
    this.form = element("div", {});
    this.status = element("div", { "aria-live": "polite" });
    const start = (name) => element("button", { type: "button", className: name === "quick" ? "main" : "", onclick: () => this.#start({ ...this.#options[name], source: this.settings.source, clusters: this.settings.clusters, seed: this.settings.seed }) },
      name === "quick" ? "Quick look" : "More exact");
    this.replaceChildren(
      element("h1", {}, "Trade-off"),
      element("p", {}, "What do clusters cost at each level of privacy? At each epsilon, all methods make the same promise to each person, so their curves can be compared. Nothing is spent here, and your records are not touched."),
      element("div", { className: "with-controls" },
        card("What to compare", {},
          element("div", { className: "row" }, start("quick"), start("exact")),
          element("p", { className: "hint" }, "A quick look takes seconds and shows a rough picture; the more exact comparison takes minutes and can recommend a method."),
          this.form),
        element("div", { className: "trade-off-results" }, this.status, this.#result.whole)));
  }

  #drawForm(state) {
    this.settings = readSettings(state, this.#options);
    const open = this.form.querySelector("details")?.open ?? false;
    const form = settingsForm(this.#options, this.settings, (changes) => {
      this.settings = { ...this.settings, ...changes };
      this.note(toAddress(this.settings));
    }, () => this.#start(this.settings));
    form.open = open;
    this.form.replaceChildren(form);
  }

  async #start(settings) {
    try {
      const job = await post(this.path, settings);
      await this.go({ ...toAddress(settings), job: job.id });
    } catch (error) {
      if (!(error instanceof Problem) || error.lost) throw error;
      this.#say(error.message);
    }
  }

  #say(words) {
    this.status.replaceChildren(words ? element("p", { className: "note warn" }, words) : "");
  }

  // The job in the address: running, finished, or gone.
  async #follow(id) {
    if (id === this.#job && this.dataset.state === "done") return;
    this.#job = id;
    this.#result.clear();
    this.#say("");
    this.dataset.state = "";
    if (!id) return;
    let job;
    try {
      job = await get(`/api/jobs/${encodeURIComponent(id)}`, { signal: this.signal });
    } catch (error) {
      if (error.status !== 404) throw error;
    }
    if (!job || job.kind !== "trade-off" || (job.result && job.result.table !== this.#table)) {
      this.dataset.state = "gone";
      this.#say(GONE);
      return;
    }
    this.#watch(job);
  }

  async #watch(job) {
    const bar = progress("Comparing", { oncancel: () => post(`/api/jobs/${job.id}/cancel`) });
    if (job.state === "running") this.status.replaceChildren(bar);
    let drawn = 0;
    const look = (seen) => {
      this.dataset.state = seen.state;
      bar.update(seen);
      if (seen.partial && seen.partial.number !== drawn) {
        drawn = seen.partial.number;
        this.#result.sketch(seen.partial);
      }
    };
    const signal = this.signal;
    try {
      const { state, result } = await follow(job, look, { signal });
      if (signal.aborted) return;
      if (state === "done") {
        this.#say("");
        await this.#result.show(job.id, result, (point) => this.#explore(point));
      } else this.#say(drawn ? "Canceled: these are the curves that were finished." : "Canceled: no curve was finished.");
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.lost) throw error;
      this.dataset.state = "failed";
      this.#say(error.message);
    }
  }

  #explore(address) {
    const { pathname, searchParams } = new URL(address, location.href);
    return navigate(pathname, Object.fromEntries(searchParams));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#job = "";
  }
}
customElements.define("studio-trade-off", StudioTradeOff);
