// Every way in which a page may ask another origin; each says what it learned, in the title.
const found = {};
const target = new URLSearchParams(location.search).get("target");
const ways = {
  read: () => fetch(target + "/api/session").then((answer) => answer.text()),
  "read with cookies": () => fetch(target + "/api/session", { credentials: "include" }).then((answer) => answer.text()),
  "read without cors": () => fetch(target + "/api/session", { mode: "no-cors" }).then((answer) => {
    if (answer.type === "opaque") throw new Error("opaque");
    return answer.text();
  }),
  post: () => fetch(target + "/api/tables/dataset", {
    method: "POST", body: '{"name": "line"}', headers: { "Content-Type": "application/json", "Shoal-Studio": "1" },
  }),
  "post a form": () => fetch(target + "/api/tables/dataset", { method: "POST", mode: "no-cors", body: '{"name": "line"}' })
    .then((answer) => { if (answer.type === "opaque") throw new Error("opaque"); }),
  beacon: async () => { navigator.sendBeacon(target + "/api/tables/dataset", '{"name": "line"}'); throw new Error("sent"); },
  delete: () => fetch(target + "/api/tables/" + new URLSearchParams(location.search).get("table"), {
    method: "DELETE", headers: { "Shoal-Studio": "1" },
  }),
  image: () => loaded("img", "/static/shoal.svg"),
  script: () => loaded("script", "/static/early.js"),
  module: () => import(target + "/static/api.js"),
  sheet: () => loaded("link", "/static/studio.css"),
  frame: () => loaded("iframe", "/"),
  object: () => loaded("object", "/"),
};
function loaded(tag, path) {
  return new Promise((done, failed) => {
    const made = document.createElement(tag);
    made.onload = () => {
      if (tag !== "iframe") return done();
      // A refused frame loads an error page, of an origin of its own; ours could be asked its name.
      try { done(made.contentWindow.document.title); } catch { failed(new Error("another origin")); }
    };
    made.onerror = () => failed(new Error("refused"));
    if (tag === "link") made.rel = "stylesheet";
    made[{ link: "href", object: "data" }[tag] ?? "src"] = target + path;
    document.body.append(made);
  });
}
for (const [name, way] of Object.entries(ways)) {
  try {
    found[name] = String(await Promise.race([way(), new Promise((_done, late) => setTimeout(late, 1500, new Error("late")))]));
  } catch (error) {
    found[name] = null;
  }
}
document.title = JSON.stringify(found);
