// A link as a QR code (ISO/IEC 18004): bytes, error correction M, versions 1 to 20, which is up to 666 bytes.

// Of each version from 1 on: error correction bytes of a block, and number of blocks, at level M.
const CHECKS = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
const QUIET = 4; // empty modules around the code
const SVG = "http://www.w3.org/2000/svg";

/** Return the modules of a code, row by row: true is dark. */
export function qrModules(text) {
  const bytes = new TextEncoder().encode(text);
  let version = 1;
  while (version <= CHECKS.length && bytes.length + (version < 10 ? 2 : 3) > dataBytes(version)) version += 1;
  if (version > CHECKS.length) throw new RangeError("a QR code holds at most 666 bytes here");
  const stream = interleaved(version, padded(version, bytes));
  const candidates = Array.from({ length: 8 }, (_, mask) => drawn(version, stream, mask));
  const scores = candidates.map(penalty);
  return candidates[scores.indexOf(Math.min(...scores))];
}

/** Draw a code as an image with words for those who do not see it. */
export function qrCode(text, label) {
  const modules = qrModules(text);
  const side = modules.length + 2 * QUIET;
  const make = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const runs = modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")));
  const code = make("svg", { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": label, class: "qr", "shape-rendering": "crispEdges" });
  code.append(make("rect", { width: side, height: side, fill: "#ffffff" }), make("path", { d: runs.join(""), fill: "#000000" }));
  return code;
}

/** Modules that are free for data: all but the patterns and what they say of the version. */
function freeModules(version) {
  const aligned = Math.floor(version / 7) + 2;
  let free = (16 * version + 128) * version + 64;
  if (version > 1) free -= (25 * aligned - 10) * aligned - 55;
  return version > 6 ? free - 36 : free;
}

const dataBytes = (version) => Math.floor(freeModules(version) / 8) - CHECKS[version - 1] * BLOCKS[version - 1];

/** Mode, length, the bytes, and padding up to what the version holds. */
function padded(version, bytes) {
  const bits = [];
  const put = (value, count) => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, 8 * dataBytes(version) - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < 8 * dataBytes(version); pad ^= 0xec ^ 0x11) put(pad, 8);
  return Array.from({ length: bits.length / 8 }, (_, i) => bits.slice(8 * i, 8 * i + 8).reduce((byte, bit) => (byte << 1) | bit, 0));
}

/** Product in the field of 256 elements with the polynomial 0x11d. */
function product(a, b) {
  let found = 0;
  for (let bit = 7; bit >= 0; bit--) found = (found << 1) ^ ((found >>> 7) * 0x11d) ^ (((b >>> bit) & 1) * a);
  return found;
}

/** Reed-Solomon bytes of a block. */
function checkBytes(block, count) {
  const divisor = Array(count).fill(0);
  divisor[count - 1] = 1;
  for (let i = 0, root = 1; i < count; i++, root = product(root, 2))
    for (let j = 0; j < count; j++) divisor[j] = product(divisor[j], root) ^ (divisor[j + 1] ?? 0);
  const rest = Array(count).fill(0);
  for (const byte of block) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    divisor.forEach((one, i) => { rest[i] ^= product(one, factor); });
  }
  return rest;
}

/** Split into blocks, add the error correction of each, and take bytes from all in turn. */
function interleaved(version, data) {
  const [count, checks] = [BLOCKS[version - 1], CHECKS[version - 1]];
  const total = Math.floor(freeModules(version) / 8);
  const short = Math.floor(total / count) - checks;
  const blocks = [];
  for (let i = 0, at = 0; i < count; i++) {
    const length = short + (i >= count - (total % count) ? 1 : 0);
    blocks.push(data.slice(at, (at += length)));
  }
  const corrections = blocks.map((block) => checkBytes(block, checks));
  const inTurn = (parts, longest) => Array.from({ length: longest }, (_, i) => parts.map((part) => part[i])).flat().filter((byte) => byte !== undefined);
  return [...inTurn(blocks, short + 1), ...inTurn(corrections, checks)];
}

