// Audit: is the promise kept, and what does an attacker learn? All on records that are nobody's.
// The address holds what is audited and the two jobs, so that a reload finds them again.
import { follow, get, post } from "/static/api.js";
import { attackCard, claimCard, replayCard } from "/static/auditResults.js";
import { card, element, field, progress, select } from "/static/elements.js";
import { StudioPage } from "/static/page.js";

const EFFORTS = [["quick", "quick: a few seconds"], ["thorough", "thorough: a few minutes"]];
const ROWS = [["60", "60 records"], ["200", "200 records"], ["1000", "1,000 records"]];
const PHASES = { replay: "Replaying fits on pairs of tables", samples: "Comparing many releases" };
const NOTIONS = { central: "Estimators: a curator holds the records", local: "Mechanisms: no one is trusted with a record", metric: "Mechanisms with a distance-based promise" };

class StudioAudit extends StudioPage {
  #methods = null;
  #running = {}; // identifiers of jobs that run, by their name in the address

  async render(state, table) {
    this.#methods ??= await get("/api/audit/methods", { signal: this.signal });
    this.claim = element("div", { className: "audit-result" });
    this.attack = element("div", { className: "audit-result" });
    this.replaceChildren(
      element("h1", {}, "Audit: is the promise kept?"),
      element("p", {}, "An audit can prove that a promise is broken: if it measures more than is claimed, the claim is wrong. It cannot prove that a promise is kept: an audit may miss a flaw that only a mathematical proof can rule out."),
      element("p", { className: "note" }, "Nothing here reads your records or spends anything: audits run on pairs of made-up tables, attacks on made-up records of your schema or on a private copy."),
      element("div", { className: "with-controls" },
        element("div", {}, this.#settings(this.#asked(state)), this.#attackSettings(this.#asked(state), table)),
        element("div", {}, this.claim, this.attack)));
    this.#empty("job");
    this.#empty("attack");
    await Promise.all([this.#resume("job", this.claim), this.#resume("attack", this.attack)]);
  }

  // What the address asks for; Explore names method, epsilon, clusters and records in the same way.
  #asked(state) {
    const method = this.#methods.find(({ name }) => name === state.method)
      ?? this.#methods.find(({ name }) => name.split("-")[0] === state.method) ?? this.#methods[0];
    return {
      method, epsilon: Number(state.epsilon) || 1, clusters: Number(state.k) || 5,
      columns: Math.max(method.min_columns, Math.min(Number(state.columns) || 2, method.max_columns)),
      effort: state.effort === "thorough" ? "thorough" : "quick", planted: state.planted === "1",
      source: state.source === "copy" ? "copy" : "made-up", rows: Number(state.rows) || (method.notion === "central" ? 60 : 1000),
    };
  }

  #settings(asked) {
    const form = element("form", { onsubmit: (event) => { event.preventDefault(); this.#startAudit(); } });
    const changed = (name) => ({ target }) => target.checkValidity() && this.#change({ [name]: target.value }, "job", "attack");
    const whole = (name, value, max) => element("input", { type: "number", min: 1, max, step: 1, required: true, value, onchange: changed(name) });
    const groups = Object.entries(NOTIONS).map(([notion, label]) => element("optgroup", { label },
      ...this.#methods.filter((one) => one.notion === notion).map(({ name }) =>
        element("option", { value: name, selected: name === asked.method.name }, name))));
    const plant = element("input", { type: "checkbox", checked: asked.planted, onchange: ({ target }) => this.#change({ planted: target.checked ? "1" : "" }, "job") });
    const columns = whole("columns", asked.columns, 16);
    const method = field("Estimator or mechanism", element("select", {
      onchange: ({ target }) => {
        this.#change({ method: target.value }, "job", "attack");
        const now = this.#asked(this.state);
        method.querySelector(".hint").textContent = now.method.summary;
        columns.value = now.columns; // some are for two or three columns only
        if (this.rows) this.rows.value = now.rows;
      },
    }, ...groups), asked.method.summary);
    form.append(method,
      field("Claimed epsilon", element("input", { type: "number", min: 0.01, max: 1000, step: "any", required: true, value: asked.epsilon, onchange: changed("epsilon") })),
      field("Clusters", whole("k", asked.clusters, 50), "For methods that take a number of clusters."),
      field("Columns of the made-up tables", columns),
      field("Effort", select(EFFORTS, asked.effort, changed("effort")), "A quick audit has less power: it detects only large errors."),
      element("div", { className: "plant" },
        field("Plant a bug", plant, "See an audit catch a bug: the method runs with half the noise that its claim needs. On made-up tables only; no release is ever made this way.")),
      element("button", { type: "submit", className: "main" }, "Run the audit"));
    this.form = form;
    return card("What to audit", {}, form);
  }

  #attackSettings(asked, table) {
    if (!table) return card("Attack", {}, element("p", {}, "Open a table to attack made-up records of its schema."), element("a", { href: "/", className: "button", "data-page": true }, "Open a table"));
    const changed = (name) => ({ target }) => this.#change({ [name]: target.value }, "attack");
    const sources = [["made-up", "made-up records of your schema"], ...(table.has_copy ? [["copy", "your private copy"]] : [])];
    this.rows = select(ROWS, asked.rows, changed("rows"));
    return card("Attack", {},
      field("Attacked records", select(sources, asked.source, changed("source")), "Never your true records."),
      field("Size of the attacked table", this.rows, "The fewer records a table has, the more each one shows. Attacks on reports need many records to learn from."),
      element("button", { type: "button", className: "main", onclick: () => this.#startAttack() }, "Run the attack"));
  }

  #empty(name) {
    const [place, title, words] = name === "job"
      ? [this.claim, "Claim against measured lower bound", "Run the audit to compare what is measured with what is claimed."]
      : [this.attack, "What an attacker learns", this.state.table ? "Run the attack to see how often an attacker is right, with privacy and without." : "Attacks need the schema of a table: open one first."];
    place.replaceChildren(card(title, {}, element("p", { className: "hint" }, words)));
  }

  // Results of other settings leave the page and the address; what still runs for them ends.
  // The step back leads to them.
  #change(changes, ...results) {
    if (results.some((name) => this.state[name])) history.pushState(null, "", location.href);
    this.note({ ...changes, ...Object.fromEntries(results.map((name) => [name, ""])) });
    for (const name of results) {
      this.#empty(name);
      if (this.#running[name]) this.#cancel(this.#running[name]);
    }
  }

  #cancel(id) {
    return post(`/api/jobs/${encodeURIComponent(id)}/cancel`);
  }

  async #startAudit() {
    const { method, epsilon, clusters, columns, effort, planted } = this.#asked(this.state);
    const job = await post("/api/audit", { method: method.name, epsilon, clusters, columns, effort, planted });
    await this.#begin({ method: method.name, epsilon, k: clusters, columns, effort, job: job.id }, "job", this.claim);
  }

  async #startAttack() {
    if (!this.form.reportValidity()) return;
    const { method, epsilon, clusters, effort, rows, source } = this.#asked(this.state);
    const path = `/api/tables/${encodeURIComponent(this.state.table)}/audit/attack`;
    const job = await post(path, { method: method.name, epsilon, clusters, effort, rows, source });
    await this.#begin({ method: method.name, epsilon, k: clusters, effort, rows, source, attack: job.id }, "attack", this.attack);
  }

  // A step of the history that leaves the rest of the page, and the focus, as they are.
  #begin(changes, name, place) {
    history.pushState(null, "", location.href);
    this.note(changes);
    return this.#resume(name, place);
  }

  // Find the job of the address again, follow it, and show what came of it.
  async #resume(name, place) {
    const id = this.state[name];
    if (!id) return;
    const { signal } = this;
    try {
      let job = await get(`/api/jobs/${encodeURIComponent(id)}`, { signal });
      const bar = this.#bar(name, job.id);
      if (job.state === "running") {
        place.replaceChildren(bar);
        this.#running[name] = id;
      }
      job = await follow(job, (now) => bar.tell(now), { signal });
      delete this.#running[name];
      if (this.state[name] !== id) return; // the settings were changed meanwhile
      if (job.state === "canceled") place.replaceChildren(element("p", { className: "note", role: "status" }, "Canceled; nothing was released or spent."));
      else await this.#shown(name, place, job.result);
    } catch (error) {
      if (error.name === "AbortError") return; // another state is shown
      if (error.lost) throw error;
      delete this.#running[name];
      if (this.state[name] === id) place.replaceChildren(element("p", { className: "note warn", role: "alert" }, error.message));
    }
  }

  #bar(name, id) {
    const bars = {};
    const bar = element("div", {});
    const cancel = () => this.#cancel(id);
    bar.tell = (job) => {
      const words = name === "attack" ? "Attacking with and without privacy" : PHASES[job.partial?.phase] ?? PHASES.samples;
      if (!bars[words]) bar.replaceChildren(bars[words] = progress(words, { oncancel: cancel }));
      if (name === "attack") job = { done: Math.round((100 * job.done) / (job.total || 1)), total: 100 };
      bars[words].update(job);
    };
    return bar;
  }

  async #shown(name, place, result) {
    const cards = name === "attack" ? [attackCard(result)] : [claimCard(result), replayCard(result)];
    place.replaceChildren(...cards.filter(Boolean));
    await Promise.all(cards.filter(Boolean).map((one) => one.drawn?.()));
  }
}
customElements.define("studio-audit", StudioAudit);
