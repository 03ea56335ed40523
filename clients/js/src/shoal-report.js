// <shoal-report campaign="https://..." key="ed25519:...">: ask, say what leaves the device, send one noisy report, and
// find the own cluster when results appear.
//
// Nothing is drawn before the button is pressed, since drawing spends. The answer lives in this page's memory alone;
// what was spent and sent is in IndexedDB. Events tell what happened, and never an answer or a cluster.
//
// Attributes: campaign (address of the document), key (who may ask), ingest-key, epsilon-limit (over all campaigns of
// this site), store (name of the database, "shoal") and heading-level (of the title, 2). The attribute state is one of
// loading, ready, sending, pending, sent, spent, closed, refused and labeled. Events: shoal-sent, shoal-refused and
// shoal-label.

import { hex } from "./bytes.js";
import { Device } from "./device.js";
import { ShoalError } from "./errors.js";
import { make, ReportForm } from "./reportForm.js";
import { sheet } from "./reportStyle.js";
import { clusterCount, plural, reportWords, WHAT_STAYS, whatLeaves } from "./reportWords.js";
import { IndexedDbStore } from "./stores.js";

/** @import { Campaign } from "./campaign.js" */
/** @import { Receipt } from "./device.js" */

const FIRST_LOOK = 60_000; // milliseconds until results are looked for; twice as many each time
const LAST_LOOK = 3_600_000;
const KEY_LETTERS = 16; // of the key that are shown

/** What a refusal means, and what to do about it. @type {Record<string, string>} */
const REFUSALS = {
  budget: "This device has used up what it may report: nothing was drawn or sent.",
  campaign: "This question was refused, to protect you: nothing was sent. Please tell whoever runs this page.",
  data: "This answer cannot be reported: please check it. Nothing was sent.",
  delivery: "The server cannot be reached, or does not take this: please try again later.",
  store: "This browser cannot note what was sent, so nothing is sent: please allow this site to store data.",
  parameter: "This page is not set up as it should be: nothing was sent. Please tell whoever runs it.",
};
const NUMBERED = "Numbers begin at 0, as in the published results. It was found on this device, and nobody is told.";
const NOT_ARRIVED = "Your report has not arrived. It is kept on this device and will be sent again: the same bytes.";
const ALL_SENT =
  "This device has sent all that it may. Your cluster can still be found: enter your answer again, it is not sent.";

/** A question of a campaign, on any page. */
export class ShoalReport extends HTMLElement {
  #root = this.attachShadow({ mode: "open" });
  #body = make("div");
  #outcome = make("div", { part: "outcome", role: "status", tabindex: "-1" });
  #receipt = make("section", { part: "receipt", hidden: true });
  #left = make("p", { class: "soft" });
  #submit = make("button", { type: "submit", part: "button" }, "Agree and send a noisy report");
  #look = this.#button("Find my cluster", () => this.#label());
  /** @type {Campaign} */ #campaign = /** @type {any} */ (null);
  /** @type {Device} */ #device = /** @type {any} */ (null);
  /** @type {ReportForm} */ #form = /** @type {any} */ (null);
  /** @type {any} */ #record = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #timer;
  #busy = false;
  #online = () => this.getAttribute("state") === "pending" && this.#run(() => this.#resend());

