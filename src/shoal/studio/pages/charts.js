// Charts: Vega-Lite as shoal.plotting makes it, drawn by the library that reports and notebooks use.
// A view is made once; where only rows change, they are swapped, which takes milliseconds.
import { element } from "/static/elements.js";

const PADDING = 8; // pixels around a chart, both sides together
const LEAST_CHANGE = 12; // pixels of width for which a chart is not made anew
const SETTLED = 150; // milliseconds without a change of the window

let library = null;

function load() {
  library ??= new Promise((done, failed) => {
    const script = element("script", { src: "/charts.js", onload: done, onerror: () => {
      script.remove();
      library = null; // asked for again when the next chart is drawn
      failed(new Error("the library that draws charts could not be loaded"));
    } });
    document.head.append(script);
  });
  return library;
}

// As reports do: on a narrow screen panels shrink, then form more rows.
function fit(spec, width) {
  const { width: made, margin, entry, least, square } = spec.usermeta.shoal;
  const narrowest = Math.max(least, Math.min(made, 190)) + margin;
  spec.columns = Math.max(1, Math.min(spec.columns ?? 1, Math.floor(width / narrowest)));
  const share = Math.max(least / made, Math.min(1, (width / spec.columns - margin) / made));
  const legend = spec.config.legend;
  legend.columns = Math.max(1, Math.min(legend.columns, Math.floor(width / entry)));
  for (const one of spec.concat) {
    one.width *= share;
    if (square) one.height *= share;
  }
  return spec;
}

async function embed(spec, width) {
  const place = element("div", { className: "chart" });
  const { view } = await window.vegaEmbed(place, fit(structuredClone(spec), width), {
    mode: "vega-lite", renderer: "canvas", actions: false, ast: true, defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  return [place, view];
}

/** `<studio-chart>`: `draw(spec)` shows a chart, `swap(rows)` other rows of the same. */
class StudioChart extends HTMLElement {
  #view = null;
  #spec = null; // with the rows that are shown
  #frame = ""; // the chart without its rows
  #width = 0; // for which it was made
  #queue = Promise.resolve();
  #timer = 0;
  #observer = new ResizeObserver(() => this.#resized());

  connectedCallback() {
    this.#observer.observe(this);
  }

  /** Draw a chart; one that differs in its rows alone is not made anew. */
  draw(spec) {
    return this.#next(() => this.#draw(spec));
  }

  /** Show other rows, by the names of their data sets. */
  swap(datasets) {
    return this.#next(() => this.#swap(datasets));
  }

  /** One after the other; a failed one does not stop the next. */
  #next(step) {
    this.#queue = this.#queue.then(step, step);
    return this.#queue;
  }

  async #draw(spec) {
    await load();
    const { datasets, ...frame } = spec;
    const text = JSON.stringify([frame, Object.keys(datasets)]);
    if (this.#view && text === this.#frame) return this.#swap(datasets);
    await this.#make(spec, text);
  }

  async #make(spec, text) {
    const width = this.clientWidth || 600;
    let [place, view] = await embed(spec, width - PADDING);
    // Labels may be wider than the margin that was kept for them: their excess is known now.
    const excess = place.querySelector("canvas").width / devicePixelRatio - (width - PADDING);
    if (excess > 0) {
      view.finalize();
      [place, view] = await embed(spec, width - PADDING - Math.ceil(excess));
    }
    this.#view?.finalize();
    this.replaceChildren(place);
    [this.#view, this.#spec, this.#frame, this.#width] = [view, spec, text, width];
    view.addEventListener("click", (_event, item) => {
      if (item?.datum) this.dispatchEvent(new CustomEvent("pick", { detail: item.datum }));
    });
    this.#drawn();
  }

  async #swap(datasets) {
    this.#spec = { ...this.#spec, datasets: { ...this.#spec.datasets, ...datasets } };
    for (const [name, rows] of Object.entries(datasets)) this.#view.data(name, rows);
    await this.#view.runAsync();
    this.#drawn();
  }

  #drawn() {
    this.#scrolled();
    this.dataset.drawn = String(Number(this.dataset.drawn ?? 0) + 1);
  }

  /** What scrolls can be scrolled by keyboard. */
  #scrolled() {
    if (this.scrollWidth > this.clientWidth) this.tabIndex = 0;
    else this.removeAttribute("tabindex");
  }

  /** Make the chart anew for another width, once the window keeps still. */
  #resized() {
    this.#scrolled();
    clearTimeout(this.#timer);
    const other = () => this.#view && this.clientWidth && Math.abs(this.clientWidth - this.#width) >= LEAST_CHANGE;
    if (!other()) return;
    this.#timer = setTimeout(() => {
      if (other()) this.#next(() => this.#make(this.#spec, this.#frame));
    }, SETTLED);
  }

  disconnectedCallback() {
    this.#observer.disconnect();
    clearTimeout(this.#timer);
    // Moved within the page, it is connected again at once.
    queueMicrotask(() => { if (!this.isConnected) this.#view?.finalize(); });
  }
}
customElements.define("studio-chart", StudioChart);

/** Make a chart with words for readers who do not see it. */
export function chart(label) {
  return element("studio-chart", { role: "img", "aria-label": label });
}
