// Ways to open a table: a file that is dropped or chosen, a data set, or a schema without records.
import { Problem, post, remove, send } from "/static/api.js";
import { card, element, field, number, progress, select } from "/static/elements.js";

const ENDINGS = ".csv,.gz,.parquet,.pq";

/** A line for what went wrong, which screen readers read at once. */
export function complaint() {
  return element("p", { className: "bad-words complaint", role: "alert" });
}

/** Do what a control asks for; a refusal is told beside it, a lost studio by the frame. */
export async function attempt(told, work) {
  told.textContent = "";
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.lost) throw error;
    told.textContent = sentence(error.message);
    return null;
  }
}

/** Refusals of the library begin in small letters. */
export const sentence = (words) => {
  const whole = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
};

/** One click for those who only want to look. */
export function tryButton(page) {
  const told = complaint();
  const button = element("button", { type: "button", className: "main" }, "Try it on a made-up shop");
  button.onclick = () => openFrom(page, button, told, () => post("/api/tables/dataset", { name: "customers" }));
  return element("div", {}, button, told);
}

/** The three ways to begin. */
export function openingCards(page, start) {
  return [fileCard(page, start.max_bytes), datasetCard(page, start), schemaCard(page)];
}

/** Tables that are open already, of this and other tabs. */
export function openTablesCard(page, tables) {
  if (!tables.length) return null;
  const told = complaint();
  const rows = tables.map((table) => {
    const forget = element("button", { type: "button", "aria-label": `Forget ${table.name}` }, "Forget");
    forget.onclick = () => attempt(told, async () => {
      await remove(`/api/tables/${table.id}`);
      await page.go({}, { replace: true });
    });
    return element("li", { className: "row" },
      element("a", { href: `/?table=${encodeURIComponent(table.id)}`, "data-page": true }, table.name),
      element("span", { className: "hint" }, stateOf(table)), forget);
  });
  return card("Open now", { className: "open-now" }, element("ul", { className: "plain" }, ...rows), told);
}

function stateOf(table) {
  if (table.unnamed) return "its columns have no names yet";
  return table.complete ? "described" : "still to be described";
}

async function openFrom(page, control, told, ask) {
  if (control.disabled) return; // a second click
  control.disabled = true;
  const table = await attempt(told, ask).finally(() => { control.disabled = false; });
  if (table) await page.go({ table: table.id });
}

function fileCard(page, limit) {
  const told = complaint();
  const input = element("input", { type: "file", accept: ENDINGS });
  const zone = element("div", { className: "drop" },
    field("Drop a CSV or Parquet file here, or choose one", input,
      `Also packed as .csv.gz; up to ${number(limit / 2 ** 20)} MB. It is read into the memory of this machine, and written to no disk.`));
  const take = async (file) => {
    if (!file || input.disabled) return;
    const shown = progress(`Reading ${file.name}`);
    zone.append(shown);
    try {
      await openFrom(page, input, told, () => {
        if (file.size > limit) throw new Problem(`The file must have at most ${number(limit / 2 ** 20)} MB: nothing was sent.`);
        return send(`/api/tables/upload?name=${encodeURIComponent(file.name)}`, file);
      });
    } finally {
      shown.remove();
      input.value = "";
    }
  };
  input.onchange = () => take(input.files[0]);
  zone.ondragover = (event) => { event.preventDefault(); zone.classList.add("over"); };
  zone.ondragleave = () => zone.classList.remove("over");
  zone.ondrop = (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  };
  return card("Your own file", {}, zone, told,
    element("p", { className: "hint" }, "Next, you are asked what its columns may hold. Nothing is worked out from the records."));
}

function datasetCard(page, { generated, datasets }) {
  const told = complaint();
  const words = Object.fromEntries(generated.map((one) => [one.name, one.words]));
  for (const one of datasets) words[one.name] = `${one.columns} columns. ${one.license}. ${one.source}`;
  const groups = [
    ["Made up by shoal", generated],
    ["Small known sets", datasets.filter((one) => one.bundled)],
    ["In your data folder", datasets.filter((one) => !one.bundled)],
  ].filter(([, sets]) => sets.length);
  const choice = element("select", {}, ...groups.map(([label, sets]) =>
    element("optgroup", { label }, ...sets.map(({ name }) => element("option", { value: name }, name.replaceAll("_", " "))))));
  const rows = element("input", { type: "number", min: 1, max: 200_000, value: 5000, required: true });
  const hint = element("p", { className: "hint", role: "status" });
  const asked = field("Records to make up", rows);
  choice.onchange = () => {
    hint.textContent = words[choice.value];
    asked.hidden = !generated.some(({ name }) => name === choice.value);
  };
  choice.onchange();
  const button = element("button", { type: "submit", className: "main" }, "Open the data set");
  const form = element("form", {}, field("Data set", choice), hint, asked, button, told);
  form.onsubmit = (event) => {
    event.preventDefault();
    const asks = asked.hidden ? {} : { n: rows.valueAsNumber };
    openFrom(page, button, told, () => post("/api/tables/dataset", { name: choice.value, ...asks }));
  };
  return card("A data set to try", {}, form);
}

function schemaCard(page) {
  const told = complaint();
  const names = element("input", { type: "text", autocomplete: "off", required: true, placeholder: "age, city, income" });
  const button = element("button", { type: "submit" }, "Begin with these columns");
  const form = element("form", {}, field("Names of the columns, by commas", names), button);
  form.onsubmit = (event) => {
    event.preventDefault();
    openFrom(page, button, told, () => post("/api/tables/schema", { name: "made-up table", names: names.value }));
  };
  const file = element("input", { type: "file", accept: ".json" });
  file.onchange = () => openFrom(page, file, told, async () => {
    const [chosen] = file.files;
    const schema = await readJson(chosen);
    file.value = "";
    return post("/api/tables/schema", { name: chosen.name.replace(/(\.schema)?\.json$/i, ""), schema });
  });
  return card("No records yet", {},
    element("p", {}, "Plan ahead: describe the columns that you will have, and see on made-up records what to expect."),
    form, field("Or a schema file", file), told);
}

/** Return what a JSON file holds. */
async function readJson(file) {
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new Problem("A schema must be a JSON file, got something else.");
  }
}

/** Whether the first line of a file holds names; it is shown to the curator alone. */
export function firstLineCard(page, table, values) {
  const told = complaint();
  const answer = async (button, given) => openFrom(page, button, told, () => post(`/api/tables/${table.id}/names`, given));
  const yes = element("button", { type: "button", className: "main" }, "Yes, these are names");
  yes.onclick = () => answer(yes, { header: true });
  const names = element("input", { type: "text", autocomplete: "off", required: true });
  const no = element("button", { type: "submit" }, "No: use these names");
  const form = element("form", {},
    field(`If not: names of its ${values.length} columns, by commas`, names, "In the order of the file; a - leaves a column out."), no);
  form.onsubmit = (event) => {
    event.preventDefault();
    answer(no, { header: false, names: names.value });
  };
  return card("Does the first line hold the names of the columns?", { mark: "for your eyes only" },
    element("p", {}, "Yes for names such as age and city; no for somebody's values."),
    element("ol", { className: "first-line", "aria-label": "First line of the file" },
      ...values.map((value) => element("li", {}, value || "(empty)"))),
    element("p", {}, yes), form, told);
}
