// Where a device keeps what it agreed to, what it spent and its reports: in a browser, or for tests in memory.
//
// A store has two methods. `read()` returns the state, or undefined where nothing was kept yet. `update(change)`
// replaces it by what the synchronous `change` makes of it, all or nothing, while nobody else changes it, and resolves
// after that is durable. Where `change` returns the very state that it was given, nothing is written. It may be called
// again where another process was faster; what it drew before is forgotten and was seen by nobody.

/** @import { State } from "./state.js" */

/**
 * @typedef {(state: State | undefined) => State} Change
 * @typedef {{read: () => Promise<State | undefined>, update: (change: Change) => Promise<State>}} Store
 */

/** Keeps the state for as long as the process runs: for tests only. @implements {Store} */
export class MemoryStore {
  /** @type {State | undefined} */
  #state;

  async read() {
    return this.#state;
  }

  /** @param {Change} change */
  async update(change) {
    return (this.#state = change(this.#state));
  }
}

/** Keeps the state in a database of the browser, shared by all tabs of its origin. @implements {Store} */
export class IndexedDbStore {
  #name;

  /** @param {string} [name] of the database; one device each */
  constructor(name = "shoal") {
    this.#name = name;
  }

  /** @returns {Promise<State | undefined>} */
  read() {
    return this.update((/** @type {any} */ state) => state, "readonly");
  }

  /**
   * Run one transaction; others that write wait for its end, in other tabs too.
   *
   * @param {Change} change
   * @param {IDBTransactionMode} [mode]
   * @returns {Promise<any>}
   */
  async update(change, mode = "readwrite") {
    const opening = indexedDB.open(this.#name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("device");
    const database = await new Promise((resolve, reject) => {
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction("device", mode, { durability: "strict" });
        const kept = transaction.objectStore("device");
        const asking = kept.get(0);
        /** @type {unknown} */
        let next;
        asking.onsuccess = () => {
          try {
            next = change(asking.result);
            if (next !== asking.result) kept.put(next, 0);
          } catch (refused) {
            reject(refused);
            transaction.abort();
          }
        };
        transaction.oncomplete = () => resolve(next);
        transaction.onabort = () => reject(transaction.error);
      });
    } finally {
      database.close();
    }
  }
}
