// Page 5, Campaigns: ask many devices one question, collect their noisy reports, find clusters in them.
import { follow, get, post, remove } from "/static/api.js";
import { campaignForm } from "/static/campaignForm.js";
import { campaignView } from "/static/campaignView.js";
import { card, element, field, grid, number, progress, say } from "/static/elements.js";
import { StudioPage } from "/static/page.js";

const PATH = "/api/campaigns";

class StudioCampaigns extends StudioPage {
  async render(state, table) {
    const told = await get(PATH, { signal: this.signal });
    if (state.campaign) {
      this.replaceChildren(await campaignView(this, state, told.collector));
      return;
    }
    const heading = state.new ? "A new campaign" : "Campaigns";
    const lead = "Ask many devices one question. Each device adds its own noise and sends one noisy report; raw records never leave the devices. Clusters are found in the reports.";
    this.replaceChildren(
      element("h1", {}, heading),
      element("p", {}, lead),
      ...(state.new
        ? [campaignForm(this, state, table, told.collector)]
        : [element("div", { className: "side-by-side" }, this.#collector(told), this.#list(told))]),
    );
  }

  #collector({ collector, database }) {
    if (collector) {
      const kept = database ? "in the database that the studio was started with"
        : collector.folder ? `in ${collector.folder}/reports.db` : "in a temporary folder that is deleted when the collector ends";
      const end = element("button", { type: "button", onclick: () => this.#end(end, collector.kept) }, "End the collector");
      return card("Collector", { mark: "" },
        element("p", {}, "It runs on this machine, at ", element("code", {}, collector.address), `, and keeps reports ${kept}.`),
        element("p", { className: "hint" }, "It is a separate process that sees only reports. It ends when the studio ends."), end);
    }
    const folder = element("input", { autocomplete: "off", spellcheck: false });
    const port = element("input", { type: "number", min: 0, max: 65535, value: "" });
    const start = element("button", { type: "submit", className: "main" }, "Start a collector on this machine");
    const form = element("form", { onsubmit: (event) => { event.preventDefault(); this.#start(form, start, folder.value.trim(), Number(port.value || 0)); } },
      database ? element("p", {}, "Reports are kept in the database that the studio was started with.")
        : field("Folder for the reports", folder, "If empty, a temporary folder is used and deleted when the studio ends."),
      field("Port", port, "If empty, a free port is used. Campaign documents contain the port, so choose one if you will use the folder again."),
      start);
    return card("Collector", {},
      element("p", {}, "Reports go to a collector. Start one here to try things out, or make a campaign for a collector that runs elsewhere."), form);
  }

  async #start(form, button, folder, port) {
    button.disabled = true;
    const shown = progress("Starting the collector");
    form.append(shown);
    try {
      await follow(await post(`${PATH}/collector`, { folder, port }));
      location.reload(); // the browser lets a page call the collector only if it knew of it when it was opened
    } finally {
      button.disabled = false;
      shown.remove();
    }
  }

  async #end(button, kept) {
    if (!kept && !confirm("Its reports and campaigns are in a temporary folder and will be deleted. End the collector?")) return;
    button.disabled = true;
    await remove(`${PATH}/collector`);
    say("The collector has ended.");
    await this.go({});
  }

  #list({ campaigns }) {
    const add = element("button", { type: "button", className: "main", onclick: () => this.go({ new: 1 }) }, "New campaign");
    if (!campaigns.length) return card("Campaigns", {}, element("p", {}, "There are no campaigns yet."), add);
    const open = (id) => element("a", { href: `/campaigns?campaign=${encodeURIComponent(id)}${this.state.table ? `&table=${encodeURIComponent(this.state.table)}` : ""}`, "data-page": true }, id);
    const rows = campaigns.map((one) => [
      open(one.id), one.title, one.open ? `until ${one.closes.slice(0, 10)}` : "closed",
      one.reports === null ? "in no database" : number(one.reports, 9), one.published === null ? "no" : `version ${one.published}`]);
    return card("Campaigns", {}, grid(["Campaign", "Question", "Open", "Reports", "Published"], rows, { caption: "Campaigns of this studio" }), element("p", {}), add);
  }
}
customElements.define("studio-campaigns", StudioCampaigns);
