// Small pieces that all pages are made of. Text is always set as text, never as HTML.

/** Make an element: properties (`onclick`, `className`, `htmlFor`), attributes (`aria-…`, `data-…`, `role`), children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.includes("-") || name === "role" || name === "for" || name === "list") made.setAttribute(name, value === true ? "" : value);
    else made[name] = value;
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

let made = 0;

/** A control with its label, and a hint that screen readers read too. */
export function field(label, control, hint = "") {
  control.id ||= `field-${++made}`;
  const parts = [element("label", { htmlFor: control.id }, label), control];
  if (hint) {
    const told = element("p", { className: "hint", id: `${control.id}-hint` }, hint);
    control.setAttribute("aria-describedby", told.id);
    parts.push(told);
  }
  return element("div", { className: "field" }, ...parts);
}

/** A list to choose from: pairs of value and words, or values alone. */
export function select(choices, value, onchange) {
  const options = choices.map((choice) => {
    const [key, words] = Array.isArray(choice) ? choice : [choice, choice];
    return element("option", { value: key, selected: String(key) === String(value) }, words);
  });
  return element("select", { onchange }, ...options);
}

/** A table of text: headings and rows of cells. */
export function grid(headings, rows, { caption = "" } = {}) {
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption || "Table" },
    element("table", {},
      caption ? element("caption", {}, caption) : null,
      element("thead", {}, element("tr", {}, ...headings.map((one) => element("th", { scope: "col" }, one)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, index) =>
        index ? element("td", {}, cell) : element("th", { scope: "row" }, cell)))))));
}

/** A card with a heading; `mark` is a short badge, such as "for your eyes only". */
export function card(title, { mark = "", className = "" } = {}, ...children) {
  return element("section", { className: `card ${className}`, "aria-label": title },
    element("header", {}, element("h2", {}, title), mark ? element("span", { className: "mark" }, mark) : null),
    ...children);
}

/** Progress of a job, with a button that cancels it. */
export function progress(words, { oncancel } = {}) {
  const bar = element("progress", { max: 1, "aria-label": words });
  const told = element("span", { className: "told" }, words);
  const stop = oncancel ? element("button", { type: "button", onclick: oncancel }, "Cancel") : null;
  const whole = element("div", { className: "progress", role: "status" }, told, bar, stop);
  whole.update = ({ done, total }) => {
    if (total) {
      bar.max = total;
      bar.value = done;
      told.textContent = `${words} (${done} of ${total})`;
    }
  };
  return whole;
}

/** A number for people: few digits, thousands apart. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

const SLACK = 1e-12; // a sum of shares such as 0.1 is off by so little

/** An epsilon or a delta that is promised or spent, rounded up. */
export const roundedUp = (value) => rounded(value, 1 - SLACK, "ceil");

/** An epsilon or a delta that is left to spend, rounded down. */
export const roundedDown = (value) => rounded(value, 1 + SLACK, "floor");

function rounded(value, slack, roundingMode) {
  if (!Number.isFinite(value)) return number(value);
  return new Intl.NumberFormat("en", { maximumSignificantDigits: 3, roundingMode }).format(value * slack);
}

/** Offer bytes as a file. */
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Tell the reader one line at the top of the page; an empty text takes it away. */
export const say = (words) => dispatchEvent(new CustomEvent("studio-say", { detail: words }));