  connectedCallback() {
    this.#root.adoptedStyleSheets = [sheet()];
    this.#root.replaceChildren(this.#body, this.#outcome, this.#receipt);
    addEventListener("online", this.#online);
    this.#run(() => this.#start());
  }

  disconnectedCallback() {
    removeEventListener("online", this.#online);
    clearTimeout(this.#timer);
    this.#record = null;
  }

  async #start() {
    this.#enter("loading", "Loading the question …");
    const limit = this.getAttribute("epsilon-limit");
    this.#device = await Device.open({
      store: new IndexedDbStore(this.getAttribute("store") ?? "shoal"),
      publicKey: this.getAttribute("key") ?? "",
      ingestKey: this.getAttribute("ingest-key") ?? "",
      epsilonLimit: limit === null ? null : Number(limit),
      retries: { attempts: 2 }, // what does not arrive is kept, and sent again when the browser is online
    });
    this.#campaign = await this.#device.join(new URL(this.getAttribute("campaign") ?? "", document.baseURI).href);
    this.#render();
    const { drawn, acknowledged } = await this.#count();
    if (drawn > acknowledged && !isOver(this.#campaign.closes)) await this.#resend();
    else this.#rest();
  }

  #render() {
    const { title, purpose, closes, mechanism } = this.#campaign;
    const key = (this.getAttribute("key") ?? "").slice(0, KEY_LETTERS);
    const asker = `Asked by the owner of the key ${key}…, whose signature was checked.`;
    /** @param {string} head @param {string[]} lines */
    const facts = (head, lines) => {
      const list = make("ul", {}, ...lines.map((line) => make("li", {}, line)));
      return make("section", { part: "facts" }, this.#heading(1, head), list);
    };
    this.#form = new ReportForm(mechanism);
    const form = make(
      "form",
      { part: "form", novalidate: true, autocomplete: "off" },
      this.#form.node,
      this.#left,
      make("div", { class: "row" }, this.#submit, this.#look),
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      if (!this.#submit.hidden) this.#run(() => this.#send());
    };
    this.#body.replaceChildren(
      this.#heading(0, title),
      make("p", { part: "purpose" }, purpose),
      make("p", { class: "soft" }, `${asker} ${isOver(closes) ? "Closed since" : "Open until"} ${day(closes)}.`),
      make(
        "div",
        { class: "facts" },
        facts("What leaves this device", whatLeaves(this.#campaign)),
        facts("What stays", WHAT_STAYS),
      ),
      form,
    );
  }

  /** @param {number} below levels below the title @param {string} text */
  #heading(below, text) {
    const level = Number(this.getAttribute("heading-level") ?? 2) + below;
    return make(/** @type {"h2"} */ (`h${level}`), { part: below ? "heading" : "title" }, text);
  }

  /** @param {string} text @param {() => unknown} task */
  #button(text, task) {
    const made = make("button", { type: "button", part: "button" }, text);
    made.onclick = () => this.#run(task);
    return made;
  }

  async #send() {
    const record = this.#form.read();
    if (!record) return;
    this.#record = record;
    const { duplicate } = await this.#device.draw(record);
    await this.#count();
    this.#enter("sending", "Sending …");
    try {
      await this.#device.report(record);
    } finally {
      this.#show(await this.#device.draw(record)); // also what did not arrive will leave
    }
    await this.#arrived(
      duplicate
        ? "This answer was reported before. It is the same report again, so nothing more is known about you."
        : "Thank you. Your noisy report has arrived; your answer has not left this device.",
    );
    this.#emit("shoal-sent", { duplicate });
  }

  async #resend() {
    const { kept, reasons } = await this.#device.sendPending();
    if (kept) this.#wait(reasons.join(" "));
    else await this.#arrived("The report that was kept on this device has arrived.");
  }

