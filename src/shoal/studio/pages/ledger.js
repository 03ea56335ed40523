// Ledger and reports: the limit, who spent what on which table, and pages of other commands.
import { Problem, get, post } from "/static/api.js";
import { card, element, field, grid, number, roundedUp } from "/static/elements.js";
import { ledgerBar } from "/static/ledgerBar.js";
import { StudioPage } from "/static/page.js";

class StudioLedger extends StudioPage {
  async render(state, table) {
    const [session, file, reports] = await Promise.all(
      ["/api/session", "/api/ledger", "/api/reports"].map((path) => get(path, { signal: this.signal })));
    const parts = [
      element("h1", {}, "Ledger and reports"),
      element("p", {}, "A ledger limits everything that is ever spent on the people in a table. It refuses whatever would exceed the limit, before anything is released."),
    ];
    if (table) parts.push(...await this.#ofTable(table, file));
    else if (file.ledger) parts.push(...spent(file.ledger, `Ledger in ${file.file}`));
    const others = session.tables.filter((one) => one.ledger && one.id !== table?.id);
    if (others.length) parts.push(otherTables(others));
    if (!table && !file.ledger && !others.length) {
      parts.push(element("p", { className: "note" }, "There is no ledger yet: open a table, then set its limit here."),
        element("a", { className: "button main", href: "/", "data-page": true }, "Open a table"));
    }
    parts.push(this.#reports(reports));
    this.replaceChildren(element("div", { className: "stack" }, ...parts));
    this.querySelector("iframe")?.scrollIntoView({ block: "nearest" }); // it draws what is seen
  }

  async #ofTable(table, file) {
    const path = `/api/tables/${encodeURIComponent(table.id)}/ledger`;
    const { ledger } = await get(path, { signal: this.signal });
    if (ledger) {
      const parts = spent(ledger, `Ledger of ${ledger.table || table.name}`);
      if (!ledger.entries && !ledger.in_file) parts.push(this.#limit(path, ledger, "Change the limit"));
      else parts.push(this.#limit(path, ledger, "Raise the limit", { raised: true }));
      return parts;
    }
    if (!file.ledger) return [this.#limit(path, null, "Set the limit", { file: file.file })];
    return [...spent(file.ledger, `Ledger in ${file.file}`), this.#join(path, table, file)];
  }

  #limit(path, ledger, title, { file = null, raised = false } = {}) {
    const epsilon = element("input", { type: "number", min: 0, step: "any", required: true, value: ledger?.epsilon ?? 2 });
    const delta = element("input", { type: "number", min: 0, max: 1, step: "any", required: true, value: ledger?.delta ?? 0 });
    const reason = element("input", { type: "text", required: true, maxLength: 1000 });
    const told = element("p", { role: "alert", className: "bad-words" });
    const where = file ? `It is written to ${file} and outlives the studio.` : "It is kept in memory and lost when the studio ends: start the studio with --ledger FILE to keep it.";
    const send = async (event) => {
      event.preventDefault();
      told.textContent = "";
      try {
        const asked = { epsilon: Number(epsilon.value), delta: Number(delta.value) };
        await post(path, raised ? { ...asked, reason: reason.value } : asked);
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.lost) throw problem;
        told.textContent = problem.message;
        return;
      }
      await this.show(this.state);
    };
    return card(title, {},
      element("p", {}, raised
        ? "The people in the table will bear more. The ledger records the new limit with your name and the reason, and forgets nothing that was spent."
        : `Set it before anything is spent, for all releases together; afterward it can be raised only, with a reason. ${where}`),
      element("form", { onsubmit: send },
        field("Limit on epsilon", epsilon, "1 or less is a strong promise; above 10 is hardly any promise."),
        field("Limit on delta", delta, "0 allows only pure epsilon; keywords and Gaussian noise need a small delta, such as 0.000001."),
        raised ? field("Reason", reason) : null,
        told, element("button", { type: "submit", className: "main" }, title)));
  }

  #join(path, table, { ledger }) {
    const name = element("input", { type: "text", value: ledger.table, maxLength: 200 });
    const told = element("p", { role: "alert", className: "bad-words" });
    const send = async (event) => {
      event.preventDefault();
      told.textContent = "";
      try {
        await post(path, { name: name.value });
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.lost) throw problem;
        told.textContent = problem.message;
        return;
      }
      await this.show(this.state);
    };
    const whose = ledger.table ? `It counts what is spent on the people in ${ledger.table}. Charge this table to it if it is about the same people.` : "It names no table yet.";
    return card(`Charge ${table.name} to this ledger`, {}, element("p", {}, whose),
      element("form", { onsubmit: send }, field("Name of these people in the ledger", name), told,
        element("button", { type: "submit", className: "main" }, "Charge this ledger")));
  }

  #reports({ folders, pages }) {
    const shown = this.state.report ? pages.find((page) => page.id === this.state.report) : null;
    const open = (page) => element("a", { href: `/reports/${page.id}`, target: "_blank", rel: "noopener" }, page.title);
    const here = (page) => element("button", { type: "button", onclick: () => this.go({ report: page.id }) }, "Show here");
    const rows = pages.map((page) => [open(page), page.place, new Date(page.time).toLocaleString("en"), `${number(page.size / 1e6)} MB`, here(page)]);
    const none = folders.length
      ? `There are no pages in ${folders.join(", ")} yet.`
      : "Start the studio with --reports FOLDER to list pages written by shoal compare, reproduce, audit and other commands.";
    return card("Reports", {},
      pages.length ? grid(["Page", "Where", "Written", "Size", "Here"], rows, { caption: "Pages of other commands" }) : element("p", {}, none),
      // Without an origin: its scripts can draw, and reach nothing.
      shown ? element("section", { "aria-label": shown.title }, element("h3", {}, shown.title),
        element("iframe", { className: "report", src: `/reports/${shown.id}`, title: shown.title, sandbox: "allow-scripts" })) : null);
  }
}

