// Build dist: shoal-device.js and the parts that it loads when a campaign needs them, for browsers; one module for Node.
//
// A part is what some module of src imports by import(). Each is bundled on its own, with small functions in it that
// others have too, so that a page asks for few files. Only refusals.js is shared by all: there is one class of errors.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { minify } from "terser";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SRC = path.join(ROOT, "src");
const DIST = path.join(ROOT, "dist");
const PART = /\bimport\("\.\/(\w+)\.js"\)(?!\.)/g; // types are import("...").Name

/** Names of the parts. */
const parts = () => {
  const texts = readdirSync(SRC).map((name) => readFileSync(path.join(SRC, name), "utf8"));
  return ["refusals", ...new Set(texts.flatMap((text) => [...text.matchAll(PART)].map(([, name]) => name)))];
};

/** @param {Record<string, string>} entryPoints name in dist, name in src @param {string[]} external */
async function bundle(entryPoints, external) {
  const { outputFiles } = await build({
    absWorkingDir: SRC,
    entryPoints,
    outdir: DIST,
    bundle: true,
    external: external.map((name) => `./${name}.js`),
    format: "esm",
    target: "es2022",
    platform: external.length ? "browser" : "node",
    minifySyntax: true,
    write: false,
    logLevel: "warning",
  });
  for (const { path: file, text } of outputFiles) {
    const { code } = await minify(text, { module: true, ecma: 2020, compress: { passes: 3, unsafe_arrows: true } });
    writeFileSync(`${file}.${process.pid}`, `${code}\n`);
    renameSync(`${file}.${process.pid}`, file); // whoever reads dist meanwhile sees whole files
  }
}

mkdirSync(DIST, { recursive: true });
const names = parts();
await bundle({ "shoal-device": "index.js", ...Object.fromEntries(names.map((name) => [name, `${name}.js`])) }, names);
await bundle({ "shoal-device.node": "node.js" }, []);
const built = new Set(["shoal-device", "shoal-device.node", ...names].map((name) => `${name}.js`));
for (const name of readdirSync(DIST)) if (name.endsWith(".js") && !built.has(name)) rmSync(path.join(DIST, name));
