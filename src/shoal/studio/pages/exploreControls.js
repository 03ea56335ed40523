// Controls of Explore: which records, which method, how many clusters, and epsilon in all its readings.
import { element, field, number, roundedUp, select } from "/static/elements.js";

const LEAST = 0.01;
const MOST = 16;
const STEPS = 160;
const LIMITS = [0.001, 1000]; // of the exact field

/** Three digits are enough for a slider, and read well in an address. */
export const rounded = (value) => Number(value.toPrecision(3));

/** Epsilon of a step of the slider, and the nearest step of an epsilon: logarithmic. */
export const epsilonAt = (step) => rounded(LEAST * (MOST / LEAST) ** (step / STEPS));
export const stepOf = (epsilon) =>
  Math.max(0, Math.min(STEPS, Math.round(STEPS * Math.log(epsilon / LEAST) / Math.log(MOST / LEAST))));

/** Right guesses of 100 that an epsilon allows, and the other way round. */
export const guessesOf = (epsilon) => 100 / (1 + Math.exp(-epsilon));
export const epsilonOf = (guesses) => Math.log(guesses / (100 - guesses));

const WHO = {
  central: "You hold the records and publish a release.",
  local: "No one is trusted: each device sends a noisy report and keeps its record.",
  shuffled: "Each device reports to a relay that shuffles the reports; the relay sees no record.",
};

/** Epsilon as a slider, as an exact number, as guesses and as a level within a radius. */
export class EpsilonReadings {
  /** `onmove(epsilon, event)` is called for every change. */
  constructor(onmove) {
    this.onmove = onmove;
    const move = (read) => (event) => {
      const epsilon = read(event.target);
      if (!Number.isFinite(epsilon) || epsilon < LIMITS[0] || epsilon > LIMITS[1]) return;
      this.show(epsilon, event.target);
      this.onmove(epsilon, event);
    };
    this.slider = element("input", { type: "range", min: 0, max: STEPS, step: 1, oninput: move((it) => epsilonAt(Number(it.value))) });
    this.exact = element("input", { type: "number", min: LIMITS[0], max: LIMITS[1], step: "any", inputMode: "decimal", oninput: move((it) => Number(it.value)) });
    this.guesses = element("input", { type: "number", min: 50.03, max: 99.99, step: "any", inputMode: "decimal", oninput: move((it) => rounded(epsilonOf(Number(it.value)))) });
    this.level = element("input", { type: "number", min: 0, step: "any", inputMode: "decimal", oninput: move((it) => rounded(Number(it.value) / this.#reach())) });
    this.radius = element("input", { type: "number", min: 0, step: "any", inputMode: "decimal", oninput: () => this.#radiusMoved() });
    this.guessField = field("Correct guesses out of 100", this.guesses, "How often anyone can be right about one person, at most; a coin flip is right in 50.");
    this.levelField = element("fieldset", { className: "reading" },
      element("legend", {}, "Level within a radius"),
      element("div", { className: "row" }, field("Level", this.level), this.radiusField = field("Radius", this.radius)),
      this.levelWords = element("p", { className: "hint" }));
    this.whole = element("div", { className: "epsilon" },
      field("Privacy: epsilon", this.slider, "To the left: more privacy, more noise. To the right: less of both."),
      field("Exact value", this.exact), this.guessField, this.levelField);
  }

  /** Say what the number means for a method: `radius` is null unless its promise is metric. */
  choose({ notion, shuffled, radius, kept }) {
    this.metric = notion === "metric" ? radius : null;
    this.guessField.hidden = Boolean(this.metric) || shuffled;
    this.levelField.hidden = !this.metric;
    if (!this.metric) return;
    this.radiusField.querySelector("label").textContent = `Radius (${radius.unit})`;
    this.radius.value = kept || radius.usual;
  }

  /** Show one number in all readings; the one that is being typed in stays as it is. */
  show(epsilon, typed = null) {
    this.epsilon = epsilon;
    const put = (control, value) => { if (control !== typed) control.value = value; };
    put(this.slider, stepOf(epsilon));
    this.slider.setAttribute("aria-valuetext", `epsilon ${roundedUp(epsilon)}`);
    put(this.exact, epsilon);
    put(this.guesses, Number(guessesOf(epsilon).toFixed(2)));
    if (!this.metric) return;
    const level = epsilon * this.#reach();
    put(this.level, rounded(level));
    this.levelWords.textContent = `No one can distinguish two records ${number(Number(this.radius.value))} ${this.metric.unit} apart in more than ${Math.ceil(100 * guessesOf(level)) / 100} of 100 guesses.`;
  }

  #reach() {
    return Number(this.radius.value) * this.metric.distance;
  }

  #radiusMoved() {
    if (!(this.#reach() > 0)) return;
    this.show(this.epsilon, this.radius);
    this.onradius?.(this.radius.value);
  }
}

/** The other controls, as they are for a table; `go(changes)` is a step of the history. */
export function controls(options, state, go) {
  const sources = options.sources.map((one) => [one, one === "copy" ? "the private copy" : "made-up records"]);
  const axes = options.axes.map(({ name, title }) => [name, title]);
  const chosen = options.methods.find(({ name }) => name === state.method);
  const clusters = element("input", { type: "number", min: 1, max: 20, step: 1, value: state.k, onchange: ({ target }) => target.checkValidity() && target.value && go({ k: target.value }) });
  return [
    element("p", { className: "hint" }, WHO[options.trust_model]),
    field("Explore", select(sources, state.source, ({ target }) => go({ source: target.value }))),
    field(options.trust_model === "central" ? "Method" : "Mechanism",
      select(options.methods.map(({ name }) => name), state.method, ({ target }) => go({ method: target.value })), chosen?.summary ?? ""),
    field("Number of clusters", clusters),
    axes.length > 2 ? field("Horizontal axis", select(axes, state.x, ({ target }) => go({ x: target.value }))) : null,
    axes.length > 2 ? field("Vertical axis", select(axes, state.y, ({ target }) => go({ y: target.value }))) : null,
  ];
}
