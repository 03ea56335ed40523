// The page Table, the first one: open a table, describe it, say who holds the records.
import { get } from "/static/api.js";
import { element } from "/static/elements.js";
import { StudioPage } from "/static/page.js";
import { fieldForm, fieldsCard, nextField } from "/static/tableFields.js";
import { firstLineCard, openingCards, openTablesCard, tryButton } from "/static/tableOpen.js";
import { nextCard, settingsCards } from "/static/tableSettings.js";

const SOURCES = {
  upload: "Your file, held only in the studio's memory",
  file: "Your file, held only in the studio's memory",
  dataset: "A data set, with the public schema that comes with it",
  "made-up": "A schema without records: all pages show made-up records, and nothing can be bought",
};

class TablePage extends StudioPage {
  #questions = null;

  async render(state, table) {
    if (!table) return this.#start();
    const name = table.name;
    if (table.unnamed) {
      const { values } = await get(`/api/tables/${table.id}/first-line`, { signal: this.signal });
      this.replaceChildren(this.#head(name, SOURCES[table.source]), firstLineCard(this, table, values));
      return;
    }
    const focused = document.activeElement?.id;
    this.#questions ??= await get("/api/questions", { signal: this.signal });
    const { fields } = await get(`/api/tables/${table.id}/fields`, { signal: this.signal });
    const edited = fields.find((one) => one.name === state.field);
    const form = edited ? fieldForm(this, table, edited, fields, this.#questions) : null;
    this.replaceChildren(
      this.#head(name, SOURCES[table.source]),
      element("div", { className: form ? "describing" : "" },
        fieldsCard(this, table, fields, this.#questions, state.field), form),
      element("div", { className: "side-by-side" }, ...settingsCards(this, table, fields)),
      nextCard(table, nextField(fields)),
    );
    // What was changed is drawn anew; the keyboard stays where it was.
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
    if (form && state.field !== this.opened) form.arrive();
    this.opened = state.field;
  }

  async #start() {
    const [start, session] = await Promise.all([
      get("/api/start", { signal: this.signal }), get("/api/session", { signal: this.signal }),
    ]);
    this.opened = undefined;
    this.replaceChildren(...[
      element("div", { className: "welcome" },
        element("h1", {}, "What can you learn from a table without giving away anyone in it?"),
        element("p", { className: "sentence" },
          "The studio finds groups in a table, such as the customers of a shop, and adds just enough noise that almost nothing is revealed about any one person. "
          + "Move a slider to see, on made-up records, what more privacy costs. Once you like what you see, pay the price once and release the real result."),
        tryButton(this)),
      openTablesCard(this, session.tables),
      element("div", { className: "side-by-side" }, ...openingCards(this, start)),
    ].filter(Boolean));
  }

  #head(name, words) {
    return element("div", { className: "table-head" },
      element("div", {}, element("h1", {}, name), element("p", {}, words)),
      element("a", { href: "/", className: "button", "data-page": true }, "Open another table"));
  }
}

customElements.define("studio-table", TablePage);
