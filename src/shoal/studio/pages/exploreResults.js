// What Explore shows: records, what leaves, clusters; gauges; the promise; what it costs.
import { fetchFile } from "/static/api.js";
import { chart } from "/static/charts.js";
import { card, element, grid, number, progress, roundedDown, roundedUp } from "/static/elements.js";

/** A gauge: a meter for the eye, a sentence for everybody. */
function gauge(title, limits) {
  const meter = element("meter", { ...limits, value: limits.min, "aria-label": title });
  const words = element("p", { className: "sentence" });
  const figure = element("span", { className: "big" });
  const whole = card(title, { className: "gauge" }, figure, meter, words);
  whole.show = (value, shown, told) => {
    meter.hidden = value === null;
    if (value !== null) meter.value = value;
    meter.setAttribute("aria-valuetext", told);
    figure.textContent = shown;
    words.textContent = told;
  };
  return whole;
}

/** Everything right of the controls. */
export class Results {
  constructor() {
    this.records = chart("The explored records");
    this.leaves = chart("What leaves");
    this.clusters = chart("The explored records in the colors of their clusters");
    this.sourceMark = element("span", { className: "mark good" });
    this.own = element("div", {});
    this.ownButton = element("button", { type: "button", "aria-pressed": "false", onclick: () => this.#toggleOwn() }, "Show my own records");
    this.leavesWords = element("p", {});
    this.leavesTable = element("div", {});
    this.sentences = element("ul", { className: "sentences" });
    this.table = element("div", {});
    this.waiting = element("div", {});
    this.utility = gauge("How good the clusters are", { min: 0, max: 1, low: 0.8, high: 0.95, optimum: 1 });
    this.attack = gauge("What attackers can guess", { min: 50, max: 100, low: 75, high: 95, optimum: 50 });
    this.promise = element("p", { className: "sentence" });
    this.cost = element("div", {});
    this.copyPlace = element("div", {});
    this.recordsCard = card("Records", {}, this.records, this.ownButton, this.own);
    this.recordsCard.querySelector("header").append(this.sourceMark);
    this.leavesCard = card("What leaves", {}, this.leaves, this.leavesWords, this.leavesTable);
    this.clustersCard = card("Clusters", {}, this.waiting, this.clusters);
    this.wordsCard = card("What the clusters are like", {}, this.sentences, this.table);
    this.whole = element("div", {},
      element("div", { className: "side-by-side gauges" }, this.utility, this.attack),
      element("div", { className: "side-by-side three" }, this.recordsCard, this.leavesCard, this.clustersCard),
      this.wordsCard,
      element("div", { className: "side-by-side three" }, card("The promise", {}, this.promise), card("What it costs", {}, this.cost), this.copyPlace));
  }

  /** Where the true records are drawn from, on a click; another address forgets the image. */
  ownRecords(address, hasRecords) {
    this.ownButton.hidden = !hasRecords;
    if (address === this.ownAddress) return;
    this.ownAddress = address;
    this.#hideOwn();
  }

  /** Show an answer; returns when all charts are drawn. */
  async show(answer, link) {
    const drawn = [];
    if (answer.source_words) {
      this.sourceMark.textContent = answer.source === "copy" ? "private copy" : "made up";
      this.promise.textContent = `A release with these settings: ${answer.guarantee}.`;
      if (answer.notion !== "central") this.promise.textContent = `${answer.notion === "shuffled" ? "The shuffled reports" : "Each report"}: ${answer.guarantee}.`;
      const { guesses, told, words } = answer.attack;
      this.attack.show(guesses, told || "–", words);
      this.#showCost(answer, link);
    }
    if (answer.shown) drawn.push(this.#draw(this.records, answer.shown));
    if (answer.leaves) {
      const { words, headings, rows, kind } = answer.leaves;
      this.leavesWords.textContent = words;
      this.leavesTable.replaceChildren(...(headings ? [grid(headings, rows, { caption: "The first reports" })] : []));
      this.leaves.hidden = kind === "colors";
      if (kind !== "colors") drawn.push(this.#draw(this.leaves, answer.leaves));
    }
    if (answer.clusters) {
      const { sentences, headings, rows } = answer.clusters;
      drawn.push(this.#draw(this.clusters, answer.clusters));
      this.sentences.replaceChildren(...sentences.map((words) => element("li", {}, words)));
      this.table.replaceChildren(...(rows.length ? [grid(headings, rows, { caption: "Clusters in the units of the table" })] : []));
      this.waiting.replaceChildren();
    }
    if (answer.utility) {
      const { ratio, words } = answer.utility;
      this.utility.show(ratio === null ? null : 1 / ratio, ratio === null ? "–" : `${number(ratio)} ×`, words);
    }
    await Promise.all(drawn);
  }

  /** Say that clusters take longer (and what leaves, unless reports are there); returns what to call with each look at the job. */
  wait(reports, oncancel) {
    const bar = progress("Looking for clusters", { oncancel });
    this.waiting.replaceChildren(bar);
    this.#stale(true);
    if (!reports) this.leavesCard.classList.add("stale");
    return (job) => bar.update(job);
  }

  /** Nothing is looked for any more. */
  settle(words = "") {
    this.#stale(false);
    this.waiting.replaceChildren(...(words ? [element("p", { className: "hint" }, words)] : []));
  }

  #stale(is) {
    for (const one of [this.clustersCard, this.wordsCard, ...(is ? [] : [this.leavesCard])]) one.classList.toggle("stale", is);
  }

  #draw(place, { picture, datasets }) {
    if (picture) return place.draw(picture);
    place.hidden = !Object.keys(datasets).length;
    return place.hidden ? null : place.swap(datasets);
  }

  #showCost({ ledger, notion }, link) {
    const audit = element("a", { className: "button", href: link.replace(/^\/[a-z]+/, "/audit"), "data-page": true }, "Audit this promise");
    if (notion !== "central") {
      this.cost.replaceChildren(element("p", {}, "Each device pays for its own report from its own budget. A campaign collects the reports."),
        element("a", { className: "button main", href: link, "data-page": true }, "Collect with these settings"), " ", audit);
      return;
    }
    const told = ledger === null
      ? [element("p", {}, "The table has no ledger yet: set a limit before the first release.")]
      : [element("p", {}, `Left now: epsilon ${roundedDown(ledger.remaining)} of ${roundedUp(ledger.limit)}.`),
         element("p", { className: ledger.after === null ? "bad-words" : "" }, ledger.after === null
           ? `The ledger would refuse this release: it needs more than is left.`
           : `After one more release: epsilon ${roundedDown(ledger.after)}.`)];
    this.cost.replaceChildren(...told, element("p", { className: "hint" }, "Exploring costs nothing."),
      element("a", { className: "button main", href: link, "data-page": true }, "Go to the release"), " ", audit);
  }

  async #toggleOwn() {
    if (this.own.childElementCount) {
      this.#hideOwn();
      return;
    }
    const image = URL.createObjectURL(await fetchFile(this.ownAddress));
    this.own.replaceChildren(
      element("p", {}, element("span", { className: "mark" }, "for your eyes only"), " Your true records, without any privacy. The picture is used for nothing else."),
      element("img", { className: "chart", src: image, alt: "Your own records, for your eyes only", onload: () => URL.revokeObjectURL(image) }));
    this.ownButton.setAttribute("aria-pressed", "true");
    this.ownButton.textContent = "Hide my own records";
  }

  #hideOwn() {
    this.own.replaceChildren();
    this.ownButton.setAttribute("aria-pressed", "false");
    this.ownButton.textContent = "Show my own records";
  }
}
