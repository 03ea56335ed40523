// What came of audits and attacks, as cards.
import { fetchFile } from "/static/api.js";
import { chart } from "/static/charts.js";
import { card, download, element, grid } from "/static/elements.js";

/** Claim and measured bound, the worst pair and its event. */
export function claimCard(result) {
  const verdict = element("p", { className: `big ${result.broken ? "bad-words" : "good-words"}` },
    !result.broken ? "No violation found" : result.broken_by_sampling ? "Broken: the measured bound is above the claim" : "Broken: the replay shows a higher cost than claimed");
  const made = card("Claim against measured lower bound", { mark: result.planted ? "a bug was planted" : "made-up tables" },
    result.planted ? element("p", { className: "note warn" }, `${result.planted}. ${result.broken ? "The audit caught it." : "This audit did not catch it: it had too little power. Try a thorough one."}`) : null,
    verdict,
    element("p", { className: "sentence" }, result.sentence),
    element("p", {}, result.verdict),
    bars(result),
    element("p", {}, `${result.false_alarms} ${result.power}`),
    element("h3", {}, "The worst pair"),
    element("p", {}, `${result.worst}. The event that tells the two apart: ${result.event}.`));
  withChart(made, result, `The worst pair, ${result.worst}; the event that tells it apart; and the measured bound of ${result.measured.toPrecision(3)} beside the claim of ${result.claimed}.`);
  made.append(files(result, "shoal-audit"), command("The same in a terminal (thorough, without a planted bug)", result.command),
    element("p", { className: "hint" }, `Audited: ${result.target}. Promise: ${result.guarantee}.`));
  return made;
}

// Two meters on one scale: no picture is needed to compare two numbers.
function bars({ measured, claimed, unit }) {
  if (claimed === null) return null;
  const max = Math.max(measured, claimed) || 1;
  const line = (words, value) => {
    const shown = `${value.toPrecision(3)}${unit}`;
    return element("div", { className: "claim-bar" }, element("span", {}, words),
      element("progress", { max, value, "aria-label": `${words}: epsilon ${shown}` }), element("strong", {}, shown));
  };
  return element("div", { className: "claim-bars" }, line("claimed", claimed), line("measured, at least", measured));
}

/** What one record costs, noisy value by noisy value. */
export function replayCard({ replay }) {
  if (!replay) return null;
  const over = replay.broken;
  return card("Replay: what one record costs", { mark: over ? "more than claimed" : "" },
    element("p", {}, "A replay fits the method on a table, and again on the table with one more record, with the same noisy values. Any difference comes from that record, so its cost is computed rather than estimated, and chance plays no part."),
    grid(["Noisy value", "Noise", `Declared (${replay.measure})`, `One record costs (${replay.measure})`],
      [...replay.rows.map(({ value, part, noise, declared, measured }) => [part ? `${value} (${part})` : value, noise, declared, measured]),
        ["Together", "", `claimed: ${replay.claimed}`, replay.total]],
      { caption: `Worst of ${replay.pairs} pairs of tables: ${replay.worst}` }),
    element("p", { className: over ? "bad-words sentence" : "sentence" },
      over ? `One record costs ${replay.total} in total; the claim is ${replay.claimed}. The promise is certainly broken.`
        : `One record costs at most ${replay.total} in total; the claim is ${replay.claimed}.`),
    replay.findings.length ? element("ul", {}, ...replay.findings.map((one) => element("li", {}, one))) : null,
    element("p", { className: "hint" }, "A replay cannot detect a sampler that draws from a distribution other than the one it declares: the comparison of releases can."));
}

/** How often attackers are right, on the release and without privacy. */
export function attackCard(result) {
  const made = card("What an attacker learns", { mark: result.source.startsWith("made-up") ? "made-up records" : "private copy" },
    ...result.headline.map((words) => element("p", { className: "sentence" }, words)),
    ...result.sentences.map((words) => element("p", {}, words)),
    grid(["Attack", "With privacy: right out of 100", "The promise allows at most", "Without privacy: right out of 100", "Has power"],
      result.rows.map((row) => [row.attack, row.right, row.ceiling ?? "not covered", row.control, row.power ? "yes" : "no"]),
      { caption: "Was this record in the data? Half of the records asked about were." }));
  withChart(made, result, `Share of members found against share of non-members accused. ${result.headline.join(" ")}`);
  made.append(
    element("p", {}, `Attacked: ${result.records.toLocaleString("en")} records (${result.source}), in the columns ${result.columns.join(", ")}. A failed attack proves nothing: another may succeed.`),
    ...result.notes.map((words) => element("p", { className: "hint" }, words)),
    files(result, "shoal-attack", true),
    command("The same in a terminal, on the records above", result.command));
  return made;
}

function withChart(made, result, words) {
  const drawn = chart(words);
  made.append(drawn);
  made.drawn = () => drawn.draw(result.spec);
}

function files({ files: key }, name, records = false) {
  const offer = (file, words, saved) => element("button", {
    type: "button", onclick: async () => download(saved, await fetchFile(`/api/audit/files/${key}/${file}`)),
  }, words);
  return element("div", { className: "row downloads" },
    offer("report.html", "Report page", `${name}.html`), offer("picture.png", "PNG", `${name}.png`), offer("picture.svg", "SVG", `${name}.svg`),
    records ? offer("attacked-records.csv", "Attacked records", "attacked-records.csv") : null);
}

function command(words, text) {
  return element("div", {}, element("h3", {}, words), element("pre", { tabIndex: 0, role: "region", "aria-label": words }, text));
}
