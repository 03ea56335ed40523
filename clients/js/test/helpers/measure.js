// How long reports take, in whatever runs this: the same code in Node and in a browser.

/**
 * Draw and encode reports by every mechanism, and time them.
 *
 * @param {string} folder Address of the client's modules, ending with a slash.
 * @param {{name: string, mechanism: any, format: any, record: any}[]} cases
 * @param {number} count
 * @returns {Promise<{name: string, seconds: number, first: number}[]>} In all, and of the first one.
 */
export async function measure(folder, cases, count) {
  /** @param {string} name */
  const load = (name) => import(folder + name);
  const [{ prepareReports }, { encodeIndices }, { secureWords }] = await Promise.all(
    ["mechanisms.js", "reportFormat.js", "words.js"].map(load),
  );
  const times = [];
  for (const { name, mechanism, format, record } of cases) {
    const start = performance.now();
    let first = 0;
    for (let i = 0; i < count; i += 1) {
      const { encode, draw } = await prepareReports(mechanism, format); // as a page does that sends one report
      encodeIndices(format, draw(encode(record), secureWords));
      if (i === 0) first = performance.now() - start;
    }
    times.push({ name, seconds: (performance.now() - start) / 1000, first: first / 1000 });
  }
  return times;
}
