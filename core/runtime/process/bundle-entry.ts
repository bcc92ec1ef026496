import { loadBundle } from "./load-bundle.ts";

// What `apiserver.js` and its like are in a bundle.
loadBundle(import.meta.url);
