// What the package exports in Node.

export { FileStore } from "./fileStore.js";
export * from "./index.js";