function spent(ledger, title) {
  const promises = ledger.spent.map((one) => element("p", {}, `Promised in total: ${one}.`));
  const rows = ledger.list.map((one) => [
    String(one.number), new Date(one.time).toLocaleString("en"), one.who || "–", one.price,
    one.purpose + (one.seeded ? " (seeded: no promise)" : ""), one.table || "–", one.columns.join(", ") || "–", one.unit, one.hash.slice(0, 16),
  ]);
  const raised = ledger.changes.map((one) => [
    String(one.number), new Date(one.time).toLocaleString("en"), one.who,
    `epsilon ${roundedUp(one.epsilon)}${one.delta ? `, delta ${roundedUp(one.delta)}` : ""}`, one.reason,
  ]);
  return [
    card(title, {}, ledgerBar(ledger, "Used so far"), ...promises,
      element("p", { className: "hint" }, `It protects each ${ledger.unit}. ${ledger.file ? `File: ${ledger.file}; other programs may charge it too. ` : "It is kept in the studio's memory. "}${ledger.receipt}.`)),
    ...(rows.length ? [card("Who spent what", {},
      grid(["No.", "When", "Who", "Cost", "What", "Table", "Columns", "To each", "Hash"], rows, { caption: "Entries of the ledger, oldest first" }))] : []),
    ...(raised.length ? [card("Limits raised", {},
      grid(["No.", "When", "Who", "New limit", "Reason"], raised, { caption: "Changes of the limit, oldest first" }))] : []),
  ];
}

const otherTables = (tables) => card("Other tables", {},
  grid(["Table", "Limit", "Used", "Charges"], tables.map((one) => [
    element("a", { href: `/ledger?table=${encodeURIComponent(one.id)}`, "data-page": true }, one.name),
    `epsilon ${roundedUp(one.ledger.epsilon)}`, `${number(100 * one.ledger.used)}%`, String(one.ledger.entries),
  ]), { caption: "Ledgers of other tables" }));

customElements.define("studio-ledger", StudioLedger);
