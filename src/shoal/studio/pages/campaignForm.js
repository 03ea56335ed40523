// The form of a new campaign, and what its document would say while it is filled in.
import { guesses, promise } from "/client/reportWords.js";
import { post } from "/static/api.js";
import { card, download, element, field, roundedUp, select } from "/static/elements.js";

const PATH = "/api/campaigns";
const NUMBERS = "numbers";
const DAY = 86_400_000;
const FIELDS = ["id", "title", "purpose", "epsilon", "clusters", "per", "closes", "url", "origins", "mechanism"];

/** Make the form; everything that is typed is public, and kept in the address. */
export function campaignForm(page, state, table, collector) {
  const described = table?.schema && !Object.keys(table.lacking).length;
  const input = (name, standing, more = {}) => element("input", { name, autocomplete: "off", ...more, value: state[name] ?? standing }); // a range keeps a value only within its ends
  const controls = {
    id: input("id", "", { required: true, pattern: "[a-z0-9][a-z0-9\\-]{0,63}", placeholder: "homes" }),
    title: input("title", "", { required: true, placeholder: "Where people live" }),
    purpose: element("textarea", { name: "purpose", required: true, rows: 2, value: state.purpose ?? "", placeholder: "Plan bus lines." }),
    epsilon: input("epsilon", "0.3", { type: "range", min: "-1", max: "0.9", step: "0.01" }),
    clusters: input("clusters", "5", { type: "number", min: "1", max: "1000", required: true }),
    per: input("per", "1", { type: "number", min: "1", max: "1000", required: true }),
    closes: input("closes", new Date(Date.now() + 30 * DAY).toISOString().slice(0, 10), { type: "date", required: true }),
    url: input("url", collector?.address ?? "", { type: "url", required: true, placeholder: "https://collect.example.org" }),
    origins: input("origins", location.origin, {}),
    mechanism: select([[state.mechanism ?? "", state.mechanism ?? "…"]], state.mechanism),
    key: element("textarea", { rows: 2, spellcheck: false, autocomplete: "off" }),
    open: element("input", { type: "checkbox" }),
  };
  const asked = { kind: described && state.ask !== NUMBERS ? "schema" : NUMBERS };
  const columns = columnRows(state, () => changed());
  const reading = element("p", { className: "hint", id: "epsilon-reading" });
  const told = element("div");
  const outcome = element("div", { role: "status" });
  const make = element("button", { type: "submit", className: "main" }, "Make and sign the campaign");

  const body = () => ({
    id: controls.id.value.trim(), title: controls.title.value.trim(), purpose: controls.purpose.value.trim(),
    table: asked.kind === "schema" ? table.id : "", columns: asked.kind === "schema" ? [] : columns.read(),
    ...(controls.mechanism.value ? { mechanism: controls.mechanism.value } : {}),
    epsilon: epsilonOf(controls), clusters: Number(controls.clusters.value), reports_per_device: Number(controls.per.value),
    closes: controls.closes.value, url: controls.url.value.trim() || "https://collect.example.org",
    origins: controls.origins.value.split(/[\s,]+/).filter(Boolean), open_intake: controls.open.checked,
  });

  let turn = 0;
  async function preview() {
    const mine = ++turn;
    await new Promise((done) => setTimeout(done, 150));
    if (mine !== turn || page.signal.aborted) return;
    try {
      const answer = await post(`${PATH}/preview`, body(), { signal: page.signal });
      if (mine === turn) draw(answer);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (problem.lost) throw problem;
      if (mine === turn) told.replaceChildren(element("p", { className: "bad-words" }, problem.message));
    }
  }

  function draw({ mechanisms, mechanism, words, document: campaign }) {
    controls.mechanism.replaceChildren(...mechanisms.map(({ name, summary, bytes }) =>
      element("option", { value: name, selected: name === mechanism }, `${name}: ${summary} (${bytes} bytes per report)`)));
    told.replaceChildren(
      element("p", { className: "sentence" }, promise(campaign).join(" ")),
      element("dl", { className: "facts" }, ...Object.entries(words).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])));
    told.dataset.drawn = String(Number(told.dataset.drawn ?? 0) + 1);
  }

  const read = () => {
    const epsilon = epsilonOf(controls);
    reading.textContent = `Epsilon ${roundedUp(epsilon)} per report. Someone who sees a report and must choose between two answers is right ${guesses(epsilon)}; a blind guess is right 50 times. (For distance-based mechanisms: two answers one unit apart.)`;
  };
  const changed = () => {
    read();
    page.note({ ...Object.fromEntries(FIELDS.map((name) => [name, controls[name].value])), columns: columns.text() });
    preview();
  };

  async function submit(event) {
    event.preventDefault();
    make.disabled = true; // a second click makes no second campaign; the studio refuses the id as well
    outcome.replaceChildren();
    try {
      showMade(page, await post(PATH, { ...body(), signing_key: controls.key.value.trim() }));
    } catch (problem) {
      if (problem.lost) throw problem;
      outcome.replaceChildren(element("p", { className: "bad-words" }, problem.message));
      make.disabled = false;
    }
  }

  const slider = field("Epsilon of a report", controls.epsilon);
  controls.epsilon.setAttribute("aria-describedby", reading.id);
  slider.append(reading);
  const kinds = described ? field("What is asked for", select([["schema", `The columns of ${table.name}: its schema, not its records`], [NUMBERS, "Numbers that I name here"]], asked.kind, (event) => {
    page.go({ ask: event.target.value }, { replace: true });
  })) : null;
  const form = element("form", { onsubmit: submit, oninput: changed, onchange: changed, className: "card" },
    element("h2", {}, "The question"), kinds,
    asked.kind === NUMBERS ? columns.node : element("p", { className: "hint" }, "Devices are asked for the fields of the schema; columns of people and of weights are left out."),
    field("Title", controls.title, "The question that people are asked."), field("Purpose", controls.purpose, "What the answers are for, in plain words. It can never be changed."),
    field("Id", controls.id, "Lowercase letters, digits and hyphens; part of the campaign's address."),
    element("h2", {}, "The promise"), slider,
    field("Mechanism", controls.mechanism, "How a device answers; only mechanisms that fit the question are listed."),
    field("Number of clusters to look for", controls.clusters), field("Reports per device", controls.per, "Different reports; their epsilons add up. Sending the same report again is free."),
    element("h2", {}, "Where and until when"), field("Open until", controls.closes, "Reports are refused from this day on (UTC)."),
    field("Address of the collector", controls.url, collector ? "The address of the collector on this machine." : "Where reports will be sent: https, or this machine."),
    field("Web pages that may send reports", controls.origins, "Origins, separated by spaces. Include this studio's own to use this browser as a device."),
    element("div", { className: "row" }, controls.open, element("label", { htmlFor: (controls.open.id = "open-intake") }, "Accept reports from anyone, without an ingest key")),
    element("details", {}, element("summary", {}, "I have a signing key"), field("signing.pem", controls.key, "Paste its text if you have one from an earlier campaign. It stays in the studio's memory.")),
    make, outcome);
  read();
  preview();
  return element("div", { className: "with-form" }, form, card("What the document will say", { mark: "public", className: "preview" }, told));
}

