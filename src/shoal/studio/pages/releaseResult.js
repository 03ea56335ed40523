// What was released: picture, clusters, promise, receipt, files, and the code that does the same.
import { get } from "/static/api.js";
import { chart } from "/static/charts.js";
import { card, element, grid } from "/static/elements.js";
import { sentence } from "/static/ledgerBar.js";

/** The address of a release. */
const place = (table, key) => `/api/tables/${encodeURIComponent(table)}/releases/${encodeURIComponent(key)}`;

/** Fetch a release and return the elements that show it; a `drawn()` is called when it is on the page. */
export async function showRelease(table, key, { signal } = {}) {
  const released = await get(place(table, key), { signal });
  const files = released.files.filter((file) => !file.for_curator);
  const own = released.files.filter((file) => file.for_curator);
  const parts = [clusters(released)];
  if (released.kind === "DPDensity") parts[0].append(shapesLink(table, key));
  if (released.profile || released.profile_failed) parts.push(profile(released));
  parts.push(
    card("Files", { mark: "" },
      element("p", {}, "These may be published: they hold the release and nothing else."),
      element("ul", { className: "files" }, ...files.map((file) => item(table, key, file)))),
    card("Labels of the true records", { mark: "for your eyes only" },
      element("p", {}, "Each record's cluster is as private as the record itself. Never publish it."),
      element("ul", { className: "files" }, ...own.map((file) => item(table, key, file)))),
    code(released));
  return parts;
}

function clusters(released) {
  const count = released.clusters === 1 ? "1 cluster" : `${released.clusters} clusters`;
  const drawn = released.picture ? chart(`Picture of the release: ${count} by ${released.kind}`) : null;
  const made = card(`Released: ${count} by ${released.kind}`, { className: "released" },
    element("p", { className: "sentence" }, sentence(released.guarantee)),
    drawn,
    grid(released.headings.map((one) => one || "field"), released.rows, { caption: released.caption || "Clusters" }),
    ...released.notes.map((note) => element("p", { className: "hint" }, note)),
    element("p", { className: "hint" }, `Paid ${new Date(released.time).toLocaleString("en")}; ledger receipt: ${released.receipt}.`));
  made.querySelector("header").append(element("span", { className: "mark good" }, "may be published"));
  if (drawn) made.drawn = () => drawn.draw(released.picture.spec);
  return made;
}

function profile({ profile: told, profile_failed: failed }) {
  if (failed) {
    return card("What the clusters are like", { mark: "for your eyes only" },
      element("p", { className: "bad-words", role: "alert" }, `The profile was not made: ${failed}. The clusters were released all the same.`));
  }
  return card("What the clusters are like", {},
    element("ul", {}, ...told.sentences.map((one) => element("li", {}, one))),
    ...told.notes.map((note) => element("p", { className: "hint" }, note)),
    element("p", {}, sentence(told.guarantee)),
    element("p", { className: "hint" }, `Ledger receipt: ${told.receipt}.`));
}

const shapesLink = (table, key) => element("p", {},
  element("a", { href: `/shapes?${new URLSearchParams({ table, source: "release", release: key })}`, "data-page": true }, "Move its thresholds on the Shapes page"),
  ": that costs nothing.");

const item = (table, key, { name, words }) => element("li", {},
  element("a", { href: `${place(table, key)}/files/${encodeURIComponent(name)}`, download: name }, name), ` (${words})`);

/** The shell command and the Python code that make such a release. */
export const code = ({ command, snippet }) => element("details", { className: "card" },
  element("summary", {}, "The same from a terminal, or in Python"),
  element("p", {}, "Save the schema on the Table page first."),
  element("pre", { tabIndex: 0 }, command), element("pre", { tabIndex: 0 }, snippet));