  /** @param {string} text */
  async #arrived(text) {
    await this.#count();
    this.#enter("sent", text);
    this.#watch(FIRST_LOOK);
  }

  /** @param {string} reason why a report did not arrive */
  #wait(reason) {
    this.#enter("pending", NOT_ARRIVED, reason, this.#button("Send it now", () => this.#resend()));
  }

  /** Say in which state the campaign is where nothing was just done. */
  #rest() {
    const { closes } = this.#campaign;
    if (isOver(closes)) this.#enter("closed", `This question closed on ${day(closes)}: nothing is sent any more.`);
    else if (this.#submit.hidden) this.#enter("spent", ALL_SENT);
    else this.#enter("ready", "");
  }

  /** Find the cluster of the answer, on this device. */
  async #label(quiet = false) {
    const record = quiet ? this.#record : this.#form.read();
    if (!record) return;
    let label;
    try {
      label = await this.#device.label(record, { refresh: true });
    } catch (error) {
      if (quiet) return; // it looks again later
      if (!String(error).includes("no results yet")) throw error;
      this.#enter(this.getAttribute("state") ?? "", "There are no results yet: please come back later.");
      return;
    }
    const { release } = /** @type {{release: any}} */ (await this.#device.results());
    this.#enter("labeled", "");
    const count = clusterCount(release);
    const found = `Your cluster: ${label}${count ? ` of ${count}` : ""}`;
    const text = label < 0 ? "Your answer lies in no cluster." : found;
    this.#outcome.append(make("p", { part: "label" }, text), make("p", { class: "soft" }, NUMBERED));
    this.#emit("shoal-label", {});
  }

  /** Look for results now and then, while somebody looks at the page. @param {number} wait milliseconds */
  #watch(wait) {
    clearTimeout(this.#timer);
    if (!this.#record) return;
    this.#timer = setTimeout(async () => {
      if (document.visibilityState === "visible" && !this.#busy) {
        await this.#label(true);
        // Whatever the label was: who asks again must not tell for which answers results had none.
        if (await this.#device.results()) return;
        wait = Math.min(2 * wait, LAST_LOOK);
      }
      this.#watch(wait);
    }, wait);
  }

  /** Read what was sent, and show how much is left. */
  async #count() {
    const { id, reports_per_device: most, closes } = this.#campaign;
    const status = (await this.#device.status()).find(({ campaign }) => campaign.id === id);
    const { drawn, acknowledged } = /** @type {{drawn: number, acknowledged: number}} */ (status);
    const focused = this.#root.activeElement === this.#submit;
    this.#submit.hidden = drawn >= most || isOver(closes);
    if (focused && this.#submit.hidden) this.#outcome.focus(); // a button that is gone keeps no focus
    this.#left.textContent =
      `This device may send ${plural(most, "report")}, and has sent ${acknowledged}.` +
      (this.#submit.hidden ? "" : " Nothing is drawn or sent before you press the button.");
    return { drawn, acknowledged };
  }

  /** @param {Receipt} receipt of what leaves, or left */
  #show({ report, sealed }) {
    const bytes = sealed ?? report;
    this.#receipt.hidden = false;
    this.#receipt.replaceChildren(
      this.#heading(1, `Exactly these ${plural(bytes.length, "byte")} leave this device`),
      make("p", {}, make("code", {}, hex(bytes))),
      make("p", {}, reportWords(this.#campaign, report)),
    );
  }

  /**
   * Enter a state and say so; the text is read out by screen readers.
   *
   * @param {string} state
   * @param {string} text
   * @param {string} [note]
   * @param {Node} [action]
   */
  #enter(state, text, note, action) {
    this.setAttribute("state", state);
    this.#outcome.className = state === "refused" ? "bad" : "";
    this.#outcome.replaceChildren();
    if (text) this.#outcome.append(make("p", {}, text));
    if (note) this.#outcome.append(make("p", { class: "soft" }, note));
    if (action) this.#outcome.append(action);
  }

  /** Do one thing at a time, and put what is refused into words. @param {() => unknown} task */
  async #run(task) {
    if (this.#busy) return;
    this.#mark(true);
    try {
      await task();
    } catch (error) {
      this.#refuse(error);
    }
    this.#mark(false);
  }

  /** @param {boolean} busy */
  #mark(busy) {
    this.#busy = busy;
    for (const button of [this.#submit, this.#look]) button.setAttribute("aria-disabled", String(busy));
  }

  /** @param {unknown} error */
  #refuse(error) {
    const known = error instanceof ShoalError;
    if (known && error.message.includes("must be open")) {
      this.#enter("closed", "This question is closed: nothing is sent any more.", error.message);
      return;
    }
    if (known && error.code === "delivery" && !error.final && this.getAttribute("state") === "sending") {
      this.#wait(error.message);
      return;
    }
    if (!known) reportError(error);
    const code = known ? error.code : "store";
    this.#enter("refused", /** @type {string} */ (REFUSALS[code]), known ? error.message : "");
    this.#emit("shoal-refused", { code });
  }

  /** @param {string} name @param {object} detail */
  #emit(name, detail) {
    const told = { campaign: this.#campaign?.id, ...detail };
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, detail: told }));
  }
}

/** @param {string} time @returns {string} the day, as people here write it */
const day = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: "long" });

/** @param {string} time */
const isOver = (time) => Date.parse(time) <= Date.now();

customElements.define("shoal-report", ShoalReport);
