// The form of a campaign's record: one question for each column, read strictly before anything is drawn.

import { boxOf } from "./schema.js";

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */
/** @typedef {{names: string[], controls: Control[], read: (values: string[]) => unknown[]}} Question */

/**
 * Make an element.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes] those that are false or null are left out
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** The questions of a mechanism, and the record that was answered. */
export class ReportForm {
  /** @param {any} mechanism of the campaign's document */
  constructor(mechanism) {
    this.node = make("div");
    /** @type {Question[]} */
    this.questions = [];
    this.count = 0;
    this.schema = mechanism.parameters.schema;
    if (this.schema) {
      for (const field of this.schema.fields) if ((field.shoal?.role ?? "feature") === "feature") this.#ask(field);
    } else {
      const { low, high } = boxOf(mechanism);
      low.forEach((/** @type {number} */ minimum, /** @type {number} */ i) => {
        const name = mechanism.names?.[i] ?? `Number ${i + 1}`;
        this.#ask({ name, type: "number", constraints: { required: true, minimum, maximum: high[i] } });
      });
    }
  }

  /**
   * Return the record, or null after the first wrong answer was marked and given the focus.
   *
   * @returns {Record<string, unknown> | unknown[] | null}
   */
  read() {
    const controls = this.questions.flatMap((question) => question.controls);
    const wrong = controls.filter((control) => !check(control));
    wrong[0]?.focus();
    if (wrong.length) return null;
    const entries = this.questions.flatMap(({ names, controls, read }) => {
      const values = controls.map((control) => control.value);
      const found = values.includes("") ? names.map(() => null) : read(values);
      return names.map((name, i) => /** @type {const} */ ([name, found[i]]));
    });
    return this.schema ? Object.fromEntries(entries) : entries.map(([, value]) => value);
  }

  /** @param {any} field of a Table Schema */
  #ask(field) {
    const { name, type, constraints = {}, shoal = {} } = field;
    const required = constraints.required === true || shoal.missing === "refuse";
    const text = field.title || name;
    const title = shoal.unit ? `${text} (${shoal.unit})` : text;
    const levels = field.categories ?? constraints.enum;
    if (type === "geopoint") return this.#askPlace(field, title, required);
    const { minimum, maximum } = constraints;
    const range = levels || type === "boolean" ? "" : `from ${minimum} to ${maximum}`;
    const hints = [field.description, range, required ? "" : "may be left empty"];
    /** @type {(values: string[]) => unknown[]} */
    let read = (values) => values;
    /** @type {Control} */
    let control;
    if (type === "boolean") {
      control = select([["true", "Yes"], ["false", "No"]], required);
      read = ([value]) => [value === "true"];
    } else if (levels) {
      const values = levels.map((/** @type {any} */ level) => String(level?.value ?? level));
      const other = shoal.other ?? "other";
      if (!field.categoriesOrdered && !values.includes(other)) values.push(other);
      control = select(values.map((/** @type {string} */ value) => [value, value]), required);
    } else if (type.startsWith("date")) {
      control = make("input", { type: "date", min: minimum.slice(0, 10), max: maximum.slice(0, 10), required });
      read = ([value]) => [new Date(/** @type {string} */ (value))];
    } else {
      control = number(minimum, maximum, required);
      read = ([value]) => [Number(value)];
    }
    const parts = this.#described(control, title, hints.filter(Boolean).join("; "));
    this.node.append(make("div", { class: "field", part: "field" }, ...parts));
    this.questions.push({ names: [name], controls: [control], read });
    return undefined;
  }

  /**
   * Ask for a place: two numbers, or where the device is.
   *
   * @param {any} field
   * @param {string} title
   * @param {boolean} required
   */
  #askPlace(field, title, required) {
    const { center, radius, longitude, latitude } = field.shoal;
    const east = number(-180, 180, required);
    const north = number(-90, 90, required);
    const around = `a place within ${radius} km of latitude ${center[1]}, longitude ${center[0]}`;
    const hints = [field.description, around, required ? "" : "may be left empty"].filter(Boolean).join("; ");
    const locate = () =>
      navigator.geolocation.getCurrentPosition(
        ({ coords }) => {
          east.value = coords.longitude.toFixed(4);
          north.value = coords.latitude.toFixed(4);
          [east, north].forEach(check);
        },
        () => mark(north, "Your browser does not say where you are: please enter it."),
      );
    const pair = make(
      "div",
      { class: "pair" },
      make("div", {}, ...this.#described(north, "Latitude", "")),
      make("div", {}, ...this.#described(east, "Longitude", "")),
    );
    const button = make("button", { type: "button", part: "button" }, "Use my position");
    button.onclick = locate;
    const named = [make("legend", {}, title), make("p", { class: "hint" }, hints)];
    const place = make("fieldset", { class: "field", part: "field" }, ...named, pair);
    if (navigator.geolocation) place.append(make("p", {}, button));
    this.node.append(place);
    this.questions.push(
      longitude
        ? { names: [longitude, latitude], controls: [east, north], read: (values) => values.map(Number) }
        : { names: [field.name], controls: [east, north], read: (values) => [values.join(", ")] },
    );
  }

  /**
   * Give a control its label, its hint and a place for its error.
   *
   * @param {Control} control
   * @param {string} title
   * @param {string} hint
   * @returns {HTMLElement[]}
   */
  #described(control, title, hint) {
    const id = `answer-${++this.count}`;
    control.id = id;
    control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
    // While it is typed, and not when it is left: a line that appears then moves the button from under the pointer.
    control.addEventListener("input", () => control.ariaInvalid === "true" && check(control));
    return [
      make("label", { for: id }, title),
      control,
      make("p", { id: `${id}-hint`, class: "hint" }, hint),
      make("p", { id: `${id}-error`, class: "error", hidden: true }),
    ];
  }
}

/** @param {string[][]} options @param {boolean} required @returns {HTMLSelectElement} */
function select(options, required) {
  const first = make("option", { value: "" }, required ? "Please choose" : "No answer");
  return make("select", { required }, first, ...options.map(([value, text]) => make("option", { value }, text)));
}

/** @param {number} min @param {number} max @param {boolean} required @returns {HTMLInputElement} */
const number = (min, max, required) =>
  make("input", { type: "number", inputmode: "decimal", step: "any", min, max, required });

/** @param {Control} control @returns {boolean} whether its answer can be taken; an error is shown if not */
function check(control) {
  const { validity, min, max } = /** @type {HTMLInputElement} */ (control);
  let error = "";
  if (validity.badInput) error = "This cannot be read: please enter it again.";
  else if (validity.valueMissing) error = "Please answer this question.";
  else if (!validity.valid) error = `Please enter a value from ${min} to ${max}.`;
  mark(control, error);
  return !error;
}

/** @param {Control} control @param {string} error */
function mark(control, error) {
  const shown = /** @type {HTMLElement} */ (
    /** @type {ShadowRoot} */ (control.getRootNode()).getElementById(`${control.id}-error`)
  );
  shown.textContent = error;
  shown.hidden = !error;
  control.setAttribute("aria-invalid", String(!!error));
}
