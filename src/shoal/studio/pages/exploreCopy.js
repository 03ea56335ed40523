// A private copy: its price first, then one purchase, however often it is clicked.
import { Problem, UNSURE, followPurchase, get, post } from "/static/api.js";
import { card, element, field, roundedDown, roundedUp } from "/static/elements.js";

/** The card that shows the price of a private copy and buys one. */
export function copyCard(table, options, onbought) {
  const path = `/api/tables/${encodeURIComponent(table.id)}/copy`;
  const epsilon = element("input", { type: "number", min: 0.001, step: "any", value: 0.5 });
  const told = element("div", { role: "status" });
  const whole = card("A private copy", {},
    element("p", { className: "hint" }, "Records that resemble yours but belong to no real person: buy them once, explore them as often as you like."));
  if (options.copy) {
    whole.append(element("p", {}, options.copy));
    return whole;
  }
  if (!table.ledger) {
    whole.append(element("p", {}, "The table has no ledger yet: set a limit first."),
      element("a", { className: "button", href: `/ledger?table=${encodeURIComponent(table.id)}`, "data-page": true }, "Set a limit"));
    return whole;
  }
  const buy = async (price, button) => {
    button.disabled = true;
    try {
      const { epsilon: asked, key, entries } = price;
      await followPurchase(await post(path, { epsilon: asked, key, entries }));
      await onbought();
    } catch (problem) {
      if (problem.lost) throw new Problem(UNSURE, { lost: true });
      if (problem.type !== "ledger-changed") throw problem;
      await show(`${problem.message} Here is the current price.`);
    } finally {
      button.disabled = false;
    }
  };
  const show = async (words = "") => {
    if (!epsilon.checkValidity() || !epsilon.value) return;
    const price = await get(`${path}?epsilon=${encodeURIComponent(epsilon.value)}`);
    const button = element("button", { type: "button", className: "main" }, `Buy for epsilon ${roundedUp(price.epsilon)}`);
    button.onclick = () => buy(price, button);
    button.disabled = price.after === null && !price.bought;
    told.replaceChildren(
      words ? element("p", { className: "warn-words" }, words) : "",
      price.bought ? element("p", {}, "You already bought this copy: exploring it costs nothing.")
        : element("p", {}, price.after === null
          ? `The price is epsilon ${roundedUp(price.epsilon)}, and only ${roundedDown(price.remaining)} is left.`
          : `The price is epsilon ${roundedUp(price.epsilon)}. Left now: ${roundedDown(price.remaining)}; after: ${roundedDown(price.after)}.`),
      button);
  };
  whole.append(field("Epsilon of the copy", epsilon),
    element("button", { type: "button", onclick: () => show() }, "Show the price"), told);
  epsilon.oninput = () => told.replaceChildren();
  return whole;
}
