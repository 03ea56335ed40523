// What is said about a table beside its columns: who holds the records, whose rows they are, and
// about how many there are.
import { post } from "/static/api.js";
import { card, element, field, select } from "/static/elements.js";
import { attempt, complaint } from "/static/tableOpen.js";

const TRUST = [
  ["central", "A trusted curator", "You hold all records, and noise is added only to what you release. This is the most accurate option."],
  ["local", "No one: each device adds its own noise", "A record never leaves its owner's device; what leaves is so noisy that it reveals little about any one person."],
  ["shuffled", "Devices and a shuffler", "Devices add less noise, and a third party shuffles their reports before anyone reads them. Accuracy is in between."],
];
const NEXT = [
  ["/explore", "Explore", "Move a slider on made-up records; nothing is spent."],
  ["/trade-off", "Trade-off", "Compare methods at all levels of privacy."],
  ["/shapes", "Shapes", "Clusters of any shape."],
  ["/release", "Release", "Pay the price once and publish."],
  ["/audit", "Audit", "Test the promise with attacks."],
  ["/ledger", "Ledger", "See the limit and what was spent."],
];

/** Cards of all settings; each is kept as soon as it is changed. */
export function settingsCards(page, table, fields) {
  return [trustCard(table), peopleCard(page, table, fields), guessCard(table)];
}

const keep = (table, told, changes) => attempt(told, () => post(`/api/tables/${table.id}/settings`, changes));

function trustCard(table) {
  const told = complaint();
  const choices = TRUST.map(([value, words, sentence]) => {
    const id = `trust-${value}`;
    const input = element("input", {
      type: "radio", name: "trust", id, value, checked: table.trust_model === value, "aria-describedby": `${id}-words`,
      onchange: () => keep(table, told, { trust_model: value }),
    });
    return element("div", { className: "choice" }, input,
      element("div", {}, element("label", { htmlFor: id }, words), element("p", { className: "hint", id: `${id}-words` }, sentence)));
  });
  return card("Who holds the records?", {},
    element("fieldset", {}, element("legend", { className: "unseen" }, "Who holds the records?"), ...choices), told);
}

function peopleCard(page, table, fields) {
  const told = complaint();
  const columns = fields.filter(({ kind }) => kind !== "k").map(({ name }) => [name, `Yes: the column “${name}” says whose row it is`]);
  const user = select([["", "No: each row is a different person"], ...columns], table.user ?? "", async () => {
    if (await keep(table, told, { user: user.value })) await page.go({}, { replace: true });
    else user.value = table.user ?? "";
  });
  user.id = "table-user";
  const rows = element("input", { type: "number", min: 1, step: 1, value: table.records_per_user, id: "table-rows" });
  rows.onchange = () => keep(table, told, { records_per_user: rows.valueAsNumber || 1 });
  user.disabled = rows.disabled = table.bought;
  return card("Can one person have several rows?", {},
    field("Several rows per person", user, "If yes, the promise covers each person, however many rows they have."),
    table.user === null ? null : field("Rows counted per person", rows, "A person's other rows are left out; counting more rows needs more noise."), told);
}

function guessCard(table) {
  const told = complaint();
  const guess = element("input", { type: "number", min: 1, step: 1, value: table.n_guess, id: "table-guess" });
  guess.onchange = () => keep(table, told, { n_guess: guess.valueAsNumber || 0 });
  const limit = table.ledger
    ? `Limit for all releases together: ε = ${table.ledger.epsilon}. `
    : "No limit is set yet: set one before anything is bought. ";
  return card("About how many records?", {},
    field("Your guess", guess, "A public guess from what you know. The true number is not read: whether it is 5,000 or 5,001 may reveal that someone is in the table."),
    table.has_records ? element("p", { className: "limit" }, limit,
      element("a", { href: `/ledger?table=${encodeURIComponent(table.id)}`, "data-page": true }, "Ledger")) : null, told);
}

/** Where to go from here, or what is still lacking. */
export function nextCard(table, next) {
  const here = `?table=${encodeURIComponent(table.id)}`;
  if (!table.complete) {
    const words = next
      ? "Columns that still need something are marked above. The other pages open once all columns are described."
      : "At least one column must be used for clustering: right now, each one only describes clusters or is ignored.";
    return card("Next", {}, element("p", {}, words));
  }
  const links = NEXT.filter(([path]) => table.has_records || path !== "/release").map(([path, name, words], index) =>
    element("li", {}, element("a", { className: index ? "button" : "button main", href: path + here, "data-page": true }, name),
      element("span", { className: "hint" }, words)));
  return card("Next", {}, element("p", {}, element("span", { className: "mark good" }, "complete"), " The description is complete."),
    element("ul", { className: "plain next-pages" }, ...links));
}
