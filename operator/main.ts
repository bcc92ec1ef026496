import { begin } from "#core/runtime/process/begin.ts";

begin(import.meta.url); // before anything else is loaded
void import("./program.ts"); // not awaited: a bundle is CommonJS, where nothing is awaited at this level
