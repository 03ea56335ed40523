// A report beside the record that it was drawn from, for the person whose record it is.
import { cellColor } from "/client/partitions.js";
import { decodePoints } from "/client/reportFormat.js";
import { boxOf, encodeRecord } from "/client/schema.js";
import { element, grid, number } from "/static/elements.js";

const SIDE = 64; // cells of a map along each side
const SIZE = 240;
const SVG = "http://www.w3.org/2000/svg";

const make = (tag, attributes, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

/** Draw or list a record and its report. */
export function besideRecord(campaign, record, report) {
  const { mechanism, report_format: format } = campaign;
  const points = decodePoints(format, report);
  const encoded = [...encodeRecord(mechanism, record)];
  const flat = !mechanism.parameters.schema && encoded.length === 2;
  if (mechanism.mechanism === "PartitionResponse") return colors(mechanism, format, encoded, points, flat);
  if (flat) return plane(mechanism, encoded, points);
  if (mechanism.parameters.schema) return element("p", { className: "hint" }, "Your record holds text, dates or gaps. These are encoded as numbers, and the report is a point in that encoding.");
  const names = mechanism.names ?? encoded.map((_, i) => `Number ${i + 1}`);
  return grid(["", "your record (stays)", "what leaves"], names.map((name, i) => [name, number(encoded[i], 5), number(points[i], 5)]), { caption: "Your record beside its report" });
}

function frame(label, ...children) {
  return make("svg", { viewBox: `-6 -6 ${SIZE + 12} ${SIZE + 12}`, role: "img", "aria-label": label, class: "sight" },
    make("rect", { width: SIZE, height: SIZE, class: "box" }), ...children);
}

const mine = (x, y) => make("circle", { cx: x, cy: y, r: 6, class: "mine" });

function plane(mechanism, encoded, points) {
  const { low, high } = boxOf(mechanism);
  // A report may lie outside the box: the picture shows both, the box shrinks if it must.
  const from = low.map((value, i) => Math.min(value, points[i]));
  const to = high.map((value, i) => Math.max(value, points[i]));
  const place = (point) => [((point[0] - from[0]) / (to[0] - from[0])) * SIZE, SIZE - ((point[1] - from[1]) / (to[1] - from[1])) * SIZE];
  const [x, y] = place(encoded);
  const [u, v] = place(points);
  const [left, bottom] = place(low);
  const [right, top] = place(high);
  return figure(frame("Your record as a ring, and its report as a square",
    make("rect", { x: left, y: top, width: right - left, height: bottom - top, class: "inner" }),
    make("line", { x1: x, y1: y, x2: u, y2: v, class: "way" }), mine(x, y), make("rect", { x: u - 5, y: v - 5, width: 10, height: 10, class: "leaves" })),
  "Ring: your record, which stays. Square: the report, which leaves. The dashed frame is the public box.");
}

function colors(mechanism, format, encoded, [map, color], flat) {
  const { partitions } = mechanism.parameters;
  const own = cellColor(partitions, encoded, map);
  const words = own === color ? "It happens to be your own record's color on this map." : `Your own record's color on this map is ${own}: the reported one is noise.`;
  if (!flat) return element("p", { className: "hint" }, `${words} Only you can tell.`);
  const { low, high } = boxOf(mechanism);
  const step = SIZE / SIDE;
  let path = "";
  for (let i = 0; i < SIDE; i++)
    for (let j = 0; j < SIDE; j++) {
      const at = [low[0] + ((i + 0.5) / SIDE) * (high[0] - low[0]), low[1] + ((j + 0.5) / SIDE) * (high[1] - low[1])];
      if (cellColor(partitions, at, map) === color) path += `M${i * step} ${SIZE - (j + 1) * step}h${step}v${step}h${-step}z`;
    }
  const [x, y] = encoded.map((value, i) => ((value - low[i]) / (high[i] - low[i])) * SIZE);
  return figure(frame("Your record as a ring, and the area that the report names", make("path", { d: path, class: "area" }), mine(x, SIZE - y)),
    `Ring: your record, which stays. Shaded: color ${color} on map ${map}, which is all that the report says. ${words} Only you can tell.`);
}

const figure = (drawn, words) => element("figure", {}, drawn, element("figcaption", { className: "hint" }, words));