const MASKS = [
  (x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/** Draw patterns and data with a mask. */
function drawn(version, stream, mask) {
  const side = 17 + 4 * version;
  const modules = Array.from({ length: side }, () => Array(side).fill(false));
  const fixed = Array.from({ length: side }, () => Array(side).fill(false));
  const set = (x, y, dark) => {
    if (x < 0 || y < 0 || x >= side || y >= side) return;
    modules[y][x] = Boolean(dark);
    fixed[y][x] = true;
  };
  for (let i = 0; i < side; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [cx, cy] of [[3, 3], [side - 4, 3], [3, side - 4]])
    for (let dx = -4; dx <= 4; dx++)
      for (let dy = -4; dy <= 4; dy++) {
        const away = Math.max(Math.abs(dx), Math.abs(dy));
        set(cx + dx, cy + dy, away !== 2 && away !== 4);
      }
  const centers = alignmentCenters(version);
  const last = centers.length - 1;
  centers.forEach((cx, i) => centers.forEach((cy, j) => {
    if ((i === 0 && (j === 0 || j === last)) || (i === last && j === 0)) return;
    for (let dx = -2; dx <= 2; dx++) for (let dy = -2; dy <= 2; dy++) set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }));
  drawFormat(side, mask, set);
  if (version > 6) drawVersion(side, version, set);
  fill(side, stream, mask, modules, fixed);
  return modules;
}

function alignmentCenters(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((4 * version + 4) / (2 * count - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, i) => 4 * version + 10 - step * (count - 2 - i))];
}

/** Append the remainder of a division of polynomials over two elements. */
function coded(value, bits, divisor) {
  let rest = value;
  for (let i = 0; i < bits; i++) rest = (rest << 1) ^ ((rest >>> (bits - 1)) * divisor);
  return (value << bits) | rest;
}

function drawFormat(side, mask, set) {
  const bits = coded(mask, 10, 0x537) ^ 0x5412; // level M is 00
  const bit = (i) => (bits >>> i) & 1;
  for (let i = 0; i <= 5; i++) set(8, i, bit(i));
  set(8, 7, bit(6));
  set(8, 8, bit(7));
  set(7, 8, bit(8));
  for (let i = 9; i < 15; i++) set(14 - i, 8, bit(i));
  for (let i = 0; i < 8; i++) set(side - 1 - i, 8, bit(i));
  for (let i = 8; i < 15; i++) set(8, side - 15 + i, bit(i));
  set(8, side - 8, true);
}

function drawVersion(side, version, set) {
  const bits = coded(version, 12, 0x1f25);
  for (let i = 0; i < 18; i++) {
    const [a, b] = [side - 11 + (i % 3), Math.floor(i / 3)];
    set(a, b, (bits >>> i) & 1);
    set(b, a, (bits >>> i) & 1);
  }
}

/** Lay the bits in pairs of columns from the right, up and down in turn. */
function fill(side, stream, mask, modules, fixed) {
  let at = 0;
  for (let right = side - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < side; step++) {
      const y = ((right + 1) & 2) === 0 ? side - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (fixed[y][x]) continue;
        const bit = at < 8 * stream.length && (stream[at >>> 3] >>> (7 - (at & 7))) & 1;
        at += 1;
        modules[y][x] = Boolean(bit) !== (MASKS[mask](x, y) === 0);
      }
    }
  }
}

/** How hard a code is to read, by the rules of the standard. */
function penalty(modules) {
  const side = modules.length;
  const columns = modules.map((_, x) => modules.map((row) => row[x]));
  let sum = 0;
  for (const line of [...modules, ...columns]) {
    const text = line.map(Number).join("");
    for (const run of text.match(/0+|1+/g)) if (run.length >= 5) sum += run.length - 2;
    for (let x = 0; x + 11 <= side; x++) {
      const part = text.slice(x, x + 11);
      if (part === "10111010000" || part === "00001011101") sum += 40;
    }
  }
  for (let y = 0; y + 1 < side; y++)
    for (let x = 0; x + 1 < side; x++) {
      const same = modules[y][x];
      if (modules[y][x + 1] === same && modules[y + 1][x] === same && modules[y + 1][x + 1] === same) sum += 3;
    }
  const dark = modules.flat().filter(Boolean).length;
  return sum + 10 * Math.floor(Math.abs((20 * dark) / side ** 2 - 10));
}
