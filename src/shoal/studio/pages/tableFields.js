// The fields of a table: what is known of each, and the questions about one of them.
import { post, send } from "/static/api.js";
import { card, element, field, grid, select } from "/static/elements.js";
import { attempt, complaint } from "/static/tableOpen.js";

const FROM = {
  dataset: "comes with the data set",
  file: "from a file",
  curator: "from your answers",
};
const AS_DESCRIBED = "k"; // of a field that a file describes in a way that is not asked for
const HELP_OF = { minimum: "bound", maximum: "bound", earliest: "bound", latest: "bound", ordered: "categories" };

/** The first field that still lacks something. */
export const nextField = (fields, after = "") => {
  const start = fields.findIndex(({ name }) => name === after) + 1;
  return [...fields.slice(start), ...fields.slice(0, start)].find(({ lacking }) => lacking) ?? null;
};

/** All fields with their state, and the file of the schema. */
export function fieldsCard(page, table, fields, { why, kinds }, edited) {
  const here = (name) => `/?table=${encodeURIComponent(table.id)}&field=${encodeURIComponent(name)}`;
  const rows = fields.map((one) => {
    const link = element("a", { href: here(one.name), "data-page": true, "aria-current": one.name === edited ? "true" : null }, one.name);
    return [link, stateMark(one), kindWords(one, kinds), rangeOf(one)];
  });
  const next = nextField(fields);
  const told = complaint();
  const input = element("input", { type: "file", accept: ".json" });
  input.onchange = () => attempt(told, async () => {
    const [file] = input.files;
    input.value = "";
    await send(`/api/tables/${table.id}/schema`, file);
    await page.go({ field: "" }, { replace: true });
  });
  return card("What the columns may hold", { mark: FROM[table.schema_from] ?? "" },
    element("p", { className: "hint" }, `${why} Choose a column to describe it.`),
    grid(["Column", "State", "What it is", "What anyone may enter"], rows),
    element("div", { className: "row schema-file" },
      next ? element("a", { className: "button main", href: here(next.name), "data-page": true }, `Describe ${next.name}`) : null,
      table.bought ? null : field("Load a schema file", input),
      element("a", { className: "button", href: `/api/tables/${table.id}/schema.json`, download: "" }, "Save the schema")),
    told);
}

function kindWords(one, kinds) {
  if (one.kind === AS_DESCRIBED) return one.role === "sample_weight" ? "how much each row counts" : "a place";
  return one.kind ? kinds[one.kind] : element("span", { className: "hint" }, `by its name, perhaps ${kinds[one.suggested]}`);
}

function rangeOf({ kind, answers }) {
  if (kind === "n" || kind === "d") {
    if (!answers.minimum && !answers.maximum) return "";
    const [low, high] = [answers.minimum, answers.maximum].map((end) => (kind === "n" && end ? thousands(end) : end || "…"));
    return `${low} to ${high}${answers.unit ? ` ${answers.unit}` : ""}`;
  }
  const listed = answers.categories ?? "";
  return listed.length > 60 ? `${listed.slice(0, 58)}…` : listed;
}

const thousands = (end) => new Intl.NumberFormat("en", { maximumFractionDigits: 6 }).format(Number(end));

function stateMark({ lacking, kind, role }) {
  if (lacking) return element("span", { className: "mark" }, kind ? `lacks ${lacking}` : "not described");
  return element("span", { className: "mark good" }, role === "describe" && kind !== "t" ? "complete, description only" : "complete");
}

/** The questions about one field; `arrive()` moves the keyboard there. */
export function fieldForm(page, table, one, fields, { kinds, asked, questions, help }) {
  const told = complaint();
  const offered = Object.entries(kinds).filter(([key]) => key !== "u" || one.may_be_user);
  if (one.kind === AS_DESCRIBED) offered.unshift([AS_DESCRIBED, kindWords(one, kinds)]);
  const kind = select(offered, one.kind || one.suggested, () => draw());
  const body = element("div", {});
  let controls = {};
  const draw = () => {
    const known = kind.value === one.kind ? one.answers : { minimum: kind.value === "n" ? "0" : "" };
    controls = Object.fromEntries((asked[kind.value] ?? []).map((question) =>
      [question, control(question, known[question] ?? "", kind.value)]));
    body.replaceChildren(...Object.entries(controls).map(([question, made]) => {
      const topic = wordsFor(question, kind.value);
      return explained(questions[topic].replace("{name}", one.name), made, help[HELP_OF[topic] ?? topic]);
    }));
  };
  draw();
  const save = element("button", { type: "submit", className: "main", value: "next" }, "Save and continue");
  const stay = element("button", { type: "submit", value: "stay" }, "Save");
  const hint = one.kind ? "" : "Suggested from the column's name alone.";
  const form = element("form", { noValidate: true }, explained(questions.kind, kind, help.kind, hint), body,
    element("div", { className: "row" }, save, stay, closeLink(table)), told);
  form.onsubmit = (event) => {
    event.preventDefault();
    const goOn = event.submitter?.value !== "stay";
    const answers = Object.fromEntries(Object.entries(controls).map(([question, made]) => [question, made.value]));
    attempt(told, async () => {
      const saved = await post(`/api/tables/${table.id}/fields`, { name: one.name, kind: kind.value, answers });
      const lacking = fields.map(({ name }) => ({ name, lacking: saved.lacking[name] ?? "" }));
      const next = goOn ? nextField(lacking, one.name)?.name ?? "" : one.name;
      await page.go({ field: next });
    });
  };
  const number = fields.indexOf(one) + 1;
  const whole = card(`${number} of ${fields.length}: ${one.name}`, { className: "field-form" },
    table.bought ? element("p", { className: "note" }, "Something from this table has been released, so its description can no longer change: open the file again to describe it differently.") : form);
  whole.arrive = () => {
    whole.querySelector("header").scrollIntoView({ block: "nearest" });
    kind.focus({ preventScroll: true });
  };
  return whole;
}

/** A question with its explanation for those who ask for it. */
function explained(label, made, words, hint = "") {
  const whole = field(label, made, hint);
  whole.append(element("details", {}, element("summary", {}, "What does this mean?", element("span", { className: "unseen" }, ` ${label}`)),
    element("p", { className: "hint" }, words)));
  return whole;
}

function closeLink(table) {
  return element("a", { href: `/?table=${encodeURIComponent(table.id)}`, "data-page": true }, "Close without saving");
}

function wordsFor(question, kind) {
  if (kind === "d" && question === "minimum") return "earliest";
  if (kind === "d" && question === "maximum") return "latest";
  return kind === "o" && question === "categories" ? "ordered" : question;
}

function control(question, value, kind) {
  if (question === "categories") return element("textarea", { rows: 3, value });
  if (question === "log") return select([["no", "No"], ["yes", "Yes"]], value || "no");
  if (question === "missing") {
    const choices = [["yes", "Yes"], ["no", "No"]];
    if (value === "fill") choices.push(["fill", "Yes: it counts as the value set in the schema"]);
    return select(choices, value || "yes");
  }
  if (kind === "d" && question !== "format" && question !== "weight") return element("input", { type: "date", value });
  const usual = { format: "YYYY-MM-DD", weight: "1" }[question] ?? "";
  const number = ["minimum", "maximum", "weight"].includes(question);
  return element("input", { type: "text", autocomplete: "off", inputMode: number ? "decimal" : "text", value: value || usual });
}
