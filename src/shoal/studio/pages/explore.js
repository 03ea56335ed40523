// Explore: move the slider, see what privacy costs. Only records that are nobody's are ever fitted here.
import { Problem, follow, get, post } from "/static/api.js";
import { card, element } from "/static/elements.js";
import { EpsilonReadings, controls } from "/static/exploreControls.js";
import { copyCard } from "/static/exploreCopy.js";
import { Results } from "/static/exploreResults.js";
import { StudioPage } from "/static/page.js";

class StudioExplore extends StudioPage {
  #options = null;
  #table = null;
  #results = null;
  #readings = null;
  #frame = ""; // what the charts were made for: they are made anew when it changes
  #wanted = null; // the newest position that was not asked for yet
  #asking = false;
  #following = new AbortController(); // of clusters that take longer
  #job = "";

  async render(state, table) {
    if (!table) return this.needTable("Explore");
    if (!table.schema || Object.keys(table.lacking).length) return this.#needSchema(table);
    const path = `/api/tables/${encodeURIComponent(table.id)}/explore`;
    this.#options = await get(path, { signal: this.signal });
    this.#path = path;
    if (!this.#results || this.#table?.id !== table.id) this.#build();
    this.#table = table;
    this.#complete(state);
    this.#drawControls();
    await this.#ask(null);
  }

  #path = "";

  #needSchema(table) {
    this.#results = null;
    this.replaceChildren(element("div", { className: "empty" }, element("h1", {}, "Explore"),
      element("p", {}, "Describe the table first: its columns and their public limits."),
      element("a", { className: "button", href: `/?table=${encodeURIComponent(table.id)}`, "data-page": true }, "Describe the table")));
  }

  #build() {
    this.#results = new Results();
    this.#frame = "";
    this.#readings = new EpsilonReadings((epsilon, event) => {
      this.note({ epsilon });
      this.#ask(event.timeStamp);
    });
    this.#readings.onradius = (radius) => this.note({ radius });
    this.shownSource = element("p", { className: "note", role: "status" });
    this.panel = element("div", {});
    this.again = element("button", { type: "button", onclick: () => this.go({ draw: String(Number(this.state.draw || 0) + 1) }) }, "Draw the noise again");
    this.replaceChildren(
      element("h1", {}, "Explore"),
      element("p", {}, "Move the slider to see what privacy costs. Nothing is spent here, and your records are not touched."),
      this.shownSource,
      element("div", { className: "with-controls" },
        element("div", { className: "controls" }, card("Settings", {}, this.panel, this.#readings.whole, this.again)),
        this.#results.whole));
  }

  // What the address leaves out.
  #complete(state) {
    const { methods, method, sources, axes } = this.#options;
    const has = (name) => methods.some((one) => one.name === name);
    const axis = (name, other) => (axes.some((one) => one.name === name) ? name : axes.find((one) => one.name !== other)?.name ?? axes[0]?.name ?? "");
    const x = axis(state.x, "");
    this.settings = {
      method: has(state.method) ? state.method : method,
      source: sources.includes(state.source) ? state.source : "made-up",
      k: Math.min(20, Math.max(1, Math.round(Number(state.k)) || 5)),
      epsilon: Number(state.epsilon) > 0 && Number(state.epsilon) <= 1000 ? Number(state.epsilon) : 1,
      draw: Math.max(0, Math.round(Number(state.draw)) || 0),
      x, y: axis(state.y, x),
    };
  }

  #drawControls() {
    const { method, epsilon, source, x, y } = this.settings;
    this.panel.replaceChildren(...controls(this.#options, this.settings, (changes) => this.go(changes)).filter(Boolean));
    const { notion } = this.#options.methods.find(({ name }) => name === method);
    const radius = this.#options.in_kilometers ? { unit: "km", distance: 1, usual: 1 } : this.#options.radii[x];
    this.#readings.choose({ notion, shuffled: this.#options.trust_model === "shuffled", radius, kept: this.state.radius });
    this.#readings.show(epsilon);
    this.shownSource.textContent = source === "copy"
      ? "You see a private copy of your table, bought once: its records belong to no real person."
      : "You see made-up records of your schema: they belong to no real person and reveal nothing about your table.";
    this.#results.ownRecords(`${this.#path}/records.png?${new URLSearchParams({ x, y })}`, this.#table.has_records);
    this.#results.copyPlace.replaceChildren(this.#table.has_copy ? "" : copyCard(this.#table, this.#options, () => this.go({ source: "copy" })));
  }

  // One request at a time; of positions that came meanwhile, the newest alone is asked for next.
  async #ask(since) {
    this.settings.epsilon = Number(this.#readings.epsilon);
    this.#wanted = { ...this.settings, since };
    if (this.#asking) return;
    this.#asking = true;
    try {
      while (this.#wanted && this.isConnected) {
        const wanted = this.#wanted;
        this.#wanted = null;
        await this.#explore(wanted);
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem) || error.lost) throw error;
      this.#results.settle(error.message); // such as an epsilon that a method cannot use
    } finally {
      this.#asking = false;
    }
  }

  async #explore({ since, k, ...asked }) {
    const frame = JSON.stringify([this.#table.id, asked.method, k, asked.x, asked.y, asked.source]);
    this.#following.abort();
    const previous = this.#job;
    this.#job = "";
    const answer = await post(this.#path, { ...asked, clusters: k, frame: frame !== this.#frame, previous });
    if (!this.isConnected) return;
    await this.#results.show(answer, this.#link({ ...asked, k }));
    this.#frame = frame;
    if (answer.job) {
      this.#job = answer.job.id;
      this.#following = new AbortController();
      this.#finish(answer, this.#following.signal, asked.epsilon);
    } else this.#results.settle();
    await this.#painted(since, asked.epsilon, !answer.job);
  }

  // Clusters that take longer: shown when they are there, unless a newer position came.
  async #finish({ job, leaves }, signal, epsilon) {
    const look = this.#results.wait(Boolean(leaves), () => post(`/api/jobs/${job.id}/cancel`));
    try {
      const { state, result } = await follow(job, look, { signal });
      if (signal.aborted) return;
      if (state === "done") await this.#results.show(result);
      this.#results.settle(state === "done" ? "" : "Canceled: move the slider to try again.");
      await this.#painted(null, epsilon, true);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#results.settle(error.message);
      if (error.lost) throw error;
    }
  }

  async #painted(since, epsilon, whole) {
    await new Promise((done) => requestAnimationFrame(done));
    if (since !== null) this.dataset.milliseconds = String(Math.round(performance.now() - since));
    this.dataset.epsilon = String(epsilon);
    this.dataset.whole = String(whole);
  }

  #link({ method, epsilon, k }) {
    const page = this.#options.trust_model === "central" ? "/release" : "/campaigns";
    return `${page}?${new URLSearchParams({ table: this.#table.id, method, epsilon, k })}`;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#following.abort();
    // A page that is left wants no more clusters.
    if (this.#job) post(`/api/jobs/${this.#job}/cancel`).catch(() => {});
  }
}
customElements.define("studio-explore", StudioExplore);
