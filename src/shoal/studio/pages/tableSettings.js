// What is said about a table beside its columns: who holds the records, whose rows they are, and
// about how many there are.
import { post } from "/static/api.js";
import { card, element, field, select } from "/static/elements.js";
import { attempt, complaint } from "/static/tableOpen.js";

const TRUST = [
  ["central", "A curator whom people trust", "You hold all records, and only what you release is noisy: the most accurate way."],
  ["local", "Nobody: each device adds noise itself", "A record never leaves its owner's device; what leaves is so noisy that it tells little about one person."],
  ["shuffled", "Devices and a shuffler", "Devices add less noise, and somebody else mixes their reports before they are read: in between."],
];
const NEXT = [
  ["/explore", "Explore", "Move the slider, on made-up records: nothing is spent."],
  ["/trade-off", "Trade-off", "Compare methods over all levels of privacy."],
  ["/shapes", "Shapes", "Clusters of any shape."],
  ["/release", "Release", "Pay the price once, and publish."],
  ["/audit", "Audit", "Check the promise by attacks."],
  ["/ledger", "Ledger", "The limit, and what was spent."],
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
  const user = select([["", "No: each row is another person"], ...columns], table.user ?? "", async () => {
    if (await keep(table, told, { user: user.value })) await page.go({}, { replace: true });
    else user.value = table.user ?? "";
  });
  user.id = "table-user";
  const rows = element("input", { type: "number", min: 1, step: 1, value: table.records_per_user, id: "table-rows" });
  rows.onchange = () => keep(table, told, { records_per_user: rows.valueAsNumber || 1 });
  user.disabled = rows.disabled = table.bought;
  return card("Can one person have several rows?", {},
    field("Several rows a person", user, "The promise is then made to people, however many rows they have."),
    table.user === null ? null : field("Rows of each person that count", rows, "The rest of a person's rows are left out; more rows need more noise."), told);
}

function guessCard(table) {
  const told = complaint();
  const guess = element("input", { type: "number", min: 1, step: 1, value: table.n_guess, id: "table-guess" });
  guess.onchange = () => keep(table, told, { n_guess: guess.valueAsNumber || 0 });
  const limit = table.ledger
    ? `The limit of all releases together: ε = ${table.ledger.epsilon}. `
    : "No limit is set yet: set one before anything is bought. ";
  return card("About how many records?", {},
    field("Your guess", guess, "A public guess, from what you know. The true number is not read: that it is 5,001 and not 5,000 may tell that somebody is in the table."),
    table.has_records ? element("p", { className: "limit" }, limit,
      element("a", { href: `/ledger?table=${encodeURIComponent(table.id)}`, "data-page": true }, "Ledger")) : null, told);
}

/** Where to go from here, or what is still lacking. */
export function nextCard(table, next) {
  const here = `?table=${encodeURIComponent(table.id)}`;
  if (!table.complete) {
    const words = next
      ? "Columns that still lack something are marked above. Other pages open when all are described."
      : "At least one column must be clustered on: now all of them only describe, or are ignored.";
    return card("Next", {}, element("p", {}, words));
  }
  const links = NEXT.filter(([path]) => table.has_records || path !== "/release").map(([path, name, words], index) =>
    element("li", {}, element("a", { className: index ? "button" : "button main", href: path + here, "data-page": true }, name),
      element("span", { className: "hint" }, words)));
  return card("Next", {}, element("p", {}, element("span", { className: "mark good" }, "complete"), " The description is complete."),
    element("ul", { className: "plain next-pages" }, ...links));
}
