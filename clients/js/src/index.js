// What the package exports in browsers.

export { guaranteeOf, openCampaign } from "./campaign.js";
export { Device } from "./device.js";
export { ShoalError } from "./errors.js";
export { IndexedDbStore, MemoryStore } from "./stores.js";
