// What every page of the studio is: an element that shows the state in the address.
import { get } from "/static/api.js";
import { element } from "/static/elements.js";
import { address, navigate } from "/static/studio.js";

/** Base class of pages. A page overrides `render(state, table)`. */
export class StudioPage extends HTMLElement {
  #aborted = new AbortController();
  state = {};

  /** Show a state; called at every change of the address. */
  async show(state) {
    this.#aborted.abort();
    this.#aborted = new AbortController();
    this.state = state;
    try {
      const table = state.table ? await this.#find(state.table) : null;
      dispatchEvent(new CustomEvent("studio-table", { detail: table ?? null }));
      if (table === undefined) return;
      await this.render(state, table);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }

  /** Return a table; where the studio has it no more, say so and return undefined. */
  async #find(identifier) {
    try {
      return await get(`/api/tables/${encodeURIComponent(identifier)}`, { signal: this.signal });
    } catch (error) {
      if (error.status !== 404) throw error;
      this.#forgotten(error.message);
      return undefined;
    }
  }

  /** Ends what was asked for an earlier state. */
  get signal() {
    return this.#aborted.signal;
  }

  disconnectedCallback() {
    this.#aborted.abort();
  }

  /** Put a part of the state into the address; `replace` makes no step of the history. */
  go(changes, options) {
    return navigate(location.pathname, { ...this.state, ...changes }, options);
  }

  /** Note a state in the address without showing it anew: for sliders. */
  note(changes) {
    this.state = { ...this.state, ...changes };
    history.replaceState(null, "", address(location.pathname, this.state));
  }

  #forgotten(words) {
    this.replaceChildren(
      element("div", { className: "empty" }, element("h1", {}, "This table is gone"), element("p", {}, words),
        element("a", { href: "/", className: "button", "data-page": true }, "Open a table")));
  }

  /** What a page shows that needs a table and has none. */
  needTable(what) {
    this.replaceChildren(
      element("div", { className: "empty" }, element("h1", {}, what), element("p", {}, "Open a table first: a file of your own, or one of the data sets that come with shoal."),
        element("a", { href: "/", className: "button", "data-page": true }, "Open a table")));
  }
}
