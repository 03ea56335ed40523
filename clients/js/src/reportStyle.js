// How <shoal-report> looks. Colors and font are custom properties of the page; parts can be styled from outside.
// A constructed sheet, because a strict Content-Security-Policy refuses <style>.

const COLORS = {
  ink: "#1b2530, #e8edf2",
  soft: "#4d5b68, #a9b6c2",
  paper: "#fff, #12181f",
  panel: "#f1f5f8, #1b242d",
  line: "#76838f, #7d8b98",
  accent: "#0b5c8a, #7cc4ee",
  "on-accent": "#fff, #0b1a24",
  bad: "#a3201a, #ff9c93",
};

const RULES = `
:host { color-scheme: light dark; display: block; container-type: inline-size; padding: 1.25rem; color: var(--ink);
background: var(--paper); border: 1px solid var(--line); border-radius: .5rem;
font: 1rem/1.5 var(--shoal-font, system-ui) }
:host([hidden]), [hidden] { display: none !important }
p { margin: .5rem 0 }
[part=title] { margin: 0; font-size: 1.4rem; line-height: 1.25 }
[part=heading] { margin: 0 0 .25rem; font-size: 1rem }
.soft, .hint { color: var(--soft); font-size: .9rem }
.facts { display: grid; gap: 1rem; align-items: start; margin: 1rem 0 }
@container (min-width: 40rem) { .facts { grid-template-columns: 1fr 1fr } }
[part=facts], [part=outcome], [part=receipt] { padding: .75rem 1rem; border-radius: .375rem; background: var(--panel) }
[part=outcome], [part=receipt] { margin-top: 1rem }
[part=outcome] { border-left: .3rem solid var(--accent) }
[part=outcome].bad { border-color: var(--bad) }
[part=outcome]:empty { padding: 0; border: 0 }
[part=label] { font-size: 1.25rem; font-weight: 700 }
ul { margin: 0; padding-left: 1.1rem }
li + li { margin-top: .35rem }
.field { margin: 0 0 1rem; padding: 0; border: 0; min-width: 0 }
label, legend, button, .error { font-weight: 600 }
legend { padding: 0 }
.hint, .error { margin: .25rem 0 }
.error { color: var(--bad) }
.pair { display: grid; gap: .75rem; grid-template-columns: 1fr 1fr }
input, select, button { box-sizing: border-box; min-height: 2.75rem; padding: .4rem .8rem; font: inherit;
color: inherit; background: none; border: 1px solid var(--line); border-radius: .375rem }
input, select { display: block; width: 100%; max-width: 22rem }
option { background: var(--paper) }
[aria-invalid=true] { border: 2px solid var(--bad) }
.row { display: flex; flex-wrap: wrap; gap: .75rem }
button { font-weight: 600; cursor: pointer; color: var(--accent); border: 2px solid }
[type=submit] { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
[aria-disabled=true] { opacity: .6 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
code { overflow-wrap: anywhere }`;

/** @returns {CSSStyleSheet} */
export function sheet() {
  const made = new CSSStyleSheet();
  const colors = Object.entries(COLORS).map(([name, pair]) => `--${name}: var(--shoal-${name}, light-dark(${pair}));`);
  made.replaceSync(`:host { ${colors.join("")} }${RULES}`);
  return made;
}
