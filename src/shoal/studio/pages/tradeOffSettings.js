// Settings of Trade-off: in the address, and as a form.
import { element, field, select } from "/static/elements.js";

const SOURCES = { "made-up": "made-up records of the schema", copy: "the private copy" };
const MODEL_ORDER = ["central", "local"];

const whole = (text, least, most, otherwise) => {
  const value = Math.round(Number(text));
  return text !== undefined && text !== "" && value >= least && value <= most ? value : otherwise;
};
const numbers = (text) => [...new Set((text ?? "").split(",").map(Number).filter((one) => one > 0 && one <= 1000))].sort((a, b) => a - b);

/** Settings of an address; what it leaves out, or what does not fit, is that of a quick look. */
export function readSettings(state, options) {
  const { quick } = options;
  const fitting = options.methods.filter(({ misfit }) => !misfit).map(({ name }) => name);
  const methods = (state.methods ?? "").split(",").filter((name) => fitting.includes(name));
  const epsilons = numbers(state.epsilons).slice(0, 12);
  return {
    source: options.sources.includes(state.source) ? state.source : "made-up",
    methods: methods.length ? methods : quick.methods,
    epsilons: epsilons.length ? epsilons : quick.epsilons,
    clusters: whole(state.k, 1, 20, quick.clusters),
    runs: whole(state.runs, 1, 100, quick.runs),
    seed: whole(state.seed, 0, 2 ** 32 - 1, 0),
  };
}

/** The same as parts of an address. */
export const toAddress = ({ source, methods, epsilons, clusters, runs, seed }) => ({
  source, methods: methods.join(","), epsilons: epsilons.join(","), k: clusters, runs, seed,
});

/** The form: `onchange(changes)` at every change that is valid, `onsubmit()` to start. */
export function settingsForm(options, settings, onchange, onsubmit) {
  const told = element("p", { className: "bad-words", role: "alert" });
  const chosen = new Set(settings.methods);
  const choose = (name, wanted) => {
    if (wanted) chosen.add(name);
    else chosen.delete(name);
    onchange({ methods: options.methods.map((one) => one.name).filter((one) => chosen.has(one)) });
  };
  const count = (label, key, least, most, hint) => field(label, element("input", {
    type: "number", min: least, max: most, step: 1, value: settings[key], required: true,
    oninput: ({ target }) => { if (target.validity.valid) onchange({ [key]: Number(target.value) }); },
  }), hint);
  const epsilons = element("input", {
    type: "text", value: settings.epsilons.join(", "), inputMode: "decimal", autocomplete: "off",
    oninput: ({ target }) => {
      const read = numbers(target.value.replaceAll(" ", ""));
      target.setCustomValidity(read.length && read.length <= 12 ? "" : "Enter one to twelve numbers above 0, separated by commas.");
      if (target.validity.valid) onchange({ epsilons: read });
    },
  });
  const form = element("form", {
    noValidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      const wrong = form.querySelector("input:invalid");
      told.textContent = wrong ? wrong.validationMessage : chosen.size ? "" : "Choose at least one method.";
      wrong?.focus();
      if (!told.textContent) onsubmit();
    },
  },
    options.sources.length > 1
      ? field("Compare on", select(options.sources.map((one) => [one, SOURCES[one]]), settings.source, ({ target }) => onchange({ source: target.value })))
      : element("p", { className: "hint" }, "Methods are compared on made-up records of the schema. A private copy of your table, bought on the Explore page, can be chosen here too."),
    ...MODEL_ORDER.map((model) => methodBoxes(options, model, chosen, choose)),
    field("Worst-case epsilons", epsilons, "Separated by commas. The most that anything given away can distinguish one person's record from another."),
    element("div", { className: "row" },
      count("Clusters", "clusters", 1, 20), count("Runs", "runs", 1, 100), count("Seed", "seed", 0, 2 ** 32 - 1)),
    element("p", { className: "hint" }, "Runs are fits of each method at each epsilon. More runs narrow the bands; a recommendation needs 5."),
    told,
    element("button", { type: "submit" }, "Compare these"));
  return element("details", { className: "trade-off-settings" }, element("summary", {}, "Choose the settings"), form);
}

function methodBoxes(options, model, chosen, choose) {
  const boxes = options.methods.filter((one) => one.model === model).map(({ name, summary, misfit, slow, shuffled }) => {
    const notes = [misfit ? "not for these columns" : "", slow && !misfit ? "slow with this many columns" : "", shuffled ? "also behind a shuffler" : ""].filter(Boolean);
    return element("label", { className: "method-box", title: misfit || summary },
      element("input", { type: "checkbox", name: "method", value: name, checked: chosen.has(name) && !misfit, disabled: Boolean(misfit), onchange: ({ target }) => choose(name, target.checked) }),
      element("span", {}, name, notes.length ? element("span", { className: "hint" }, ` (${notes.join("; ")})`) : ""));
  });
  return element("fieldset", {}, element("legend", {}, options.models[model]), ...boxes);
}