const epsilonOf = ({ epsilon }) => Number((10 ** Number(epsilon.value)).toPrecision(3));

/** Rows of names and bounds. */
function columnRows(state, changed) {
  const list = element("div", { className: "columns" });
  const add = (name = "", low = "", high = "") => {
    const at = list.children.length + 1;
    const input = (label, value, more) => element("input", { "aria-label": `${label} of number ${at}`, value, autocomplete: "off", ...more });
    const row = element("div", { className: "column" },
      input("Name", name, { placeholder: "name", required: true }), input("Smallest value", low, { type: "number", step: "any", placeholder: "from", required: true }),
      input("Largest value", high, { type: "number", step: "any", placeholder: "to", required: true }),
      element("button", { type: "button", "aria-label": `Remove number ${at}`, onclick: () => { row.remove(); changed(); } }, "×"));
    list.append(row);
  };
  (state.columns ?? "east:0:20,north:0:20").split(",").map((one) => one.split(":").map(decodeURIComponent)).forEach((one) => add(...one));
  return {
    text: () => [...list.children].map((row) => [...row.querySelectorAll("input")].map((one) => encodeURIComponent(one.value)).join(":")).join(","),
    node: element("fieldset", { className: "field" }, element("legend", {}, "Numbers to ask for, with public bounds"), list,
      element("div", {}, element("button", { type: "button", onclick: () => { add(); changed(); } }, "Add a number"))),
    read: () => [...list.children].map((row) => {
      const [name, low, high] = [...row.querySelectorAll("input")].map((one) => one.value);
      return { name: name.trim(), minimum: Number(low), maximum: Number(high) };
    }).filter(({ name }) => name),
  };
}

/** Show the key once. */
function showMade(page, { id, signing_key: key, public_key: open }) {
  const next = element("button", { type: "button", className: "main", onclick: () => page.go(Object.fromEntries([...FIELDS, "columns", "new", "ask"].map((name) => [name, ""]).concat([["campaign", id]]))) }, "Go to the campaign");
  const kept = key
    ? [element("p", { className: "note warn" }, "This is the signing key. It is shown only once, and the studio stores it nowhere: save it now. Without it, no one can change the campaign later; with it, anyone can ask your devices anything."),
      element("pre", { tabIndex: 0, "aria-label": "Signing key" }, key),
      element("p", {}, element("button", { type: "button", onclick: () => download("signing.pem", new Blob([key], { type: "application/x-pem-file" })) }, "Save signing.pem"))]
    : [element("p", {}, "It is signed with the key you provided.")];
  page.replaceChildren(element("h1", { tabIndex: -1 }, `The campaign ${id} is signed`), ...kept,
    element("p", {}, "Ship this public key with the app: ", element("code", { className: "long" }, open)), next);
  page.querySelector("h1").focus();
}
