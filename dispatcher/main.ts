import { begin } from "#core/runtime/process/begin.ts";

begin(import.meta.url); // before anything else is loaded
await import("./program.ts");
