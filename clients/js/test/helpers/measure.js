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
  const [{ drawIndices }, { encodeIndices }, { encodeRecord }, { secureWords }] = await Promise.all(
    ["mechanisms.js", "reportFormat.js", "schema.js", "words.js"].map(load),
  );
  return cases.map(({ name, mechanism, format, record }) => {
    const start = performance.now();
    let first = 0;
    for (let i = 0; i < count; i += 1) {
      const encoded = encodeRecord(mechanism, record);
      encodeIndices(format, drawIndices(mechanism, format, encoded, secureWords));
      if (i === 0) first = performance.now() - start;
    }
    return { name, seconds: (performance.now() - start) / 1000, first: first / 1000 };
  });
}
