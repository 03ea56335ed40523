// The table that is open, in the header: its name, and what is left of its ledger.
import { get } from "/static/api.js";
import { element, roundedDown } from "/static/elements.js";

/** `<studio-table-chip>`: follows the event `studio-table`, whose detail is a table or null. */
class StudioTableChip extends HTMLElement {
  #table = null;

  connectedCallback() {
    addEventListener("studio-table", ({ detail }) => this.#draw(detail));
    // Another tab may have spent something meanwhile.
    document.addEventListener("visibilitychange", () => this.#refresh());
  }

  async #refresh() {
    if (document.hidden || !this.#table) return;
    try {
      this.#draw(await get(`/api/tables/${encodeURIComponent(this.#table.id)}`));
    } catch {
      // The page itself says what is wrong, when it asks.
    }
  }

  #draw(table) {
    this.#table = table;
    if (!table) return this.replaceChildren();
    const left = table.ledger ? roundedDown(table.ledger.remaining) : null;
    const words = left === null ? "no limit yet" : `ε ${left} left`;
    const told = left === null ? "its ledger has no limit yet" : `epsilon ${left} is left of its ledger`;
    const link = element("a", {
      className: "chip", href: `/ledger?table=${encodeURIComponent(table.id)}`, "data-page": true,
      "aria-label": `Table ${table.name}: ${told}`, title: table.name,
    }, element("span", { className: "name" }, table.name), element("span", { className: "left" }, words));
    this.replaceChildren(link);
  }
}
customElements.define("studio-table-chip", StudioTableChip);
