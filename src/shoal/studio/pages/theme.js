// Light, dark, or as the system has it; kept by the browser, the same in all tabs.
import { element } from "/static/elements.js";

const KEY = "shoal-theme"; // read by early.js, too
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };

function kept() {
  try {
    const name = localStorage.getItem(KEY);
    return Object.hasOwn(NAMES, name) ? name : "auto";
  } catch {
    return "auto"; // a browser that keeps nothing
  }
}

function keep(name) {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // For this page alone, then.
  }
}

function apply(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

class StudioTheme extends HTMLElement {
  connectedCallback() {
    const choices = Object.entries(NAMES).map(([value, words]) =>
      element("option", { value, selected: value === kept() }, words));
    const choice = element("select", { "aria-label": "Colors", onchange: () => {
      keep(choice.value);
      apply(choice.value);
    } }, ...choices);
    apply(choice.value);
    addEventListener("storage", ({ key }) => {
      if (key !== KEY) return;
      choice.value = kept();
      apply(choice.value);
    });
    this.replaceChildren(choice);
  }
}
customElements.define("studio-theme", StudioTheme);
