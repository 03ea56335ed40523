// The store of a device in Node: a folder in which every update is a file of its own, named by a number that counts up.
//
// An update is written whole under another name, is on the disk, and then gets the next number by a hard link, which
// fails where another process has taken that number: the change is then made again from what that one wrote. So there is
// no lock that a killed process could leave behind, and a process that is stopped at any point leaves the last whole
// update in force. Files of earlier updates are emptied and stay for a while, so that no number is given twice. A last
// file that is cut or changed is refused, never replaced: in a new one every value would be a new question.

import { fail } from "./errors.js";

/** @import { State } from "./state.js" */
/** @import { Change, Store } from "./stores.js" */

const KEPT = 256; // numbers of earlier updates, which must not be free

/** Keeps the state in a folder that only its owner may read; processes may share it. @implements {Store} */
export class FileStore {
  #folder;
  #fs = process.getBuiltinModule("node:fs");
  #crypto = process.getBuiltinModule("node:crypto");

  /** @param {string} folder made when something is first kept */
  constructor(folder) {
    this.#folder = folder;
  }

  async read() {
    return this.#newest().state;
  }

  /** @param {Change} change @returns {Promise<State>} */
  async update(change) {
    for (;;) {
      const { number, state } = this.#newest();
      const next = change(state);
      if (next === state || this.#write(number + 1, JSON.stringify(next))) return next;
    }
  }

  /** @returns {{number: number, state: State | undefined}} */
  #newest() {
    if (!this.#fs.existsSync(this.#folder)) return { number: 0, state: undefined };
    const number = this.#last();
    try {
      const [digest, plain = ""] = this.#fs.readFileSync(this.#path(number), "utf8").split("\n", 2);
      this.#sync(this.#folder); // whoever wrote it may have been stopped before
      if (digest === this.#digest(plain)) return { number, state: JSON.parse(plain) };
    } catch (failure) {
      if (/** @type {NodeJS.ErrnoException} */ (failure).code !== "ENOENT") throw failure;
    }
    if (this.#last() > number) return this.#newest(); // emptied meanwhile
    return fail(
      "parameter",
      `${this.#folder} is damaged or no store of a device: restore it, or choose another path, where each value is a new spend`,
    );
  }

  /**
   * Write an update; false where another process was faster.
   *
   * @param {number} number
   * @param {string} plain
   */
  #write(number, plain) {
    if (number === 1) return this.#start(plain);
    const fs = this.#fs;
    const folder = this.#folder;
    const part = `${folder}/.${this.#crypto.randomUUID()}`;
    const file = this.#newFile(part, plain);
    try {
      fs.linkSync(part, this.#path(number));
      this.#sync(folder);
      // Where a number was free only because others are far ahead, nobody built on this update and emptied it.
      if (this.#last() > number + KEPT / 2 && fs.fstatSync(file).size > 0) {
        fs.rmSync(this.#path(number), { force: true });
        return false;
      }
    } catch (failure) {
      fs.rmSync(part, { force: true });
      if (["EEXIST", "ENOENT"].includes(/** @type {NodeJS.ErrnoException} */ (failure).code ?? "")) return false;
      throw failure;
    } finally {
      fs.closeSync(file);
    }
    for (const name of fs.readdirSync(folder)) {
      const path = `${folder}/${name}`;
      if (Number(name) === number - 1) fs.writeFileSync(path, "");
      else if (!(Number(name) >= number - KEPT)) fs.rmSync(path, { force: true });
    }
    return true;
  }

  /** Make the folder, with the first update in it; false where another process was faster. @param {string} plain */
  #start(plain) {
    const fs = this.#fs;
    const folder = `${this.#folder}.${this.#crypto.randomUUID()}`;
    fs.mkdirSync(folder, { mode: 0o700 });
    try {
      fs.closeSync(this.#newFile(`${folder}/1`, plain)); // Windows renames no folder with an open file in it
      this.#sync(folder);
      fs.renameSync(folder, this.#folder); // fails where another store is there by now
      this.#sync(`${this.#folder}/..`);
    } catch (failure) {
      const made = !fs.existsSync(folder);
      fs.rmSync(folder, { recursive: true, force: true });
      if (made || !fs.existsSync(this.#folder)) throw failure;
      return false;
    }
    return true;
  }

  /** Write a new file, and return it open when its content is on the disk. @param {string} path @param {string} plain */
  #newFile(path, plain) {
    const file = this.#fs.openSync(path, "wx", 0o600);
    this.#fs.writeFileSync(file, `${this.#digest(plain)}\n${plain}`);
    this.#fs.fsyncSync(file);
    return file;
  }

  /** Return the number of the last update; -Infinity where there is none. */
  #last() {
    return Math.max(...this.#fs.readdirSync(this.#folder).map(Number).filter(Number.isInteger));
  }

  /** @param {number} number */
  #path(number) {
    return `${this.#folder}/${number}`;
  }

  /** @param {string} plain */
  #digest(plain) {
    return this.#crypto.createHash("sha256").update(plain).digest("hex");
  }

  /** Wait until the names in a folder are on the disk. @param {string} folder */
  #sync(folder) {
    if (process.platform === "win32") return; // opens no folder
    const opened = this.#fs.openSync(folder, "r");
    this.#fs.fsyncSync(opened);
    this.#fs.closeSync(opened);
  }
}
