// The frame of all pages: which page the address names, the list of pages, and what is said when
// the studio does not answer. The address is the whole state: back, forward and reload work.
import { Problem, get } from "/static/api.js";
import { element } from "/static/elements.js";
import "/static/tableChip.js";
import "/static/theme.js";

// Modules are loaded when their page is first opened.
export const PAGES = [
  { path: "/", name: "Table", tag: "studio-table", module: "/static/table.js" },
  { path: "/explore", name: "Explore", tag: "studio-explore", module: "/static/explore.js" },
  { path: "/release", name: "Release", tag: "studio-release", module: "/static/release.js" },
  { path: "/trade-off", name: "Trade-off", tag: "studio-trade-off", module: "/static/tradeOff.js" },
  { path: "/shapes", name: "Shapes", tag: "studio-shapes", module: "/static/shapes.js" },
  { path: "/campaigns", name: "Campaigns", tag: "studio-campaigns", module: "/static/campaigns.js" },
  { path: "/audit", name: "Audit", tag: "studio-audit", module: "/static/audit.js" },
  { path: "/ledger", name: "Ledger", tag: "studio-ledger", module: "/static/ledger.js" },
];
const LOOK_AGAIN = 2000; // milliseconds between looks for a studio that was lost

const main = document.getElementById("page");
const banner = document.getElementById("banner");
let shown = null; // the element of the page that is open
let turn = 0; // counts openings: a slow module of an earlier page is not shown over a later one
let lost = false; // whether the studio did not answer when it was last asked
let place = ""; // path and query that are shown

/** Return the address of a page with the state in its query; what is empty is left out. */
export function address(path, state) {
  const query = new URLSearchParams(
    Object.entries(state).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  );
  return query.size ? `${path}?${query}` : path;
}

/** Open a page by its path and the state in its query, as a step of the browser's history. */
export function navigate(path, state = {}, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address(path, state));
  return open();
}

async function open() {
  const mine = ++turn;
  const page = PAGES.find(({ path }) => path === location.pathname) ?? PAGES[0];
  const state = Object.fromEntries(new URLSearchParams(location.search));
  place = location.pathname + location.search;
  drawPages(page, state.table);
  document.title = `${page.name} · shoal studio`;
  if (shown?.localName !== page.tag) {
    if (!lost) say("");
    try {
      await import(page.module);
    } catch {
      if (mine === turn) say("The page could not be loaded. Is the studio still running?", { again: true });
      return;
    }
    if (mine !== turn) return;
    shown = document.createElement(page.tag);
    main.replaceChildren(shown);
    scrollTo(0, 0);
  }
  await shown.show(state);
}

const links = PAGES.map(({ path, name }) => element("a", { href: path, "data-page": true }, name));
document.getElementById("pages").replaceChildren(...links);

function drawPages(current, table) {
  for (const [index, { path }] of PAGES.entries()) {
    links[index].href = address(path, { table });
    if (path === current.path) links[index].setAttribute("aria-current", "page");
    else links[index].removeAttribute("aria-current");
  }
  const nav = links[0].parentElement;
  const link = nav.querySelector("[aria-current]");
  nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
}

/** Say one line above the page; `again` is for what comes back by itself once the studio answers. */
function say(words, { again = false } = {}) {
  lost = again;
  const button = again
    ? element("button", { type: "button", onclick: () => location.reload() }, "Try again")
    : element("button", { type: "button", onclick: () => say("") }, "Close");
  banner.replaceChildren(...(words ? [element("p", {}, words), button] : []));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-page], a.skip");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.className === "skip") return focusPage();
  const { pathname, searchParams } = new URL(link.href);
  navigate(pathname, Object.fromEntries(searchParams)).then(focusPage);
});

/** Move the focus to the heading of the page, which a screen reader reads. */
function focusPage() {
  const heading = main.querySelector("h1") ?? main;
  heading.tabIndex = -1;
  heading.focus();
}

addEventListener("popstate", () => {
  // A step to another part of the same page is no step to another state.
  if (place !== location.pathname + location.search) open();
});
// Pages throw what they cannot handle themselves; a reader is told in one line.
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Problem)) return;
  event.preventDefault();
  say(event.reason.message, { again: event.reason.lost });
});
addEventListener("studio-say", (event) => say(event.detail));

// A studio that comes back after it was lost is noticed without a click.
setInterval(async () => {
  if (!lost) return;
  try {
    await get("/api/session");
  } catch (problem) {
    if (!problem.lost) say(problem.message);
    return;
  }
  say("");
  const page = PAGES.find(({ path }) => path === location.pathname) ?? PAGES[0];
  if (shown?.localName === page.tag) await open();
  else location.reload(); // a module that once failed to load is not asked for again
}, LOOK_AGAIN);

open();
